#!/bin/bash
# placed.sh - annotate shows a function as it lies in a generation: every instruction of it, where it is, with the
# samples of what it is the image of
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-placed.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@"; }

mkdir -p "$root/new" "$root/store/originals"
flow() { ${CC:-cc} -O2 -fno-reorder-blocks-and-partition "$@" tests/e2e/export/flow.c 2>"$root/why"; }
flow -DOTHER -c -o "$root/other.o" && flow -c -o "$root/one.o" && ${CC:-cc} -o "$root/flow" "$root/one.o" "$root/other.o" ||
	skip_all "$(cat "$root/why")"
"$B/morph-edit" instrument "$root/flow" -o "$root/counting" --counts "$root/counts" && "$root/counting" >"$root/out" &&
	"$B/morph-edit" counts "$root/flow" "$root/counts" -o "$root/exact" || skip_all "the program does not count itself"
sed 's/^clock .*/clock tick/' "$root/exact" >"$root/sampled"
generation() {		# OUT PROFILE
	"$B/morph-edit" optimize "$root/flow" -o "$1" --profile "$2" --generation=4
}
generation "$root/new/flow" "$root/exact" || skip_all "no generation"
cp "$root/flow" "$root/store/originals/$(sha256sum <"$root/flow" | cut -d' ' -f1)"

notes() { morphctl --json annotate flow "$1" --log="$root/sampled" --store="$root/store" "${@:2}"; }
placed() { notes "$1" --binary="$root/new/flow" --generation "${@:2}"; }
# Samples fall on instructions within blocks, too.
within() { notes cases | jq -r '(.blocks | map(.block)) as $b | .instructions[].address | select(IN($b[]) | not) | "block \(.) 7.000"'; }
within >"$root/within"
check "there are instructions within blocks" test "$(wc -l <"$root/within")" -gt 9
{ sed '/^block /,$d' "$root/sampled"; grep -h '^block ' "$root/sampled" "$root/within" | sort; sed '1,/^block /d; /^block /d' "$root/sampled"; } >"$root/more"
mv "$root/more" "$root/sampled"
check "a function of a generation is annotated" placed cases
placed cases >"$root/placed" 2>/dev/null
notes cases >"$root/plain"
check "the original's order is what is shown else" diff "$root/plain" <(notes cases --original)
check "also where a generation is" diff <(jq .instructions "$root/plain") <(notes cases --binary="$root/new/flow" | jq .instructions)

insns() { jq -r ".instructions[] | $2" "$1"; }
dump() { objdump -d --no-show-raw-insn "$1" | sed -nE 's/^ *([0-9a-f]+):\s+(\S+).*/0x\1 \2/p' | sort -u; }
mnemonics() { insns "$1" '"\(.address) \(.instruction | split(" ")[0])"' | sort -u; }
check "all is where the generation has it" test -z "$(comm -23 <(mnemonics "$root/placed") <(dump "$root/new/flow"))"
check "the original where that has it" test -z "$(comm -23 <(mnemonics "$root/plain") <(dump "$root/flow"))"
check "in the generation's order" test "$(insns "$root/placed" .address)" = "$(insns "$root/placed" .address | sort)"
check "which is another one" test "$(insns "$root/placed" '.original // empty')" != "$(insns "$root/placed" '.original // empty' | sort)"
check "all that has samples is there" diff <(insns "$root/plain" 'select(.samples > 0) | "\(.address) \(.samples)"' | sort) \
	<(insns "$root/placed" 'select(.samples > 0) | "\(.original) \(.samples)"' | sort)
check "nothing is there twice" test -z "$(insns "$root/placed" '.original // empty' | sort | uniq -d)"
# Added instructions are jumps and NOPs, and jumps may be others; what is neither is as it was.
same_code() {		# FUNCTION
	placed "$1" >"$root/it" && notes "$1" >"$root/of" || return 1
	insns "$root/it" '"\(.original // "-") \(.address) \(.instruction | split(" ")[0])"' | sort |
		join -a 1 -e none -o 1.2,1.3,2.2 - <(mnemonics "$root/of") |
		awk '{ jump = $2 ~ /^j/; good = $3 == "none" ? jump || $2 ~ /nop|xchg|data16|^cs$/ : $3 ~ /^j/ ? jump : $2 == $3 }
			!good { print; bad = 1 } END { exit bad || NR < 3 }'
}
for f in cases main other pair; do check "an image does what its original does ($f)" same_code $f; done
# The map's own tool says the same of where blocks begin.
maps() {
	jq -r '.blocks[] | "\(.block) \(.original)"' "$root/placed" | while read -r block original; do
		"$B/morph-edit" map "$root/new/flow" "$block" --json | grep -q "\"maps_to\": \"$original\"" || echo "$block is not of $original"
	done
}
check "blocks are those of the map" test -z "$(maps)"
check "as many samples" diff <(jq '[.blocks[].samples] | add' "$root/plain") <(jq '[.blocks[].samples] | add' "$root/placed")
check "the hottest come first, if blocks alone are wanted" jq -e '[.blocks[].samples] | . == (sort | reverse) and length > 3' <(placed cases --blocks)
check "tables for people have it, too" grep -qE '^ *0x[0-9a-f]+ .*0x[0-9a-f]+$' \
	<(morphctl annotate flow cases --log="$root/sampled" --store="$root/store" --binary="$root/new/flow" --generation)
check "its number may be named" diff "$root/placed" <(notes cases --binary="$root/new/flow" --generation=4)

# All of a real program: what is the image of something does the same, but for jumps, which may be turned round, and
# prefixes (cs) and NOPs that fill lines.
real=$(readlink -f "$(command -v gzip)")
whole() {
	"$B/morph-edit" instrument "$real" -o "$root/counting" --counts "$root/counts" && "$root/counting" -9 -c "$B/morph-edit" >/dev/null &&
		"$B/morph-edit" counts "$real" "$root/counts" -o "$root/gzip.exact" &&
		"$B/morph-edit" optimize "$real" -o "$root/gzip.new" --profile "$root/gzip.exact" &&
		echo 0x0 100000000 >"$root/all" && "$B/morph-edit" placed "$real" "$root/gzip.new" "$root/all" -o "$root/listed"
}
check "a whole program is listed" whole
differing() {
	objdump -d --no-show-raw-insn "$real" | sed -nE 's/^ *([0-9a-f]+):\s+(\S+).*/0x\1 \2/p' | awk -F '[ \t]' 'NR == FNR { was[$1] = $2; next }
		$1 == "insn" && $3 != "-" { is = $4; of = was[$3]; n++
			same = of == is || is == "cs" || (of ~ /^j/ && is ~ /^j/) || (of ~ /nop|xchg|data16|cs/ && is ~ /nop|xchg|data16|cs/)
			if (!same) print }
		$1 == "insn" && $3 == "-" && $4 !~ /^j|nop|xchg|data16|cs/ { print }
		END { if (n < 1000) print n, "instructions" }' - "$root/listed"
}
check "all of it does what it did" test -z "$(differing)"

# --- what is not there ---

check "another number" fails 1 'generation 4 is there, not 5' notes cases --binary="$root/new/flow" --generation=5
check "an original" fails 1 'no generation is there, but an original' notes cases --generation
check "no number" fails 2 "'x' is not a number" notes cases --generation=x
check "number 0" fails 2 "'0' is not a number" notes cases --generation=0
check "both" fails 2 'either --original or --generation' notes cases --original --generation
entry() { printf '%d' "0x$(nm "$root/flow" | awk -v s="$1" '$3 == s { print $1 }')"; }
without=$(entry other)
mkdir "$root/less"
awk -v at="$without" '$1 == "block" || $1 == "edge" { if (strtonum($2) >= at && strtonum($2) < at + 16) next } { print }' "$root/exact" >"$root/less/exact" 2>/dev/null ||
	grep -v "^\(block\|edge\) $(printf '0x%x' "$without") " "$root/exact" >"$root/less/exact"
if generation "$root/less/flow" "$root/less/exact" && ! "$B/morph-edit" map "$root/less/flow" --reverse "$without" | grep -q 'hot\|fluff'; then
	check "a function that stayed" fails 1 'generation 4 has left the function where it was' notes other --binary="$root/less/flow" --generation
else
	skip "a function that stayed" "all of them are moved"
fi
rm "$root"/store/originals/*
check "its original is gone" fails 1 'a generation; its original' placed cases
echo nonsense >"$root/bad"
check "no blocks" fails 1 'line 1 of the places is malformed' "$B/morph-edit" placed "$root/flow" "$root/new/flow" "$root/bad" -o "$root/listed"
printf '0x2000 5\n0x1000 5\n' >"$root/bad"
check "blocks in no order" fails 1 'line 2: the blocks do not ascend' "$B/morph-edit" placed "$root/flow" "$root/new/flow" "$root/bad" -o "$root/listed"
printf '0x1000 5\n' >"$root/bad"
check "a file that is no generation" fails 1 "$root/flow" "$B/morph-edit" placed "$root/flow" "$root/flow" "$root/bad" -o "$root/listed"
check "one of another original" fails 1 'of another original' "$B/morph-edit" placed "$B/morph-edit" "$root/new/flow" "$root/bad" -o "$root/listed"
done_testing
