#!/bin/bash
# saved.sh - CPU time that generations have saved and lost is what the programs' own times say, within its interval;
# what is not measured is told apart, and what Morph takes is told
#
# Two programs work four times as long in their own code, one with its original and one with its generation.
#
# run.sh: timed
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
for p in fast slow; do
	cp "$B/tests/e2e/slow_if_changed" "$root/bin/$p"
done
size=$(stat -c %s "$root/bin/fast")
cat >>"$root/morph.yaml" <<-END
	  observe_s: 1
	monitor:
	  clock: cpu-clock
	  rate_hz: 3001	# so that little work is enough
	  registers: off
END
seq 50000 >"$root/numbers"
ticks() {		# user time of this shell's children that have ended, in ms, to $ticks
	local user
	times >"$root/times"
	user=$(sed -nE '2s/^([0-9]+)m([0-9]+)\.([0-9]+)s.*/\1 \2 \3/p' "$root/times")
	set -- $user
	ticks=$((10#$1 * 60000 + 10#$2 * 1000 + 10#$3))
}
fast_ms=0
observe() {		# jobs for a while, one observation of each program
	local i begun end=$(($(date +%s%N) + 1200000000))
	for i in 1 2 3; do
		ticks
		begun=$ticks
		"$root/bin/fast" "$size" 6 faster >/dev/null
		ticks
		fast_ms=$((fast_ms + ticks - begun))
		"$root/bin/slow" "$size" 6 >/dev/null
		"$root/bin/gzip" -c "$root/numbers" >/dev/null
	done
	while [ "$(date +%s%N)" -lt "$end" ]; do sleep 0.05; done
	taken_in
}
saved() { ctl --json saved "$@"; }
row() {			# TABLE PROGRAM COLUMN
	jq -r --arg t "$1" --arg p "$root/bin/$2" --arg c "$3" '.[$t][]? | select(.path == $p) | .[$c]' "$root/saved"
}
all() { jq -r --arg w "$1" --arg c "$2" '.in_all[] | select(.what == $w) | .[$c]' "$root/saved"; }
is() { jq -en "$@" >/dev/null || { echo "$*"; return 1; }; }
has_row() { [ -n "$(row "$@")" ]; }

check_here "a daemon" start_daemon
saved >"$root/saved" 2>"$root/said"
check "nothing is saved at first" is "$(all saved cpu_s) == 0"
check "which is said" grep -q "no generation has run so far" "$root/said"
check "or of a time" grep -q "no generation has run since then" <<<"$(ctl saved --since=1h 2>&1)"
check "and not to who reads figures" eval '[ -z "$(ctl metrics 2>&1 >/dev/null)" ]'
check "no time to come is taken" eval 'ctl saved --since=2999-01-01 2>&1 | grep -q "is no time until now: 90m"'
check "nor what is none" eval 'ctl saved --since=yesterday; [ $? = 2 ]'
for i in $(seq 8); do observe; done
check "programs are laid out anew" ctl reoptimize "$root/bin/fast" "$root/bin/slow" "$root/bin/gzip"
fast_ms=0
for i in 1 2; do observe; done
saved >"$root/saved"
check "before it is compared, it is unmeasured" test "$(row unmeasured fast reason)" = open
check "and nothing is claimed for it" not has_row saved fast saved_s
for i in $(seq 20); do
	saved >"$root/saved"
	has_row saved fast saved_s && has_row saved slow saved_s && break
	observe
done
note "after $((i + 1)) observations: fast $(row saved fast saved_s) s ($(row saved fast low_s) .. $(row saved fast high_s)) of" \
	"$(row saved fast cpu_s) s, by $(row saved fast by), which used $fast_ms ms itself"
note "slow $(row saved slow saved_s) s ($(row saved slow low_s) .. $(row saved slow high_s))"
note "$(ctl saved 2>&1)"
# Some room for what is sampled, and for what the kernel does for the programs.
check "its use is the time that it took" is "($fast_ms / 1000 / $(row saved fast cpu_s) - 1) | fabs < 0.3"
check "three times as much was saved" is "$(row saved fast saved_s) / $(row saved fast cpu_s) | . > 2 and . < 4"
check "within the interval" is "3 * $fast_ms / 1000 | . > 0.7 * $(row saved fast low_s) and . < 1.3 * $(row saved fast high_s)"
check "which leaves no doubt" is "$(row saved fast low_s) > 0"
check "the other one has lost" is "$(row saved slow high_s) < 0"
check "and its original is back" same_file "$root/bin/slow" "$B/tests/e2e/slow_if_changed"
check "the sum is that of the rows" is --slurpfile s "$root/saved" \
	'$s[0] | ([.saved[].saved_s] | add) - .in_all[0].cpu_s | fabs < 0.001'
check "and its ends" is --slurpfile s "$root/saved" \
	'$s[0] | (([.saved[].low_s] | add) - .in_all[0].low_s | fabs < 0.001) and (([.saved[].high_s] | add) - .in_all[0].high_s | fabs < 0.001)'
check "what is left is less by what Morph took" is --slurpfile s "$root/saved" \
	'$s[0] | (.in_all[0].cpu_s - ([.cost[].cpu_s] | add) - .in_all[2].cpu_s) | fabs < 0.001'
for what in monitor manager analyses layouts proofs interrupts; do
	check "the $what took something" is --slurpfile s "$root/saved" --arg w "$what" \
		'[$s[0].cost[] | select(.what == $w)] | length == 1 and .[0].cpu_s > 0'
done
check "what is estimated is said to be" is --slurpfile s "$root/saved" \
	'[$s[0].cost[] | select(.estimated) | .what] == ["interrupts", "counting"]'
pid=$(role_pid manager)
took=$(awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$pid/stat")
check "as much as the kernel says" is --slurpfile s "$root/saved" --argjson k "$took" \
	'[$s[0].cost[] | select(.what == "manager")][0].cpu_s | . > 0.5 * $k and . <= $k + 0.05'
saved --since=1h >"$root/hour"
check "all of it was in the last hour" is --slurpfile a "$root/saved" --slurpfile b "$root/hour" '$a[0].saved == $b[0].saved'
check "a user who owns nothing is told nothing" eval \
	'cp "$B/morphctl" "$root/morphctl"; setpriv --reuid 64009 --regid 64009 --clear-groups "$root/morphctl" --socket "$root/sock" \
		--json saved >"$root/user" 2>&1; not grep -q "$root/bin\|cost\|left" "$root/user" && grep -q "\"cpu_s\": 0" "$root/user"'
before=$(row saved fast saved_s)
check_here "the daemon ends" stop_daemon
check_here "and begins again" start_daemon
saved >"$root/saved"
check "what was saved is remembered" is "$(row saved fast saved_s) >= $before"
check_here "the daemon ends again" stop_daemon
done_testing
