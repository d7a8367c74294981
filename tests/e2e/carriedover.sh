#!/bin/bash
# carriedover.sh - `morph-edit analyze --signature` and `inherit`: a profile of one version of a program is
# carried over to another, which is laid out by it, proven and run
set -u
. "$(dirname "$0")/../tap.sh"
edit=${B:-build}/morph-edit verify=${B:-build}/morph-verify
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cc=${CC:-cc}
command -v jq >/dev/null || { skip "profiles carried over" "no jq"; done_testing; }

is() {			# NAME GOT WANTED
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1"; note "'$2' is not '$3'"; fi
}

# An interpreter of a small language; the later version knows one operation more, checks what the first did
# not, and has its functions in another order.
cat >"$T/p.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FAR __attribute__((noinline))
#define RARE(x) __builtin_expect(!!(x), 0)		/* it says: and it is not true */
#if LATER
FAR static unsigned rotate(unsigned x, int by) { return x << (by & 31) | x >> (-by & 31); }
#endif
FAR static unsigned mix(unsigned h, const char *s)
{
	while (*s) {
		if (RARE(*s != 'L'))
			h = (h ^ (unsigned char)*s) * 16777619u;
		s++;
	}
	return h;
}
FAR static int digits(unsigned x, char *to)
{
	int n = 0;
	do
		if (RARE(x % 10 != 7))
			to[n++] = (char)('0' + x % 10);
		else
			to[n++] = 'L';
	while (x /= 10);
	to[n] = 0;
	return n;
}
FAR static void fail(const char *why) { fprintf(stderr, "%s\n", why); exit(1); }
FAR static unsigned step(unsigned a, int op, int by)
{
#if LATER
	if (by < 0)
		fail("negative");
#endif
	switch (op) {
	case 0: return a + (unsigned)by;
	case 1: return a * 3 + 1;
	case 2: return a ^ a >> 7;
	case 3: return RARE(a > 1000) ? (a - 999) * 5 ^ a >> 3 : a + 5;
	case 4: return a & 0xffffff;
#if LATER
	case 5: return rotate(a, by);
#endif
	default: fail("no such operation");
	}
	return 0;
}
FAR static unsigned run(int rounds)
{
	unsigned a = 1, h = 2166136261u;
	char text[16];
	for (int i = 0; i < rounds; i++) {
		a = step(a, i % 5, i);
		if (RARE(i % 3 != 1))
			h = mix(h, text + 0 * digits(a, text));
		else if (a % 4096 == 77)
			h += (unsigned)digits(h, text);
	}
	return h;
}
int main(int c, char **v)
{
	int rounds = c > 1 ? atoi(v[1]) : 300000;
#if LATER
	if (rounds > 10000000)
		fail("too many");
#endif
	printf("%u\n", run(rounds));
	return 0;
}
C
for O in 1 2; do
	$cc -O$O "$T/p.c" -o "$T/old$O" && $cc -O$O -DLATER "$T/p.c" -o "$T/new$O" &&
		strip "$T/old$O" "$T/new$O" || exit 1
	old=$T/old$O new=$T/new$O
	"$edit" analyze "$old" --signature "$T/sig" >/dev/null && "$edit" instrument "$old" -o "$T/counting" &&
		"$T/counting" >"$T/said" && "$edit" counts "$old" "$T/counting.counts" -o "$T/profile"
	is "-O$O: a profile and a signature are made of the older version" $? 0

	"$edit" inherit "$new" --signature "$T/sig" --profile "$T/profile" -o "$T/inherited" --json >"$T/json"
	is "-O$O: it is carried over" $? 0
	if jq -e '.inherited[0] | .matched_pct > 85 and .matched_pct <= 100 and .matched <= .functions' "$T/json" >/dev/null
	then ok "-O$O: most of its weight is recognised"; else not_ok "-O$O: most of its weight is recognised"; note "$(cat "$T/json")"; fi
	is "-O$O: what has been recognised by something is what has been recognised" \
		"$(jq '[.matches[].weight_pct] | add * 1000 | round' "$T/json")" "$(jq '.inherited[0].matched_pct * 1000 | round' "$T/json")"
	is "-O$O: it is the other file's profile" "$(awk '$1 == "sha256" { print $2 }' "$T/inherited")" \
		"$(sha256sum "$new" | cut -d ' ' -f 1)"
	is "-O$O: complete counts are not complete there" "$(awk '$1 == "clock" { print $2 }' "$T/inherited")" branches

	"$edit" optimize "$new" -o "$T/generation" --profile "$T/inherited" >/dev/null &&
		"$verify" "$new" "$T/generation" >/dev/null
	is "-O$O: the later version is laid out by it, and proven" $? 0
	is "-O$O: and does the same" "$("$T/generation")" "$("$new")"

	# By the later version's own complete counts: how many branches are taken?
	"$edit" instrument "$new" -o "$T/counting" && "$T/counting" >/dev/null &&
		"$edit" counts "$new" "$T/counting.counts" -o "$T/own" &&
		"$edit" optimize "$new" -o "$T/best" --profile "$T/own" >/dev/null || exit 1
	taken() {		# GENERATION: of the original, of it
		"$edit" report "$new" --profile "$T/own" --compare "$T/$1" --json |
			jq -r --arg x "$1" '.layout[] | select(.figure == "taken branches") | "\(.original) \(.[$x])"'
	}
	read -r before a <<<"$(taken generation)"
	read -r before b <<<"$(taken best)"
	if awk -v o="$before" -v a="$a" -v b="$b" 'BEGIN { exit !(o > b && o - a > .8 * (o - b)) }'
	then ok "-O$O: four fifths of the gain in taken branches are there"; else not_ok "-O$O: four fifths of the gain in taken branches are there"; fi
	note "taken branches: $before, by the inherited profile $a, by its own $b"
done

root=$T
check "what is compared with is named when it is no program" fails 3 ": a script, not an ELF file" \
	"$edit" report "$new" --profile "$T/own" --compare "$0"

# The same file: nothing is lost, and nothing is added.
"$edit" inherit "$T/old2" --signature "$T/sig" --profile "$T/profile" -o "$T/same" --json |
	jq -e '.inherited[0].matched_pct == 100 and .inherited[0].blocks_pct == 100' >/dev/null
is "a file inherits everything from itself" $? 0
counts() { grep -E '^(block|edge|call) ' "$1"; }
is "and exactly that" "$(counts "$T/same" | sha256sum)" "$(counts "$T/profile" | sha256sum)"

# Another program: nothing of it is taken.
"$edit" inherit /usr/bin/env --signature "$T/sig" --profile "$T/profile" -o "$T/other" --json >"$T/json"
if jq -e '.inherited[0].matched_pct < 15' "$T/json" >/dev/null
then ok "another program inherits hardly anything"; else not_ok "another program inherits hardly anything"; note "$(cat "$T/json")"; fi

# What is not as it should be.
refused() {		# NAME CODE MESSAGE COMMAND...
	local name=$1 code=$2 says=$3 rc
	shift 3
	rm -f "$T/out"
	"$edit" "$@" -o "$T/out" >/dev/null 2>"$T/err"
	rc=$?
	is "$name: exit code" $rc "$code"
	if grep -q -e "$says" "$T/err"; then ok "$name: says why"; else not_ok "$name: says why"; note "$(cat "$T/err")"; fi
	is "$name: nothing is written" "$(ls "$T/out" 2>/dev/null)" ""
}
"$edit" analyze /usr/bin/env --signature "$T/env.sig" >/dev/null
refused "signature of another file" 3 "'$T/profile': profile and signature are of different files" \
	inherit "$T/new2" --signature "$T/env.sig" --profile "$T/profile"
head -c 1000 "$T/sig" >"$T/cut"
refused "signature that is cut off" 1 "'$T/cut': signature: " inherit "$T/new2" --signature "$T/cut" --profile "$T/profile"
refused "text for a signature" 1 "not a signature" inherit "$T/new2" --signature "$T/p.c" --profile "$T/profile"
refused "no signature" 2 "^usage: morph-edit inherit" inherit "$T/new2" --profile "$T/profile"
refused "a text for a program" 3 "'$T/p.c'" inherit "$T/p.c" --signature "$T/sig" --profile "$T/profile"
done_testing
