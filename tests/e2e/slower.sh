#!/bin/bash
# slower.sh - a generation that makes its program slower goes, and the program is left alone until it is
# replaced; one that does not stays
#
# The program slows itself down when its file is not the one that was built, which is what the daemon
# has to find out from samples, while the jobs are of all sizes.
#
# run.sh: timed
. tests/e2e/private.bash
need_root
make_root gzip
cp "$B/tests/e2e/slow_if_changed" "$root/bin/"
cp "$root/bin/slow_if_changed" "$root/orig/"
size=$(stat -c %s "$root/bin/slow_if_changed")
cat >>"$root/morph.yaml" <<-END
	  observe_s: 1
	monitor:
	  clock: cpu-clock
	  rate_hz: 3001	# so that little work is enough
	  registers: off
END
state_of() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"state": "\([^"]*\)".*/\1/p'; }
speed_of() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"speed": "\([^"]*\)".*/\1/p'; }
seq 150000 >"$root/numbers"
RANDOM=7
observe() {		# jobs of all sizes for a while, one observation of each program
	local i end=$(($(date +%s%N) + 1200000000))
	for i in 1 2 3 4; do
		"$root/bin/slow_if_changed" "$size" $((RANDOM % 10 + 2)) >/dev/null
		head -n $((RANDOM % 20 * 2500 + 25000)) "$root/numbers" | "$root/bin/gzip" -c >/dev/null
	done
	while [ "$(date +%s%N)" -lt "$end" ]; do sleep 0.05; done
	taken_in
}

check_here "a daemon" start_daemon
for i in $(seq 8); do observe; done
check "both programs are laid out anew" ctl reoptimize "$root/bin/slow_if_changed" "$root/bin/gzip"
check "nothing is known at first" grep -q "^not known yet, not observed so far" <<<"$(speed_of slow_if_changed)"
is_optimized() { test "$(state_of slow_if_changed)" = optimized; }
for i in $(seq 4); do observe; done
check "four observations are too few to tell" is_optimized
for i in $(seq 4 24); do
	is_optimized || break
	observe
done
note "after $i observations"
check "the original is back" same_file "$root/bin/slow_if_changed" "$root/orig/slow_if_changed"
check "the history says why" grep -Eq \
	"slower .*generation 1 against the original: slower, time \+[0-9.]+ % \(\+[0-9.]+ \.\. \+[0-9.]+\)" \
	<<<"$(ctl history "$root/bin/slow_if_changed")"
note "$(ctl history "$root/bin/slow_if_changed" | grep slower)"
check "so does the list" grep -q "^refused: generation 1 against the original: slower" \
	<<<"$(state_of slow_if_changed)"
check "it is not laid out anew" not ctl reoptimize "$root/bin/slow_if_changed"
check "and the reason is told" grep -q "slower, time" <<<"$(ctl reoptimize "$root/bin/slow_if_changed" 2>&1)"
check "gzip, as fast as ever, stays" test "$(state_of gzip)" = optimized
note "gzip: $(speed_of gzip)"
check "it is being observed" grep -Eq ", observed [1-9][0-9]* times?, before it [1-9]" <<<"$(speed_of gzip)"
check_here "ends" stop_daemon
check_here "begins again" start_daemon
check "the refusal is remembered" not ctl reoptimize "$root/bin/slow_if_changed"
check "what was observed as well" grep -Eq ", observed [1-9][0-9]* times?, before it [1-9]" <<<"$(speed_of gzip)"
# Another original is another program.
cp "$root/bin/slow_if_changed" "$root/new"
strip "$root/new"
mv "$root/new" "$root/bin/slow_if_changed"
observe
check "a new original is no longer refused" test "$(state_of slow_if_changed)" = original
check_here "ends again" stop_daemon
done_testing
