#!/bin/bash
# odd.sh - processes that are not like others: their samples go where they belong, and nowhere else
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/newer.bash
need_root
make_root
odd=$B/tests/e2e/odd
[ -x "$odd" ] || { echo "$odd is missing"; exit 1; }
copy() { cp "$odd" "$root/bin/$1"; }
samples() { local n; n=$(listed "$1" samples); echo "${n:-0}"; }	# MODULE
counted() {		# COUNTER
	ctl --json status | sed -n "s/.*\"kind\": \"$1\", \"count\": \([0-9]*\).*/\1/p"
}
more() {		# BEFORE NOW: at least 30 samples, of some 100
	echo "$1, then $2"
	cat "$root/synced"
	awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { exit !(b >= a + 30) }'
}
same() { echo "$1, then $2"; [ "${1:-0}" = "${2:-0}" ]; }

# Runs it; the module's samples must have grown.
counts_for() {		# CLAIM MODULE COMMAND...
	local claim=$1 module=$2 before now
	shift 2
	before=$(samples "$module")
	"$@" || { not_ok "$claim"; note "$* ended with $?"; return; }
	taken_in
	now=$(samples "$module")
	check "$claim" more "$before" "$now"
}
check_here "a daemon" start_daemon

copy plain
counts_for "a plain process" plain "$root/bin/plain" burn
counts_for "a child that does not exec" plain "$root/bin/plain" fork
copy second
counts_for "a program that a thread executes" second "$root/bin/plain" threadexec "$root/bin/second"
counts_for "a thread that outlives the first one" plain "$root/bin/plain" leaderexit
counts_for "code that is mapped again" plain "$root/bin/plain" remap
check "the mapping beside it is no module of its own" test "$(ctl --json list | grep -c bin/plain)" = 1

# Code of no file, and of no file that could be laid out anew.
before=$(counted anonymous) modules=$(ctl --json list | grep -c '"path"')
"$root/bin/plain" jit
taken_in
check "code made at run time is told apart" more "$before" "$(counted anonymous)"
made() { ctl --json report --limit=1000 2>/dev/null | sed -n "s|.*made at run time by $root/bin/plain.\", \"samples\": \([0-9]*\).*|\1|p"; }
made=$(made)
check "by the name of the program that made it" more 0 "$made"
before=$(counted no_mapping)
"$root/bin/plain" moved
taken_in
check "a place where nothing is known to be mapped is not that" more "$before" "$(counted no_mapping)"
after=$(made)			# others on the machine may make code, too
check "but told apart" [ "${after:-0}" -gt 0 -a "${after:-0}" -le "$made" ]
check "in the report, too" test "$(ctl --json report --limit=1000 2>/dev/null | grep -c 'no known mapping')" = 1
before=$(counted unknown)
"$root/bin/plain" memfd "$root/bin/plain"
taken_in
check "a program executed from memory is in no file that is known" more "$before" "$(counted unknown)"
check "neither is a module" test "$(ctl --json list | grep -c '"path"')" = "$modules"

# Deleted while it runs: known before, or never seen.
deleted() {		# PROGRAM: as soon as it runs
	"$root/bin/$1" burn &
	until [ "/proc/$!/exe" -ef "$root/bin/$1" ]; do kill -0 $! || return 1; done
	rm "$root/bin/$1"
	wait $!
}
counts_for "a program that is deleted while it runs" second deleted second
copy third
before=$(counted unknown)
deleted third
taken_in
check "one that was never seen is unknown" more "$before" "$(counted unknown)"

# Another root: the same file by another path is the module, another file is not.
mkdir -p "$root/jail/bin" "$root/jail/lib" "$root/jail/lib64"
in_jail() { cp -L $(ldd "$odd" | grep -o '/[^ ]*') "$root/jail/lib" && cp -L /lib64/ld-linux-x86-64.so.2 "$root/jail/lib64"; }
in_jail 2>/dev/null
ln "$root/bin/plain" "$root/jail/bin/plain"
counts_for "a file of two names in another root" plain env LD_LIBRARY_PATH=/lib "$odd" chroot "$root/jail" /bin/plain
mkdir -p "$root/jail$root/bin"
newer "$odd" "$root/jail$root/bin/plain" 7
before=$(samples plain)
env LD_LIBRARY_PATH=/lib "$odd" chroot "$root/jail" "$root/bin/plain"
taken_in
check "another file of the same path in another root is not the module" same "$before" "$(samples plain)"

# Containers: mount and pid namespaces where another file system covers the folder.
newer "$odd" "$root/other" 8
cp "$root/other" "$root/bin/other"
covered() {		# CLAIM ARGUMENT...
	local claim=$1 before rc
	shift
	before=$(samples plain)
	"$odd" covered "$@" "$root/other" "$root/bin/plain"
	rc=$?
	[ $rc = 77 ] && { skip "$claim" "namespaces are not to be had here"; return; }
	[ $rc = 0 ] || { skip "$claim" "$1 cannot be mounted here"; return; }
	taken_in
	check "$claim" same "$before" "$(samples plain)"
}
covered "another file at the same path of a container, tmpfs" tmpfs "$root/bin"
mkdir "$root/upper" "$root/workdir"
covered "another file at the same path of a container, overlay" overlay "$root/bin" "$root/bin" "$root/upper" "$root/workdir"

# The same inode number and the same path on another device: both file systems begin to count anew.
if mkdir "$root/tmp1" && mount -t tmpfs -o mode=755 tmpfs "$root/tmp1" 2>/dev/null; then
	umount "$root/tmp1"
	cp "$root/bin/plain" "$root/plain"
	mount -t tmpfs -o mode=755 tmpfs "$root/bin"
	cp "$root/plain" "$root/bin/plain"
	counts_for "a module on a tmpfs" plain "$root/bin/plain" burn
	covered "another file of the same path and inode number" tmpfs "$root/bin"
	umount "$root/bin"
else
	skip "another file of the same path and inode number" "tmpfs cannot be mounted here"
fi

# Many mappings: up to 4,096 of a process are known; 100,000 are more than the kernel's own limit, too.
copy many
before=$(samples many)
"$root/bin/many" maps 3000
taken_in
check "a process with 3,000 mappings" more "$before" "$(samples many)"
limit=$(cat /proc/sys/vm/max_map_count)
if [ "$limit" -lt 110000 ]; then
	echo 262144 >/proc/sys/vm/max_map_count 2>/dev/null
fi
before=$(counted mappings_over)
"$root/bin/many" maps 100000
rc=$?
echo "$limit" >/proc/sys/vm/max_map_count 2>/dev/null
taken_in
if [ $rc = 77 ]; then
	skip "a process with 100,000 mappings" "vm.max_map_count is $limit"
else
	check "of a process with 100,000 mappings it is counted what is over" more "$before" "$(counted mappings_over)"
	rss=$(awk '/^Rss:/ { print $2 }' "/proc/$(role_pid manager)/smaps_rollup")
	check "does not make the manager large ($rss KiB)" test "$rss" -lt 65536
fi

# One user's 24 processes with 4,000 executable ones each, which sleep: more than a user may have.
before=$(counted mappings_over)
sleepers=()
for _ in $(seq 24); do
	setpriv --reuid 64021 --regid 64021 --clear-groups "$root/bin/many" sleeper 8000 &
	sleepers+=($!)
done
asleep() { for p in "${sleepers[@]}"; do grep -q '^State:.S' "/proc/$p/status" || return 1; done; }
check "24 processes of one user with 96,000 executable mappings sleep" within 60 asleep
taken_in
check "what is over is counted" more "$before" "$(counted mappings_over)"
check "the manager does not grow by it" test "$(awk '/^Rss:/ { print $2 }' "/proc/$(role_pid manager)/smaps_rollup")" -lt 65536
before=$(samples many)
"$root/bin/many" maps 10
taken_in
check "and others are known beside them" more "$before" "$(samples many)"
kill "${sleepers[@]}"
wait "${sleepers[@]}" 2>/dev/null

# Short lives: 2 ms each, as many as the machine can start in some seconds.
copy brief
before=$(samples brief) unknown=$(counted no_process) lost=$(counted lost)
check "processes that live 2 ms are counted" sampled brief $((${before%.*} + 300)) "$root/bin/brief" short 1500 2
now=$(samples brief)
none=$(($(counted no_process) - unknown + $(counted lost) - lost))
check "of $now samples, of no known process or lost: $none; under 0.5 %" test $((none * 200)) -le "${now%.*}"
check_here "and ends" stop_daemon
done_testing
