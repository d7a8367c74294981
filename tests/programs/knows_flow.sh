#!/bin/bash
# knows_flow.sh - programs that know where control goes on: behind a trap that a handler skips, behind
# an instruction that faults, behind the return that follows a call, behind data; and one that jumps
# over bytes
#
# Each of tests/programs/knows/flow_*.c prints the same as it is, with all functions moved in some
# orders, while it counts, and laid out by those counts.  KNOWS=full: built in every way.
SEEDS=${SEEDS:-1 2 3} MIN_MOVED=1
. tests/moving.sh
from=$(realpath tests/programs/knows)

# By what the original did, from the counts of a run of it.  All passes, for a processor for which that is
# worth it: one of them puts prefixes in front of instructions.
by_profile() {		# NAME
	local out
	if ! out=$("$edit" instrument "$T/original" -o "$T/bin/it.new" --counts "$T/counts" 2>&1); then
		not_ok "$1: instrument"
		note "$out"
		return
	fi
	mv -f "$T/bin/it.new" "$T/bin/it" && chmod +x "$T/bin/it"
	record_run "$T/after" "$T/bin/it"
	same_run "$1 counting" "$T/before" "$T/after"
	if ! out=$("$edit" counts "$T/original" "$T/counts" -o "$T/profile" 2>&1 &&
		"$edit" optimize "$T/original" --profile "$T/profile" -o "$T/bin/it.new" \
			--passes=fluff,leave,align,layout,calls,lines --processor=zen4 2>&1 &&
		"$verify" "$T/original" "$T/bin/it.new" 2>&1); then
		not_ok "$1: laid out by its profile"
		note "$out"
		return
	fi
	mv -f "$T/bin/it.new" "$T/bin/it" && chmod +x "$T/bin/it"
	record_run "$T/after" "$T/bin/it"
	same_run "$1 by its profile" "$T/before" "$T/after"
}

try() {			# NAME COMPILER FLAGS...
	local name=$1 what seed
	shift
	what="$name $*"
	"$@" -w -o "$T/original" "$from/$name.c" 2>"$T/e" || { not_ok "$what: build"; note "$(cat "$T/e")"; return; }
	cp "$T/original" "$T/bin/it"
	record_run "$T/before" timeout 20 "$T/bin/it"
	[ "$(cat "$T/before.rc")" = 0 ] || { not_ok "$what: runs"; return; }
	for seed in $SEEDS; do
		move_all "$T/original" "$T/generation" "$seed" || continue
		mv -f "$T/generation" "$T/bin/it"
		record_run "$T/after" timeout 20 "$T/bin/it"
		same_run "$what seed $seed" "$T/before" "$T/after"
	done
	by_profile "$what"
}

# Without KNOWS=full three ways, and below a static program.
ways() {
	if [ "${KNOWS:-}" = full ]; then
		for level in -O0 -O1 -O2 -O3 -Os; do
			for link in "-fpie -pie" "-fno-pie -no-pie" "-fno-pie -static"; do
				echo "$level $link"
			done
		done
	else
		echo "-O0 -fpie -pie"
		echo "-O2 -fpie -pie"
		echo "-Os -fno-pie -no-pie"
	fi
}

for cc in ${COMPILERS:-gcc clang}; do
	command -v "$cc" >/dev/null || { skip "$cc" "this machine has none"; continue; }
	for source in "$from"/flow_*.c; do
		name=${source##*/}
		while read -r flags; do
			# shellcheck disable=SC2086	# several
			try "${name%.c}" "$cc" $flags
		done < <(ways)
	done
done
# A function of the linker's own library that comes back elsewhere; and programs that hold all of libc.
if [ "${KNOWS:-}" != full ]; then
	for source in "$from"/flow_*.c; do
		name=${source##*/}
		try "${name%.c}" gcc -O1 -fno-pie -static
	done
fi
if gcc -fsplit-stack -O2 -w -o "$T/split" "$from/flow_return.c" 2>/dev/null && "$T/split" >/dev/null; then
	try flow_return gcc -O2 -fsplit-stack
	try flow_return gcc -O0 -fsplit-stack -static
else
	skip "-fsplit-stack" "the linker does not know it"
fi
done_testing
