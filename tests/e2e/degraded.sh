#!/bin/bash
# degraded.sh - what the daemon does when something of its own is missing: the database is damaged, at start and
# while it runs; the policy is wrong; the disk is full; somebody puts the original back without it.  It says so,
# loses no original, and goes on with the rest.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root sort gzip
work() {		# PROGRAM
	case $1 in
	gzip) "$root/bin/gzip" -9 -n -c <"$root/data" >/dev/null ;;
	sort) LC_ALL=C "$root/bin/sort" "$root/data" >/dev/null ;;
	esac
}
seq 200000 | shuf >"$root/data"
policy() {		# LINE-OF-optimize...: idle whatever the machine does
	always_idle "${check_s:-3600}" >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		optimize:
		  min_samples: 20
		  max_unseen_pct: 100
	END
	printf '  %s\n' "$@" >>"$root/morph.yaml"
}
in_status() { ctl status | grep -qE "$1" || { ctl status; return 1; }; }
in_log() { grep -qE "$1" "$root/log" || { tail -n 20 "$root/log"; return 1; }; }
in_history() {		# PROGRAM TEXT
	ctl history "$root/bin/$1" | grep -qE "$2" || { ctl history "$root/bin/$1"; return 1; }
}
is_original() { cmp "$root/orig/$1" "$root/bin/$1"; }
is_generation() { "$B/morph-verify" "$root/orig/$1" "$root/bin/$1"; }
generation() { [ "$(listed "$1" generation)" = "$2" ] || { ctl list; return 1; }; }
runs() { work "$1" && taken_in && [ -n "$(listed "$1" samples)" ]; }	# until it is known

policy
check_here "a daemon" start_daemon
for p in sort gzip; do
	check "$p has samples" sampled $p 100 work $p
	check "$p is laid out anew" ctl reoptimize "$root/bin/$p"
done
check_here "the daemon ends" stop_daemon

# --- a damaged database ---

database_of() { as_manager dd if=/dev/urandom of="$root/store/morph.db" bs=4096 seek="$1" count="$2" conv=notrunc 2>/dev/null; }
rm -f "$root"/store/morph.db-*
head -c 300000 /dev/urandom | as_manager tee "$root/store/morph.db" >/dev/null
sum=$(sha "$root/store/morph.db")
check_here "a damaged database is no reason not to start" start_daemon
check "it is kept under another name" test "$(sha "$root/store/morph.db.damaged-1")" = "$sum"
check "that is said" in_log "kept as '$root/store/morph.db.damaged-1', and a new one begun"
check "and in the history" grep -q "damaged .*begun anew" <<<"$(ctl history)"
check "nothing happened to the programs" eval "is_generation sort && is_generation gzip"
check "sort runs" within 60 runs sort
check "it is known as the generation that it is" generation sort 1
check "the history tells that it was found" in_history sort "found .*of which the store had no record"
check "its samples are counted" sampled sort 50 work sort
check "it is proven anew" ctl verify "$root/bin/sort"
check "it is laid out anew, from its original" ctl reoptimize "$root/bin/sort"
check "as the next one" generation sort 2
check "proven" is_generation sort
check "restore" ctl restore "$root/bin/sort"
check "the original is back" is_original sort
check "gzip runs" within 60 runs gzip
check "it is restored too" ctl restore --all
check "the original is back" is_original gzip
check "sort is laid out once more" eval 'sampled sort 100 work sort && ctl reoptimize "$root/bin/sort"'

# While it runs: the next start of the manager, for whatever reason, is after that.
manager=$(role_pid manager)
rm -f "$root"/store/morph.db-*
database_of 0 60
kill -9 "$manager"
check "damage is found when the manager starts anew" within 60 [ -e "$root/store/morph.db.damaged-2" ]
check "it answers" within 60 eval 'ctl status >/dev/null 2>&1 && [ "$(role_pid manager)" != "$manager" ]'
check "sort runs on" within 60 runs sort
check "it still is known" generation sort 3
check "restore" ctl restore "$root/bin/sort"
check "the original is back" is_original sort

# In use, without a new start: a database that is larger than what SQLite keeps of it in memory.
if command -v sqlite3 >/dev/null; then
	check_here "the daemon ends" stop_daemon
	as_manager sqlite3 "$root/store/morph.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO history(time_ns, path, event, detail) SELECT i, '/' || hex(randomblob(1900)), 'e', 'd' FROM n"
	check_here "a daemon with a long history" start_daemon
	check "sort is laid out anew" eval 'sampled sort 100 work sort && ctl reoptimize "$root/bin/sort"'
	manager=$(role_pid manager)
	database_of 300 9000
	ctl history >"$root/out" 2>&1
	check "damage is found in use ($?)" within 20 [ -e "$root/store/morph.db.damaged-3" ]
	check "that is said" in_log "^morphd.manager.: the database is damaged"
	check "the next manager begins anew" within 60 eval 'ctl status >/dev/null 2>&1 && [ "$(role_pid manager)" != "$manager" ]'
	check "sort runs on, and is known" eval 'within 60 runs sort && [ "$(listed sort generation)" -gt 0 ]'
	check "restore" ctl restore "$root/bin/sort"
	check "the original is back" is_original sort
else
	skip "damage in use" "no sqlite3"
fi

# --- a wrong policy ---

check_here "the daemon ends" stop_daemon
good=$(cat "$root/morph.yaml")
echo "  min_sampels: 5" >>"$root/morph.yaml"
: >"$root/log"
check_here "a wrong line is no reason not to start" start_daemon
check "the last good policy is in force, which is said" in_log "WRONG POLICY: .*morph.yaml.*min_sampels.*the last good one is in force"
check "also in the status" in_status "^WRONG POLICY .*min_sampels"
check "it is the one before" grep -q "min_samples *20" <<<"$(ctl policy show)"
check "nothing is read anew" not ctl policy reload
check "programs are laid out" eval 'sampled sort 100 work sort && ctl reoptimize "$root/bin/sort"'
echo "$good" >"$root/morph.yaml"
check "mended, it is read" ctl policy reload
check "and the status is silent" not in_status "WRONG POLICY"
check_here "the daemon ends" stop_daemon
rm "$root/morph.yaml"
check_here "no policy at all" start_daemon
check "the last good one is in force" in_status "^WRONG POLICY .*No such file"
check_here "the daemon ends" stop_daemon
rm "$root/store/policy.good"
timeout 20 "$B/morphd" --policy "$root/morph.yaml" --store "$root/store" --socket "$root/sock" --user nobody \
	--job-user daemon --morph-edit "$B/morph-edit" --foreground >"$root/out" 2>&1
check "without one there is nothing to go by ($?)" grep -q "morph.yaml" "$root/out"
policy

# --- somebody puts the original back ---

policy "automatic: false" "observe_first_h: 0" "cool_down_h: 0"
check_here "a daemon" start_daemon
check "sort is laid out anew" eval 'is_generation sort || { sampled sort 100 work sort && ctl reoptimize "$root/bin/sort"; }'
before=$(listed sort samples)
cp -p "$root/orig/sort" "$root/bin/.new" && mv "$root/bin/.new" "$root/bin/sort"	# as apt-get install --reinstall
check "the daemon sees it" within 20 generation sort 0
check "it is an event" in_history sort "put back .*original is at its path again; generation [0-9]* is not"
check "what is known of its use stays" test "${before%.*}" -le "$(listed sort samples | cut -d. -f1)"
check_s=1
policy "automatic: true" "observe_first_h: 0" "cool_down_h: 0"
check_here "the daemon ends" stop_daemon
check_here "a daemon that works by itself" start_daemon
again() {		# N: generation N comes by itself
	local i
	for i in $(seq 100); do
		work sort
		hasten
		[ "$(listed sort generation)" -ge "$1" ] 2>/dev/null && return 0
		sleep 0.3
	done
	ctl list
	return 1
}
n=$(ctl history "$root/bin/sort" | grep -c ' installed ')
check "the generation is made again" again $((n + 1))
check "because it is not there any more" grep -q "not at its path any more" "$root/log"
check "restore by hand" ctl restore "$root/bin/sort"
check "after which it is made again as well" again $((n + 2))
check_here "the daemon ends" stop_daemon
cp "$root/orig/sort" "$root/bin/sort"

# --- a full disk ---

# One file system for all: originals take the place of generations where there is no room for copies.
outer=$root
root=$outer/disk
check_s=3600
mkdir "$root"
leave_disk() {
	[ "$root" = "$outer" ] && return
	[ -n "${daemon:-}" ] && kill -9 "$daemon"
	wait
	umount -l "$root"
	root=$outer
}
trap 'leave_disk; cleanup' EXIT
if mount -t tmpfs -o size=24m,mode=755 tmpfs "$root" 2>/dev/null; then
	mkdir "$root/store" "$root/bin"
	ln -s "$outer/orig" "$outer/data" "$root"
	policy
	cp -p "$root/orig/sort" "$root/orig/gzip" "$root/bin"
	ln -s "$outer/log" "$outer/here" "$root"
	check_here "a daemon on a disk of its own" start_daemon
	check "there is room, which is nothing to tell" not in_status "NO ROOM"
	for p in sort gzip; do
		check "$p is laid out anew" eval 'sampled $p 100 work $p && ctl reoptimize "$root/bin/$p"'
	done
	full() { head -c 1G /dev/zero >"$root/ballast" 2>/dev/null; }
	full
	: >"$root/log"
	check "a full disk is in the status" in_status "^NO ROOM .*samples are lost"
	check "and in the log, once" eval 'in_status "NO ROOM" && [ "$(grep -c "NO ROOM" "$root/log")" = 1 ]'
	for i in 1 2 3; do work sort; ctl status --sync >/dev/null 2>&1; done
	full
	check "the daemon lives" in_status "^sampling *on"
	check "nothing is laid out anew" not ctl reoptimize "$root/bin/gzip"
	check "gzip is what it was" is_generation gzip
	full
	check "restore" ctl restore "$root/bin/sort"
	check "the original is back" is_original sort
	full
	check "restore --all" ctl restore --all
	check "all originals are back" is_original gzip
	rm "$root/ballast"
	check "room again is seen" not in_status "NO ROOM"
	check "and said" in_log "there is room again"
	check "samples are counted again" sampled sort 100 work sort
	check "and programs laid out" eval 'within 20 generation sort 0; ctl reoptimize "$root/bin/sort"'
	check "proven" is_generation sort
	check "nothing is left beside" test "$(ls -A "$root/bin" | wc -l)" = 2
	check_here "the daemon ends" stop_daemon
else
	skip "a full disk" "nothing can be mounted here"
fi
done_testing
