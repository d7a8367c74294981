#!/bin/bash
# daemon_kill.sh - kill -9 of every role at random moments of reoptimize and restore
#
# After each kill the program must run under both its names and be the original or a proven
# generation, at every moment in between too; the daemon must work again, and both names be one file.  SEED (printed) repeats a run as far
# as timing does; ROUNDS (6) is per role.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
ln "$root/bin/gzip" "$root/bin/gzip-too"
ln "$root/orig/gzip" "$root/orig/gzip-too"
rounds=${ROUNDS:-6}
RANDOM=${SEED:=$$}
note "seed $SEED"

head -c 3000000 /dev/zero | tr '\0' 'x' >"$root/data"
seq 1 400000 >>"$root/data"
want=$("$root/orig/gzip" -9 -n -c <"$root/data" | sha256sum)

# Runs the program without pause; what goes wrong is kept.
run_always() {
	local name=gzip
	while :; do
		[ $name = gzip ] && name=gzip-too || name=gzip
		"$root/bin/$name" -n -c </etc/passwd >"$root/loop.out" 2>"$root/loop.err" &&
			cmp -s "$root/loop.out" "$root/loop.want" ||
			{ echo "exit code $?"; cat "$root/loop.err"; } >>"$root/broken"
	done
}
"$root/orig/gzip" -n -c </etc/passwd >"$root/loop.want"

check_here "the daemon starts" start_daemon
for i in 1 2 3 4; do "$root/bin/gzip" -9 -n -c <"$root/data" >/dev/null; done
check "the module has samples" ctl report gzip
check "it can be reoptimized" ctl reoptimize "$root/bin/gzip"
check "and restored" ctl restore "$root/bin/gzip"
run_always 2>/dev/null &
looper=$!

still_right() {
	whole gzip && whole gzip-too || return 1
	[ "$("$root/bin/gzip-too" -9 -n -c <"$root/data" | sha256sum)" = "$want" ] ||
		{ echo "other output"; return 1; }
}
answers() {		# within 20 s, however late the roles come back
	local i
	for i in $(seq 200); do
		[ -n "$(role_pid manager)" ] && [ -n "$(role_pid monitor)" ] && return 0
		sleep 0.1
	done
	return 1
}

# The store says what is at the path.  The parent may still be swapping, so within 10 s.
agrees() {
	local i
	for i in $(seq 100); do
		state=generation
		same_file "$root/bin/gzip" "$root/orig/gzip" && state=original
		[ "$root/bin/gzip" -ef "$root/bin/gzip-too" ] || state=two
		case $state:$(listed gzip generation) in
		original:0 | generation:[1-9]*) return 0 ;;
		esac
		sleep 0.1
	done
	return 1
}

bad=0 swapped=0 undone=0
one_round() {		# ROLE
	local pid what=reoptimize
	[ "$(listed gzip generation)" = 0 ] || what=restore
	pid=$(role_pid "$1")
	[ "$1" = parent ] && pid=$daemon
	ctl "$what" "$root/bin/gzip" >/dev/null 2>&1 &
	local request=$!
	sleep "0.$(printf %03d $((RANDOM % 220)))"
	kill -9 "$pid"
	wait "$request"
	if [ "$1" = parent ]; then
		wait "$daemon" 2>/dev/null
		daemon=
		still_right || return 1
		start_daemon || return 1
	fi
	still_right || return 1
	answers || { echo "the $1 does not come back"; return 1; }
	agrees || { echo "the store is wrong"; return 1; }
	[ "$state" = original ] && undone=$((undone + 1)) || swapped=$((swapped + 1))
}
for role in manager monitor parent; do
	bad=0
	for i in $(seq "$rounds"); do
		one_round $role >"$root/round" 2>&1 ||
			{ bad=$((bad + 1)); note "round $i: $(tail -n 5 "$root/round")"; }
	done
	check "$rounds kills of the $role leave a right program and a working daemon" [ $bad = 0 ]
done
note "ended with the original $undone times, with a generation $swapped times"

# The one moment that chance seldom finds: the swap is done, but the manager dies before it hears.
# 0: met, because the path still held the original when the manager had been stopped, and changed
# after that; 1: missed.
killed_unaware() {
	local i manager request met=1
	manager=$(role_pid manager)
	ctl reoptimize "$root/bin/gzip" >/dev/null 2>&1 &
	request=$!
	while kill -0 $request 2>/dev/null; do
		finds_job verify || continue
		kill -STOP "$manager"
		same_file "$root/bin/gzip" "$root/orig/gzip" || break
		for i in $(seq 100); do
			same_file "$root/bin/gzip" "$root/orig/gzip" || { met=0; break; }
			sleep 0.05
		done
		break
	done
	kill -9 "$manager"
	wait "$request"
	answers
	return $met
}
finished() { ctl history "$root/bin/gzip" 2>&1 | grep -c 'installed .*install was interrupted; it was finished'; }
found_anew() {		# the manager that comes back finds it; within 10 s
	local i
	for i in $(seq 100); do
		[ "$(finished)" -gt "$before" ] && return 0
		sleep 0.1
	done
	return 1
}
before=$(finished)		# chance may have found it above
met=no
for i in 1 2 3 4 5; do		# each death of the manager makes its next start wait longer
	ctl restore "$root/bin/gzip" >/dev/null 2>&1
	same_file "$root/bin/gzip" "$root/orig/gzip" || continue
	killed_unaware && { met=yes; break; }
done
if [ $met = yes ]; then
	check "a manager killed before it heard of its swap finds it afterwards" found_anew
else
	skip "a manager killed before it heard of its swap finds it afterwards" "the moment was missed 5 times"
	ctl reoptimize "$root/bin/gzip" >/dev/null 2>&1
fi
check "and its store is right" grep -qE '^[1-9]' <<<"$(listed gzip generation)"
check "proven" whole gzip

# A clean end is possible after all of it.
check "it can still be reoptimized" ctl reoptimize "$root/bin/gzip"
check "proven" ctl verify "$root/bin/gzip"
check "restored" ctl restore "$root/bin/gzip"
check "byte for byte" same_file "$root/bin/gzip" "$root/orig/gzip"
kill "$looper"
wait "$looper" 2>/dev/null
looper=
check "the program ran at every moment" [ ! -s "$root/broken" ]
[ -s "$root/broken" ] && note "$(head -n 5 "$root/broken")"
check "no temporary file is left beside it" [ "$(ls -A "$root/bin" | tr "\n" " ")" = "gzip gzip-too " ]
check "both names are one file" [ "$root/bin/gzip" -ef "$root/bin/gzip-too" ]
check_here "the daemon ends with code 0" stop_daemon

# A parent that was killed while it started a job leaves its lock to that child for a moment.
hold_store() { flock "$root/store/originals" sleep "$1" & holder=$!; sleep 0.2; }
hold_store 1.5
check_here "one that has to wait for the lock of the last one starts" start_daemon
check_here "and ends with code 0" stop_daemon
wait "$holder"
hold_store 30
refused() {
	! "$B/morphd" --policy "$root/morph.yaml" --store "$root/store" --socket "$root/sock" --folders "$root" \
		--user nobody --job-user daemon --morph-edit "$B/morph-edit" --foreground 2>"$root/refused" &&
		grep -q "another morphd uses this store" "$root/refused"
}
check "a second one on the same store is refused" refused
kill "$holder"
note "$(grep -cE 'finished|undone|overtaken' "$root/log") recoveries logged"
done_testing
