#!/bin/bash
# mutate.sh - damaged generations are refused: of gzip, of sort, and of programs made here
#
# tests/verify/mutate.c does the damage and prints what was tried, refused and accepted by kind.
set -u
. "$(dirname "$0")/../tap.sh"
edit=${B:-build}/morph-edit verify=${B:-build}/morph-verify
mutate=${B:-build}/tests/verify/mutate
per_kind=${MUTANTS:-20}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/made.c" <<'C'
#include <stdio.h>
#include <stdlib.h>

static int turn(int op, int x)
{
	switch (op) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x ^ 0x55;
	case 3: return x << 2;
	case 4: return x - 7;
	case 5: return ~x;
	case 6: abort();
	default: return x;
	}
}

int main(int argc, char **argv)
{
	int x = argc;

	for (char *p = argv[0]; *p; p++)
		x = turn(*p % 6, x);
	return printf("%d\n", x) < 0;
}
C

cat >"$work/threaded.c" <<'C'
#include <stdio.h>

static int run(const char *p)
{
	static const void *const op[] = { &&add, &&triple, &&flip, &&halt };
	int x = 1;

	goto *op[*p++ & 3];
add:	x += 1;
	goto *op[*p++ & 3];
triple:	x *= 3;
	goto *op[*p++ & 3];
flip:	x ^= 0x55;
	goto *op[*p++ & 3];
halt:	return x;
}

int main(void)
{
	return printf("%d\n", run("abcabbbac")) < 0;
}
C

cat >"$work/throws.cc" <<'CC'
#include <cstdio>
#include <stdexcept>
#include <string>

struct noisy {
	const char *name;
	~noisy() { std::printf("~%s\n", name); }
};

static void thrower(int kind)
{
	noisy n{"thrower"};

	switch (kind) {
	case 0: throw 7;
	case 1: throw std::runtime_error("one");
	case 2: throw std::string("two");
	case 3: throw "three";
	case 4: throw 4.0;
	case 5: std::printf("five\n"); return;
	}
}

static int limited(int kind) throw(int, std::runtime_error)
{
	noisy n{"limited"};

	thrower(kind);
	return kind;
}

static int catcher(int kind)
{
	try {
		noisy n{"catcher"};
		try {
			return limited(kind);
		} catch (int i) {
			return i + (int)std::string("a string on the heap to destroy").size();
		} catch (const std::runtime_error &e) {
			std::puts(e.what());
			throw;
		}
	} catch (const std::exception &e) {
		return 100;
	} catch (...) {
		return 200;
	}
}

int main(int argc, char **)
{
	int sum = 0;

	for (int i = 0; i < 2; i++)
		sum += catcher(i + 1 - argc);
	return std::printf("%d\n", sum) < 0;
}
CC

damage() {		# NAME FILE SEED [every]
	"$edit" optimize "$2" -o "$work/gen" --all --shuffle="$3" --generation=1 &&
		"$mutate" "$2" "$work/gen" "${4:-$per_kind}" "$3" >"$work/out" || return 1
}

try() {			# NAME FILE SEED [every]
	if damage "$@"; then
		ok "every damage to $1 is refused or harmless"
	else
		not_ok "every damage to $1 is refused or harmless"
	fi
	cat "$work/out" 2>/dev/null
}

# The same by damage that does not know the Verifier; what is accepted is run.
try_foreign() {		# NAME FILE SEED
	mkdir -p "$work/ran"
	"$edit" optimize "$2" -o "$work/gen" --all --shuffle="$3" &&
		"${B:-build}/tests/verify/foreign" "$2" "$work/gen" "${FOREIGN:-1500}" "$3" "$work/ran" \
			>"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" -ge 100 ]
	if [ $? = 0 ]; then
		ok "foreign damage to $1 is refused, or runs the same"
	else
		not_ok "foreign damage to $1 is refused, or runs the same"
		note "$(cat "$work/err")"
	fi
}

# A section of less than 1 KiB ends about that much later.
lengthen() {		# FILE SECTION
	local at i
	at=$(readelf -hW "$1" | sed -n 's/.*Start of section headers: *\([0-9]*\) .*/\1/p')
	i=$(readelf -SW "$1" | sed -n "s/^ *\\[ *\\([0-9]*\\)\\] $2 .*/\\1/p")
	printf '\x04' | dd of="$1" bs=1 seek=$((at + 64 * i + 33)) conv=notrunc 2>/dev/null
}

try gzip /usr/bin/gzip 1
try sort /usr/bin/sort 2
if ${CC:-cc} -O2 -fno-inline -o "$work/made" "$work/made.c"; then
	try "a small program" "$work/made" 3
	try "a byte of a small program" "$work/made" 9 every
	try_foreign "a small program" "$work/made" 3
	${CC:-cc} -O2 -fno-inline -no-pie -fno-pie -o "$work/fixed" "$work/made.c"
	try "a small program at a fixed address" "$work/fixed" 4
fi
${CC:-cc} -O2 -o "$work/probes" tests/programs/probes.c && try "a program with probes" "$work/probes" 7
if ${CC:-cc} -O2 -fpie -pie -o "$work/threaded" "$work/threaded.c"; then
	try "an interpreter" "$work/threaded" 10
fi
if ${CC:-cc} -nostdlib -shared -o "$work/saved" tests/asm/savedvectors.s; then
	try "a library that saves vectors and masks" "$work/saved" 11
	try "a byte of a library that saves vectors and masks" "$work/saved" 9 every
fi
if ${CC:-cc} -nostdlib -shared -o "$work/beside" tests/asm/beside.s; then
	try "tables read from afar" "$work/beside" 12
	try "a byte of tables read from afar" "$work/beside" 9 every
fi
if ${CXX:-c++} -std=c++14 -w -O2 -fno-inline -o "$work/throws" "$work/throws.cc" 2>/dev/null; then
	try "a program that throws" "$work/throws" 5
	try_foreign "a program that throws" "$work/throws" 5
	try "a byte of a program that throws" "$work/throws" 9 every
	${CXX:-c++} -std=c++14 -w -O2 -fno-inline -no-pie -fno-pie -o "$work/fixed" "$work/throws.cc"
	try "one at a fixed address" "$work/fixed" 6
	lengthen "$work/gen" .morph.rodata
	"$verify" "$work/fixed" "$work/gen" 2>"$work/why"
	[ $? = 3 ] && grep -q "morph.rodata is not where" "$work/why" &&
		ok "exception tables whose section reaches into what follows are refused" || {
		not_ok "exception tables whose section reaches into what follows"; note "$(cat "$work/why")"; }
else
	skip "a program that throws" "no C++ compiler"
fi
done_testing
