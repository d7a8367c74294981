#!/bin/bash
# analysis.sh - what `morph-edit analyze --json` says of a program adds up, and is true of programs
# made here
set -u
. "$(dirname "$0")/../tap.sh"
edit=${B:-build}/morph-edit
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cc=${CC:-cc}
command -v jq >/dev/null || { skip "what analyze says" "no jq"; done_testing; }

says() {		# NAME FILTER: true of the last analysis; of nothing, jq takes all for true
	if [ -s "$T/json" ] && jq -e "$2" "$T/json" >"$T/jq" 2>&1; then ok "$1"; else not_ok "$1"; note "$(cat "$T/jq" "$T/json")"; fi
}

adds_up() {		# NAME FILE
	"$edit" analyze --json "$2" >"$T/json" || { not_ok "$1 is analysed"; return; }
	says "$1: every function can be moved or has one reason" \
		'(.reasons | map(.functions) | add) == .module[0].functions'
	says "$1: so has every byte" '(.reasons | map(.bytes) | add) == .module[0].function_bytes'
	says "$1: movable ones are counted as such" \
		'(.reasons[] | select(.reason == "movable") | [.functions, .bytes]) == [.module[0].movable, .module[0].movable_bytes]'
	says "$1: pointers to every movable function are none, known or unknown" \
		'.module[0].movable as $n | all(.pointers[]; .none + .known + .unknown == $n)'
	says "$1: unproven jumps have a kind" \
		'([.jump_kinds[] | select(.kind != "jump table" and .kind != "tail call") | .jumps] | add // 0) == .module[0].unproven_jumps'
}

# One switch with a table, a function by a pointer in data, one by a pointer that is calculated with.
cat >"$T/p.c" <<'C'
#include <stdlib.h>
__attribute__((noinline)) int turn(int op, int x)
{
	switch (op) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x ^ 0x55;
	case 3: return abs(x) << 2;
	case 4: return x - 7;
	case 5: return x / 9;
	case 6: return atoi("7") + x;
	default: return ~x;
	}
}
static int by_data(int x) { return turn(x, 3) + 4; }
static int by_sum(int x) { return turn(x, 5) - 4; }
int (*volatile table[2])(int) = { by_data, (int (*)(int))((char *)by_sum + 3) };
int main(int c, char **v)
{
	return v[0] ? table[0](c) + ((int (*)(int))((char *)table[1] - 3))(c) : 0;
}
C
"$cc" -O2 -fno-inline -fno-pic -no-pie -fno-ipa-cp -o "$T/fixed" "$T/p.c"
"$cc" -O2 -fno-inline -o "$T/pie" "$T/p.c" || { skip "what analyze says" "no compiler"; done_testing; }
adds_up "a PIE" "$T/pie"
says "a PIE: one jump table" '.module[0].jump_tables == 1 and ([.jump_kinds[] | select(.kind == "jump table") | .jumps] == [1])'
says "a PIE: by_data's pointer is known" '.pointers[] | select(.to == "entry") | .known >= 1'
says "a PIE: no label is pointed to" '.pointers[] | select(.to == "labels") | .known + .unknown == 0'
says "a PIE: headers find room in front" '.module[0].layout == "front"'
adds_up "a program at a fixed address" "$T/fixed"
"$cc" -O2 -static -o "$T/static" "$T/p.c" && adds_up "a static program" "$T/static" &&
	says "a static program: headers go below" '.module[0].layout == "below"'

# A profile that says nothing about the program is no reason to say nothing of the program.
printf '%s\n' 'morph-profile 2' 'module p' "sha256 $(sha256sum <"$T/fixed" | cut -d ' ' -f 1)" 'clock tick' \
	'outside 0' >"$T/profile"
"$edit" analyze --json "$T/pie" --profile "$T/profile" >"$T/json"
says "with a profile of another file: that is told" '.profile[0].left_out | contains("another file")'
says "with a profile of another file: so are the functions" '.module[0].functions > 0 and .confidence == null'

# Computed goto through labels in data; with a frame, so that the jumps are no tail calls.
cat >"$T/threaded.c" <<'C'
#include <stdlib.h>
__attribute__((noinline)) int run(const unsigned char *p, volatile int x)
{
	static void *const op[] = { &&inc, &&twice, &&neg, &&end };
	goto *op[*p++];
inc:	x++; goto *op[*p++];
twice:	x *= 2; goto *op[*p++];
neg:	x = -x + atoi("0"); goto *op[*p++];
end:	return x;
}
int main(void) { return run((const unsigned char *)"\0\1\2\3", 1); }
C
"$cc" -O2 -o "$T/threaded" "$T/threaded.c"
adds_up "an interpreter" "$T/threaded"
says "an interpreter: its jumps go to labels, whose pointers are known" \
	'.module[0].unproven_jumps >= 1 and ([.jump_kinds[] | select(.kind == "label") | .jumps] == [.module[0].unproven_jumps]) and (.pointers[] | select(.to == "labels") | .known == 1)'

"$cc" -O2 -shared -fPIC -o "$T/lib.so" "$T/p.c"
adds_up "a library" "$T/lib.so"

# The torture run reads the same numbers, with no tool that is not on every machine.
counted() {		# FIELD FILTER: of its line for the library is what jq says
	local want got
	want=$(jq -r "$2" "$T/json")
	got=$(tr '\t' '\n' <"$T/1234" | sed -n "s/^$1=//p")
	check "the torture run's line has $1: $want" [ "$got" = "$want" ]
}

export B=${B:-build} EDIT=$edit VERIFY=${B:-build}/morph-verify RESULTS=$T TORTURE_TMP=$T ORDERS="7 p3"
export LIMITED=$B/tests/torture/limited PROFILED=$B/tests/torture/profiled
TORTURE_CPU=60 TORTURE_MEM=4096 tests/torture/file.sh 1234 "$(stat -c %s "$T/lib.so")" library - 0 1 "$T/lib.so"
counted answer '"moved"'
counted orders 3
counted faults '""'
counted functions '.module[0].functions'
counted fde '.module[0].fde_bytes'
counted movable_bytes '.module[0].movable_bytes'
counted tables '.module[0].jump_tables'
counted unproven '.module[0].unproven_jumps'
counted pointers_known '.pointers[] | select(.to == "entry") | .known'
counted pointers_unknown '.pointers[] | select(.to == "entry") | .unknown'
counted jumps '[.jump_kinds[] | "\(.kind):\(.jumps);"] | add'

# --- the text of instructions ---

read -r at size < <(nm -S "$T/pie" | awk '$4 == "turn" { print $1, $2 }')
"$edit" disassemble "$T/pie" --start=0x"$at" --size=0x"$size" >"$T/text"
objdump -d --no-show-raw-insn --start-address=0x"$at" --stop-address=$((0x$at + 0x$size)) "$T/pie" |
	sed -n 's/^ *\([0-9a-f]*\):\t\([a-z0-9]*\).*/\1\t\2/p' >"$T/want"
check "instructions begin where objdump says, and are these" \
	diff <(sed 's/^\([0-9a-f]*\t[a-z0-9]*\).*/\1/' "$T/text") "$T/want"
check "there are some" [ -s "$T/want" ]
root=$T
check "what is not in the file is none" fails 1 "'$T/pie': 0x10 + 1000000 is not in the file" \
	"$edit" disassemble "$T/pie" --start=0x10 --size=1000000
check "what is no program is named" fails 3 "'$T/p.c': " "$edit" disassemble "$T/p.c" --start=0x10 --size=16

# --- may it catch an exception? ---

catches() { "$edit" catches "$T/catches.so"; }
echo 'void __cxa_begin_catch(void *); void never(void); void never(void) { __cxa_begin_catch(0); }' >"$T/catches.c"
$cc -shared -fPIC -o "$T/catches.so" "$T/catches.c"
check "who may catch an exception is refused" fails 3 "it may catch exceptions (__cxa_begin_catch)" catches
echo 'void puts(const char *); void never(void); void never(void) { puts(""); }' >"$T/catches.c"
$cc -shared -fPIC -fno-builtin -o "$T/catches.so" "$T/catches.c"
check "who cannot is not" [ "$(catches)" = "catches nothing" ]

# --- whose edges they are ---

"$edit" interpret "$T/threaded" tests/fuzz/corpus/statesample/two -o "$T/edges"
check "interpreted states say of which program" grep -qx "sha256 $(sha256sum <"$T/threaded" | cut -d' ' -f1)" "$T/edges"
done_testing
