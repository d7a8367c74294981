#!/bin/bash
# trust.sh - what the parts of a running daemon may do: each is made to try (inject.c)
#
# The same tries by a process of the same user outside the daemon end otherwise, or the confinement
# would not be what forbids them.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
[ -x "$B/tests/e2e/inject" ] || { echo "$B/tests/e2e/inject is missing"; exit 1; }
make_root gzip
echo secret >"$root/readable"
mkdir -m 777 "$root/open"
chown nobody "$root/open"
check_here "the daemon starts" start_daemon
parent=$(role_pid parent) manager=$(role_pid manager) monitor=$(role_pid monitor)
setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups sleep 1000 &
looper=$!
check "one outside, of the same user" within 30 eval '[ "$(cat "/proc/$looper/comm")" = sleep ]'
[ -n "$monitor" ] || skip "what the monitor may do" "it does not run here"

try() { "$B/tests/e2e/inject" "$@"; }
ends() {		# EXPECTED PID CALL...
	local expected=$1 got
	shift
	got=$(try "$@" 2>&1)
	[ "$got" = "$expected" ] || { echo "$got, not $expected: $*"; return 1; }
}
differs() {		# UNEXPECTED PID CALL...
	local unexpected=$1 got
	shift
	got=$(try "$@" 2>&1)
	[ "$got" != "$unexpected" ] && [[ "$got" != inject* ]] || { echo "$got: $*"; return 1; }
}

# A number for what the kernel has no name for here: AT_FDCWD -100, O_CREAT 0100, O_DIRECTORY 0200000.
both() {		# NAME EXPECTED CALL...: forbidden to both parts, not outside
	local name=$1 expected=$2
	shift 2
	if [ "$expected" = EACCES ] && grep -q "no Landlock" "$root/log"; then
		skip "$name" "this kernel has no Landlock"
		return
	fi
	check "manager: $name" ends "$expected" "$manager" "$@"
	[ -n "$monitor" ] && check "monitor: $name" ends "$expected" "$monitor" "$@"
	check "outside it is possible: $name" differs "$expected" "$looper" "$@"
}

check "a try is understood" ends ok "$looper" getpid
check "a try outside can fail too" ends ENOENT "$looper" openat -100 =/no/such 0
both "no file that everybody may read" EACCES openat -100 "=$root/readable" 0
both "no library" EACCES openat -100 =/usr/lib/os-release 0
both "no program" EACCES openat -100 "=$root/bin/gzip" 0
both "no folder" EACCES openat -100 "=$root/open" 0200000
both "no new file where everybody may write" EACCES openat -100 "=$root/open/new" 0101 0600
both "no new folder there" EACCES mkdir "=$root/open/folder" 0700
both "no link to a file" EPERM symlink =/etc/passwd "=$root/open/link"
both "no change of a mode" EPERM chmod "=$root/open" 0777
both "nothing is executed" EPERM execve =/no/such 0 0
both "no processes" EPERM clone 0x800		# CLONE_SIGHAND alone: EINVAL where it may be tried
both "no threads" EPERM clone3 0 0
both "no signals to others" EPERM kill "$looper" 0
# F_SETOWN, F_SETOWN_EX, F_SETSIG (one that is ignored), F_NOTIFY, and F_SETFL with O_ASYNC: what happens at a
# file sends any signal to anybody of the same user
for try in "8 $looper" "15 0" "10 23" "1026 1" "4 020000"; do
	both "no signals by a descriptor: fcntl $try" EPERM fcntl 1 $try
done
both "no tracing" EPERM ptrace 999 -1
both "no look into others" EPERM process_vm_readv "$looper" 0 0 0 0 0
both "no network" EPERM socket 2 2 0
both "no talk to the kernel" EPERM socket 16 3 0
both "no code in memory" EPERM mmap 0 4096 5 0x22 -1 0
both "no namespaces" EPERM unshare 0x400
both "no ring of requests" EPERM io_uring_setup 0 0
both "no samplers" EPERM perf_event_open 0 0 -1 -1 0
both "no programs in the kernel" EPERM bpf 0 0 0
both "no core files again" EPERM prctl 4 1		# PR_SET_DUMPABLE
both "no keys" EPERM keyctl 0 0
both "no timers in the kernel's memory" EPERM userfaultfd -1
for own in originals ledger live livebook; do
	check "manager: root's $own is not its own" ends EACCES "$manager" \
		openat -100 "=$root/store/$own" 0200000
	check "manager: nor is another in its place" differs ok "$manager" \
		rename "=$root/store/$own" "=$root/store/$own.old"
done
check "manager: who may log in is not" ends EACCES "$manager" openat -100 =/etc/shadow 0
check "manager: its store is" ends ok "$manager" openat -100 "=$root/store/morph.db" 2
check "manager: local sockets" ends ok "$manager" socket 1 1 0
check "manager: what the kernel says of the machine" ends ok "$manager" openat -100 =/proc/loadavg 0
# The manager has one on each spool file for a moment, and the monitor may open the file meanwhile.
a_lease_is_broken() {
	local fd file=$root/store/spool/held
	touch "$file" && chown nobody "$file"
	ends ok "$manager" openat -100 "=$file" 0 || return 1
	fd=$(find "/proc/$manager/fd" -lname "$file" -printf '%f\n')
	ends ok "$manager" fcntl "$fd" 1024 0 || return 1	# F_SETLEASE, F_RDLCK
	not dd of="$file" oflag=nonblock conv=notrunc count=0 </dev/null || return 1
	ends ok "$manager" fcntl "$fd" 1024 2 && ends ok "$manager" close "$fd" && rm "$file"
}
check "manager: who breaks its lease does not end it" a_lease_is_broken
if [ -n "$monitor" ]; then
	grep -q "no Landlock" "$root/log" ||
		check "monitor: not the store" ends EACCES "$monitor" \
			openat -100 "=$root/store/morph.db" 2
	check "monitor: its spool" ends ok "$monitor" openat -100 "=$root/store/spool" 0200000
	check "monitor: no sockets at all" ends EPERM "$monitor" socket 1 1 0
	check "monitor: its spool's folder stays" differs ok "$monitor" \
		rename "=$root/store/spool" "=$root/store/other"
	# PERF_EVENT_IOC_PERIOD, _SET_FILTER, _SET_BPF, _MODIFY_ATTRIBUTES; FIOASYNC
	for request in 0x40082404 0x40082406 0x40042408 0x4008240b 0x5452; do
		check "monitor: its samplers stay as they are: $request" ends EPERM "$monitor" ioctl 1 $request 0
	done
fi
fields() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; }
for role in manager ${monitor:+monitor}; do
	check "$role: another user for good" [ "$(fields "${!role}" Uid)" = \
		"$(printf '%s\t%s\t%s\t%s' $(for _ in 1 2 3 4; do id -u nobody; done))" ]
	check "$role: no capabilities" [ "$(fields "${!role}" CapPrm)" = 0000000000000000 ]
	check "$role: no new privileges" [ "$(fields "${!role}" NoNewPrivs)" = 1 ]
done
check "the parent is root" [ "$(fields "$parent" Uid | cut -f1)" = 0 ]
check "all go on as before" [ "$(role_pid manager) $(role_pid monitor)" = "$manager $monitor" ]
check_here "the daemon ends with code 0" stop_daemon
kill "$looper"
looper=
done_testing
