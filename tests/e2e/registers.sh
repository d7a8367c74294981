#!/bin/bash
# registers.sh - registers with the samples become edges, by hand and in the daemon, and are gone then
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root
make_loop() {		# ITERATIONS
	${CC:-cc} -nostdlib -static -Wa,--defsym,N="$1" -o "$root/bin/loop" tests/e2e/registers.s
}
make_loop 100000000 || skip_all "no compiler"
# So many that a fast processor gives as many samples: a second of CPU time, and not many fewer where it was slow just now.
TIMEFORMAT=%U
took=$({ time "$root/bin/loop"; } 2>&1)
n=$(awk -v s="$took" 'BEGIN { n = 1e8 / (s > 0.01 ? s : 0.01); printf "%.0f", (n > 3e8 ? n : 3e8) }')
[ "${n:-0}" -gt 0 ] || exit 1
note "$n iterations"
make_loop "$n" || exit 1
cp "$root/bin/loop" "$root/orig/loop"
"$B/tests/e2e/monitor_driver" record "$root/try" auto 251 true 2>"$root/why" ||
	skip_all "$(cat "$root/why")"

# The marker as it is in memory, and as the first of a task in a spool (SLEB128).
marker='\xe7\xc2\x5e\xde\xc0\xe7\xc2\x5e|\xe7\x85\xfb\xf2\x8d\xf8\xb9\xe1\xde'
has_marker() {		# PATH...: in any file
	LC_ALL=C grep -rlaP "$marker" "$@"
}
has_none() { ! has_marker "$@"; }

# --- one command, without the daemon ---

address() { printf '0x%x' "0x$(nm "$root/orig/loop" | awk -v s="$1" '$3 == s { print $1 }')"; }
# A few iterations are seen from each sample, and samples do not fall on all alike: hence the margin.
often_is_75() {		# PROFILE: the side that goes on to `often`, in percent
	awk -v from="$(address again)" -v often="$(address often)" -v quarter="$(address quarter)" '
		$1 == "edge" && $2 == from && $3 == often { o = $4 }
		$1 == "edge" && $2 == from && $3 == quarter { q = $4 }
		END { print "often", o, "quarter", q
		      exit !(o + q >= 500 && o / (o + q) > 0.62 && o / (o + q) < 0.88) }' "$1"
}
# The side of the branch that memory decides: once from a sample, without memory only from those behind it.
is_five_seen() {	# PROFILE
	awk -v five="$(address is_five)" '
		$1 == "edge" && $3 == five { e += $4 }
		$1 == "block" { n += $3 }
		END { print e + 0, "from", n + 0; exit !(n >= 100 && e > n / 2) }' "$1"
}
for clock in tick cpu-clock; do
	for registers in --registers --registers=256 '--registers --memory'; do
		name="$clock $registers"
		if ! "$B/morphctl" record -o "$root/try" --clock=$clock -- true 2>"$root/why"; then
			skip "edges are told ($name)" "$(cat "$root/why")"
			continue
		fi
		rm -rf "$root/profile"
		if ! "$B/morphctl" record -o "$root/taken" --clock=$clock --rate=997 $registers -- "$root/bin/loop" \
				2>"$root/why"; then
			skip "edges are told ($name)" "$(cat "$root/why")"
			continue
		fi
		check "only its owner reads a log with registers ($name)" \
			[ "$(stat -c %a "$root/taken")" = 600 ]
		check "the log has them ($name)" has_marker "$root/taken"
		check "a profile is made ($name)" "$B/morphctl" profile "$root/taken" -o "$root/profile"
		check "edges are told ($name)" often_is_75 "$root"/profile/loop.*.profile
		check "the profile has no registers ($name)" has_none "$root/profile"
		if [[ $registers = *memory ]]; then
			check "what a word points to is told, too ($name)" is_five_seen "$root"/profile/loop.*.profile
		else
			check "what is elsewhere in memory is not ($name)" \
				eval '! is_five_seen "$root"/profile/loop.*.profile'
		fi
	done
done
"$B/morphctl" record -o "$root/taken" --clock=cpu-clock --rate=997 -- "$root/bin/loop"
check "without being asked there are no registers" has_none "$root/taken"
fails_with() {		# CODE COMMAND...
	"${@:2}"
	[ $? = "$1" ]
}
check "a stack of no multiple of 8 is wrong usage" fails_with 2 \
	"$B/morphctl" record -o "$root/taken" --registers=13 -- true
check "memory without registers is wrong usage" fails_with 2 \
	"$B/morphctl" record -o "$root/taken" --memory -- true
check "a rate beyond the kernel's is refused" fails_with 2 \
	"$B/morphctl" record -o "$root/taken" --rate=1000000 -- true

# --- the daemon ---

count() {		# KIND: of the samples, from the status
	ctl --json status 2>/dev/null | sed -n "s/.*\"kind\": \"$1\", \"count\": \([0-9]*\),.*/\1/p"
}
registers_are() {	# PATTERN
	ctl --json status | grep -q "\"name\": \"registers\", \"value\": \"$1"
}
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 997
	  registers: auto
	  stack_bytes: 64
END
check_here "the daemon starts" start_daemon
check "without a busy module registers are off" registers_are 'off: no busy module'
"$root/bin/loop"
check "the spool is taken in" taken_in
check "so far there were none" [ "$(count states)" = 0 ]
check "a busy module without evidence switches them on" registers_are "on: $root/bin/loop has 0 "
"$root/bin/loop"
check "they are not in the store before the spool is taken in" has_none "$root/store"
check "the spool with them is taken in" taken_in
states=$(count states) edges=$(count edges)
check "states were interpreted ($states)" [ "${states:-0}" -ge 200 ]
check "and told edges ($edges)" [ "${edges:-0}" -ge "${states:-0}" ]
check "they are not in the store, nor in the log" has_none "$root/store" "$root/log"
check "the module's samples with registers are known" registers_are \
	"on: $root/bin/loop has [1-9][0-9]* samples"
check "a generation is made with them" ctl reoptimize --dry-run "$root/bin/loop"
check "the generation is swapped in" ctl reoptimize "$root/bin/loop"
"$root/bin/loop"
check "the spool with the generation is taken in" taken_in
before=$states
states=$(count states)
check "states of the generation were interpreted ($states)" [ "${states:-0}" -ge $((${before:-0} + 200)) ]
"$B/morphctl" record -o "$root/taken" --clock=cpu-clock --rate=997 --registers -- "$root/bin/loop"
rm -rf "$root/profile"
check "by hand, too" "$B/morphctl" profile "$root/taken" -o "$root/profile" --store="$root/store"
check "and its edges are those of the original" often_is_75 "$root"/profile/loop.*.profile
sed -i 's/registers: auto/registers: off/' "$root/morph.yaml"
kill -HUP "$daemon"
for i in $(seq 100); do
	registers_are off && break
	sleep 0.05
done
check "the policy switches them off" registers_are 'off, as the policy says'
taken_in
before=$(count states)
"$root/bin/loop"
check "the spool is taken in again" taken_in
check "none come any more" [ "$(count states)" = "$before" ]
check_here "the daemon ends" stop_daemon
check "nothing is left of them" has_none "$root"/store/morph.db* "$root/store/spool"	# originals are programs
done_testing
