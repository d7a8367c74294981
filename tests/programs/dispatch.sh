#!/bin/bash
# dispatch.sh - an interpreter's dispatch lies in one line of 64 bytes, wherever the compiler had put it
#
# The program is a switch in a loop behind instructions that move the dispatch through a line.
. tests/moving.sh

cat >"$T/interpreter.c" <<'END'
#include <stdio.h>

static unsigned char program[4096];

int main(void)
{
	unsigned long a = 1, b = 2;
	unsigned seed = 1;

	for (unsigned i = 0; i < sizeof(program); i++)
		program[i] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 24) % 8;
	__asm__ volatile(".rept " BEHIND "; cld; .endr" ::: "memory");
	for (unsigned long pc = 0, n = 0; n < 50000; )
		switch (program[pc = (pc + 1) % sizeof(program)] & 7) {
		case 0: a += b; continue;
		case 1: b ^= a >> 3; continue;
		case 2: a = a * 33 + 7; continue;
		case 3: b = (b << 5) - b; continue;
		case 4: a ^= b << 1; continue;
		case 5: b += a & 1; continue;
		case 6: a -= b >> 2; continue;
		case 7: b += pc; n++; continue;
		}
	printf("%lu %lu\n", a, b);
	return 0;
}
END

# Executions of dispatches across a line in generation $1.
across() {
	"$B/morph-edit" report "$T/p" --profile "$T/profile" --compare "$1" |
		sed -nE 's/^indirect jumps among them +[0-9.]+ +([0-9]+).*/\1/p'
}

without=0
for n in 0 9 18 27 36 45 54; do
	if ! { gcc -O2 -fno-pic -no-pie -DBEHIND="\"$n\"" -o "$T/p" "$T/interpreter.c" &&
			"$B/morph-edit" instrument "$T/p" -o "$T/counting" --counts "$T/counts" &&
			"$T/counting" >"$T/before" &&
			"$B/morph-edit" counts "$T/p" "$T/counts" -o "$T/profile" &&
			"$B/morph-edit" optimize "$T/p" --profile "$T/profile" --all --passes=-lines -o "$T/plain" &&
			"$B/morph-edit" optimize "$T/p" --profile "$T/profile" --all --processor=zen4 -o "$T/lines"; } \
			>"$T/log" 2>&1; then
		not_ok "behind $n bytes: $(tail -n 1 "$T/log")"
		continue
	fi
	[ "$(across "$T/plain")" -gt 0 ] && without=$((without + 1))
	check "behind $n bytes the dispatch is in one line" [ "$(across "$T/lines")" = 0 ]
	check "behind $n bytes it is proven" "$B/morph-verify" "$T/p" "$T/lines"
	chmod +x "$T/lines"
	check "behind $n bytes the output is the same" cmp -s "$T/before" <("$T/lines")
done
check "without the pass it is across one $without times of 7" [ "$without" -gt 0 ]
done_testing
