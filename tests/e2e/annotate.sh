#!/bin/bash
# annotate.sh - loops that are made to wait: annotate names the instruction to blame, and the cause
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-annotate.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@"; }
${CC:-cc} -O2 -g -w -o "$root/stalls" tests/e2e/annotate/stalls.c 2>"$root/why" || skip_all "$(cat "$root/why")"
TIMEFORMAT=%U
took=$({ time "$root/stalls" 1000000; } 2>&1)
took=${took//[!0-9.]/}
n=$(awk -v s="$took" 'BEGIN { printf "%.0f", 1e6 * 12 / (s > 0.05 ? s : 0.05) }')
morphctl record -o "$root/log" --clock=cpu-clock --rate=997 -- "$root/stalls" "$n" 2>"$root/why" || skip_all "$(cat "$root/why")"
# How often everything runs, by the program's own counters, in another run.
"$B/morph-edit" instrument "$root/stalls" -o "$root/counting" --counts "$root/counts" && "$root/counting" "$n" &&
	"$B/morph-edit" counts "$root/stalls" "$root/counts" -o "$root/exact" || not_ok "the program counts itself"

address() { printf '0x%x' "0x$(nm "$root/stalls" | awk -v s="$1" '$3 == s { print $1 }')"; }
culprit() { printf '0x%x' $(($(address "$1") + $(address "culprit_$1"))); }
notes() { morphctl --json annotate "$root/stalls" "$1" --log="$root/log" "${@:2}" 2>"$root/err"; }
# Of a jump through a table at random PCs say too little to be sure: bench/annotate.sh has it.
cases='division multiplication floating additions quotient root chase cached crossing misprediction forwarding'
samples() { morphctl --json report "$root/stalls" --log="$root/log" 2>/dev/null | jq ".procedures[] | select(.procedure == \"$1\") | .samples"; }

# The instruction that is to blame for most of the time: its address, and for what.
worst() {
	jq -r '[.instructions[] | select(.culprit != "-")] | group_by(.culprit)
		| map({ culprit: .[0].culprit, why: ([.[].why] | unique | join("; ")), time: ([.[] | .cycles * .executions] | add) })
		| max_by(.time) | .culprit + " " + .why'
}
right=0 asked=0 wrong=
for c in $cases; do
	s=$(samples "$c")
	if [ "${s:-0}" -lt 20 ]; then
		note "$c has ${s:-0} samples only"
		continue
	fi
	asked=$((asked + 1))
	notes "$c" --counts="$root/exact" >"$root/notes.$c" || { not_ok "$c is annotated"; note "$(cat "$root/err")"; continue; }
	got=$(worst <"$root/notes.$c")
	note "$c: $s samples, $(jq -r '[.causes[] | "\(.cause) \(.at_least_pct | round)-\(.at_most_pct | round) %"] | join(", ")' "$root/notes.$c"); blamed: $got"
	[ "${got%% *}" = "$(culprit "$c")" ] && right=$((right + 1)) || wrong+=" $c"
done
[ "$asked" -ge 6 ] || skip_all "too few samples on this machine"
check "culprits are right in nine of ten cases ($right of $asked${wrong:+, not$wrong})" [ $((10 * right)) -ge $((9 * asked)) ]
has() {			# CASE CAUSE MIN: the cause may take so many percent
	jq -e --arg c "$2" --argjson min "$3" '[.causes[] | select(.cause == $c) | .at_most_pct] | add // 0 | . >= $min' "$root/notes.$1"
}
check "a chain of divisions waits for these" eval 'has division "latency of division" 20 || has division division 20'
check "a chain of multiplications waits for these" has multiplication "latency of multiplication" 30
check "a pointer through much memory waits for memory" has chase memory 80
check "which is certain, of nothing else comes into question" jq -e '.causes[] | select(.cause == "memory") | .at_least_pct > 80' "$root/notes.chase"
check "one to itself waits for the cache's latency" has cached "latency of load" 40
check "a branch at random is mispredicted" has misprediction misprediction 20
check "and what is found behind it is nothing else for certain" jq -e '[.causes[] | select(.cause == "memory") | .at_least_pct] | add // 0 | . < 3' "$root/notes.misprediction"
check "bytes that are loaded as a word cannot be forwarded" has forwarding store-forwarding 20
whole() {		# causes at least are no more than all of it, and at most no less
	jq -e '[.causes[].at_least_pct] as $l | [.causes[].at_most_pct] as $m | ($l | add) < 100.5 and ($m | add) > 98' "$root/notes.$1"
}
for c in $cases; do [ ! -s "$root/notes.$c" ] || check "causes are all of the time ($c)" whole "$c"; done

# Executions that are counted are those that the loops have.
check "executions are the loop's" jq -e --argjson n "$n" '[.blocks[].executions] | max == 3 * $n' "$root/notes.multiplication"
check "a block's samples are its instructions'" jq -e '([.blocks[].samples] | add) == ([.instructions[].samples] | add)
	and ([.blocks[].samples] | add) == .function[0].samples' "$root/notes.chase"
check "they are those of the report" [ "$(jq '.function[0].samples' "$root/notes.chase")" = "$(samples chase)" ]
check "instructions have their text" jq -e '.instructions[] | select(.instruction | test("^mov *\\(%r"))' "$root/notes.chase"
check "and source lines" jq -e '.instructions[] | select(.source | test("^stalls.c:[0-9]+$"))' "$root/notes.chase"
check "with counts the scale is theirs" jq -e '.function[0].scale == "counted"' "$root/notes.chase"

# Without counts.
notes misprediction >"$root/notes"
check "executions are inferred from samples" jq -e '[.blocks[] | select(.samples > 0 and .executions > 0)] | length >= 2' "$root/notes"
check "with a confidence" jq -e 'all(.blocks[]; .confidence | IN("low", "medium", "high"))' "$root/notes"
check "cycles are at least what is best" jq -e '.function[0].scale == "at-least" and any(.blocks[]; .samples > 16 and .cycles >= .best_cycles - 0.01)' "$root/notes"
echo "$(address chase) 2" >"$root/two"
"$B/morph-edit" annotate "$root/stalls" "$root/two" --function="$(address chase)" -o "$root/out"
check "nor is a function with few samples faster than that" awk -F '\t' '$1 == "block" { cycles += $8 * $6; best += $9 * $6 }
	END { exit !(best > 0 && cycles > 0.99 * best && cycles < 1.01 * best) }' "$root/out"
# What retires in one cycle is sampled behind the last of them alone.
echo "$(culprit together) 1000" >"$root/one"
"$B/morph-edit" annotate "$root/stalls" "$root/one" --function="$(address together)" -o "$root/out"
check "a chain is found where all of it retires" awk -F '\t' '$1 == "cause" { low[$2] = $3 }
	END { exit !(low["latency of arithmetic"] > 50 && low["latency of arithmetic"] + low["issue"] > 99) }' "$root/out"
check "and one of its instructions is to blame" awk -F '\t' '$1 == "insn" && $7 != "-" { n++; why = $8 }
	END { exit !(n == 1 && why == "latency of arithmetic") }' "$root/out"
# made FUNCTION [ARG...]: of samples made by hand, pairs of a distance from its entry and a count
made() {
	local f=$1
	awk -v at="$(($(address "$f")))" '{ printf "0x%x %d\n", at + $1, $2 }' >"$root/one"
	"$B/morph-edit" annotate "$root/stalls" "$root/one" --function="$(address "$f")" -o "$root/out" "${@:2}"
}
distance() { echo $(($(culprit "$1") - $(address "$1"))); }
made seldom --counts "$root/exact" --cycles=10000 <<-END
	$(($(distance seldom) - 17)) 614
	$(($(distance seldom) + 3)) 300
END
check "what runs seldom explains no more of a chain than retires with it" awk -F '\t' '$1 == "cause" { low[$2] = $3 }
	END { exit !(low["memory"] > 30 && low["latency of multiplication"] > 50) }' "$root/out"
made misprediction --counts "$root/exact" --cycles="$((100 * n))" <<-END
	$(($(distance misprediction) + 6)) 1000
END
check "nothing takes more at least than at most" awk -F '\t' '$1 == "cause" { n++; low += $3; high += $4; if ($3 > $4 + 0.01) bad++ }
	END { exit !(n > 2 && !bad && low < 100.1 && high > 99.9) }' "$root/out"
check "more than branches can take has no known cause" awk -F '\t' '$1 == "cause" && $2 == "unknown" && $3 > 20 { ok = 1 }
	END { exit !ok }' "$root/out"
for at in 0 4; do
	made spilled --counts "$root/exact" --cycles=10000 <<-END
		$(($(distance spilled) + at)) 2000
	END
	check "what was just stored is not waited for in memory ($at)" awk -F '\t' '$1 == "cause" { high[$2] = $4 }
		END { exit !(high["unknown"] > 30 && !("memory" in high)) }' "$root/out"
done
made joined <<-END
	$(distance joined) 40
	$(($(distance joined) + 6)) 20
	$(($(distance joined) + 13)) 300
END
check "of two branches to a place the one is to blame that runs" awk -F '\t' -v at="$(culprit joined)" '
	$1 == "insn" && $8 ~ /misprediction/ { n++; bad += $7 != at } END { exit !(n == 1 && !bad) }' "$root/out"
check "blocks hottest first" jq -e '[.blocks[].samples] | length >= 2 and . == (sort | reverse) and all(.[]; . > 0)' <(notes misprediction --blocks)
check "as many as are asked for" [ "$(notes misprediction --blocks --limit=1 | jq '.blocks | length')" = 1 ]
check "by its address" diff <(notes chase) <(notes "$(address chase)")
check "by fn_" diff <(notes chase) <(notes "fn_$(address chase | cut -c 3-)")

# Bad input.
check "no such function" fails 1 "no samples of a function 'nobody'" morphctl annotate stalls nobody --log="$root/log"
check "no such module" fails 1 "no samples of 'nobody'" morphctl annotate nobody chase --log="$root/log"
check "no function" fails 2 usage morphctl annotate stalls --log="$root/log"
check "counts that are samples" fails 1 'are not exact' morphctl annotate stalls chase --log="$root/log" --counts=<(sed 's/^clock .*/clock tick/' "$root/exact")
sed 's/^sha256 0/sha256 f/; t; s/^sha256 ./sha256 0/' "$root/exact" >"$root/other"
check "counts of another program" fails 1 "$root/stalls" morphctl annotate stalls chase --log="$root/log" --counts="$root/other"
for f in "$root" /dev/zero; do
	check "counts that are no file ($f)" fails 1 "'$f': neither a regular file nor a pipe" morphctl annotate stalls chase --log="$root/log" --counts="$f"
done
check "megahertz of nothing" fails 2 "--mhz is for executions" morphctl annotate stalls chase --log="$root/log" --mhz=3000
echo nonsense >"$root/nonsense"
check "counts that are no profile" fails 1 "the counts: not a profile" morphctl annotate stalls chase --log="$root/log" --counts="$root/nonsense"
check "executions instead of samples" fails 2 'are no samples' morphctl annotate stalls chase --log="$root/exact"
check "a limit without blocks" fails 2 '--limit is for --blocks' morphctl annotate stalls chase --log="$root/log" --limit=3
check "what only recordings have is not asked of the daemon" fails 2 'is for recordings' morphctl annotate stalls chase --counts=x
echo 'x' >"$root/bad"
check "samples that are none" fails 1 'line 1 of the places is malformed' \
	"$B/morph-edit" annotate "$root/stalls" "$root/bad" --function="$(address chase)" -o "$root/out"
echo '0x10 5' >"$root/bad"
check "a function that begins nowhere" fails 1 'begins at 0x11' "$B/morph-edit" annotate "$root/stalls" "$root/bad" --function=0x11 -o "$root/out"
done_testing
