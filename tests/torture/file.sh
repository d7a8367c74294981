#!/bin/bash
# file.sh DIGEST SIZE KIND RUNTIMES EXEC_BYTES COPIES PATH - everything the Editor can do to one file
#
# Analyses it, makes generations in layout order and in every order of $ORDERS (common.bash), verifies each,
# and writes one line of KEY=VALUE fields, divided by tabs, to $RESULTS/DIGEST:
#
#	path size kind runtimes exec copies setid	what it is
#	answer		moved | refused | failed
#	reason		why it was refused, without numbers and the path
#	text fde functions movable movable_bytes tables unproven
#			from analyse
#	pointers_known pointers_unknown	movable functions to which all pointers are known, or not
#	jumps		KIND:JUMPS;... what is known of the indirect jumps
#	skip		REASON:FUNCTIONS:BYTES;... why functions stay
#	moved moved_bytes layout grown	functions, their bytes, A, B or C, growth of the file
#	an op ve	CPU ms of analyse, and the most of optimize and of verify
#	an_kib op_kib ve_kib	resident memory likewise
#	orders		in how many orders it was moved and verified
#	faults		KIND:STEP:MESSAGE;... KIND is crash, time-out, failure, verifier, silent
#
# Nothing is written when the job is stopped: the file is then done again by the next run.
set -u
. tests/torture/common.bash
digest=$1 size=$2 kind=$3 runtimes=$4 exec=$5 copies=$6 path=$7
T=$(mktemp -d "$TORTURE_TMP/job.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 1' INT TERM
faults=

clean() {		# one line of text as a value
	tr '\t\n;' '  ,' | sed 's/ *$//' | cut -c 1-300
}

fault() {		# KIND STEP
	faults="$faults$1:$2:$(sed -E "s/^morph-[a-z]*(-[0-9a-f]+)?: //; s|^'[^']*': ||" "$T/err" | head -n 1 | clean | tr ':' ' ');"
}

# Runs the Editor or the Verifier; leaves its end in $end, its cost in $cpu and $kib.  What is neither
# success nor a refusal with one line of reason is a fault.
step() {		# STEP COMMAND...
	local name=$1
	shift
	"$LIMITED" "$TORTURE_CPU" "$TORTURE_MEM" "$@" 3>"$T/out" 2>"$T/err" >"$T/end"
	read -r end cpu kib <"$T/end" || end=lost cpu=0 kib=0
	case $end in
	0)	return 0 ;;
	3)	[ "$(wc -l <"$T/err")" = 1 ] || fault silent "$name" ;;
	signal-2 | signal-15) exit 1 ;;		# the run is being stopped
	time-out | signal-24 | signal-9) fault time-out "$name" ;;
	signal-*) fault crash "$name" ;;
	*)	if grep -q 'CPU time limit' "$T/err"; then
			fault time-out "$name"
		elif grep -q -e 'died of signal' -e 'out of memory' "$T/err"; then
			fault crash "$name"
		else
			fault failure "$name"
		fi ;;
	esac
	return 1
}

number() {		# NAME: the first field of that name in the JSON of analyse
	sed -nE "s/.*\"$1\": ([0-9]+).*/\1/p" "$T/json" | head -n 1
}

entries() {		# NAME: of the functions that can be moved, to how many pointers are NAME
	sed -nE "s/.*\"to\": \"entry\".*\"$1\": ([0-9]+).*/\1/p" "$T/json"
}

# What this script and analyse call the same thing by.
numbers_missing() {
	local name
	for name in text_bytes fde_bytes functions movable movable_bytes jump_tables unproven_jumps; do
		[ -n "$(number $name)" ] || echo "$name"
	done
	for name in known unknown; do
		[ -n "$(entries $name)" ] || echo "pointers $name"
	done
}

# The kinds of indirect jumps, in one value.
jump_kinds() {
	sed -nE 's/.*"kind": "([^"]*)", "jumps": ([0-9]+).*/\1:\2/p' "$T/json" | tr '\n' ';'
}

reason=
refused() {
	reason=$(sed -E "s/^morph-[a-z]*(-[0-9a-f]+)?: //; s|^'[^']*': ||; s/(^| )(0x[0-9a-f]+|[0-9]+)( |:|\$)/\1N\3/g" "$T/err" |
		head -n 1 | clean)
}

setid=0
[ -u "$path" ] || [ -g "$path" ] && setid=1
answer=failed
skip= moved= moved_bytes= layout= grown= orders=0 op=0 ve=0 op_kib=0 ve_kib=0

greater() { [ "$1" -gt "$2" ] && echo "$1" || echo "$2"; }

# One order; false when there is no verified generation.
move() {		# ORDER
	local order=$1
	order_options "$order" "$path" "$T" || { fault failure "profile $order"; return 1; }
	step "optimize $order" "$EDIT" optimize "$path" -o "$T/gen" --stats "$T/stats" "${order_options[@]}" || return 1
	op=$(greater "$op" "$cpu") op_kib=$(greater "$op_kib" "$kib")
	if [ -z "$moved" ]; then
		moved=$(awk '$1 == "functions_moved" { print $2 }' "$T/stats")
		moved_bytes=$(awk '$1 == "original_bytes" { print $2 }' "$T/stats")
		layout=$(awk '$1 == "layout" { print $2 }' "$T/stats")
		grown=$(($(stat -c %s "$T/gen") - size))
	fi
	step "verify $order" "$VERIFY" "$path" "$T/gen"
	local rc=$?
	[ "$end" = 3 ] && fault verifier "verify $order"
	ve=$(greater "$ve" "$cpu") ve_kib=$(greater "$ve_kib" "$kib")
	return $rc
}

# By a profile that chance made, perhaps nothing that can be moved did.
nothing_ran() {		# ORDER
	[ "${1#p}" != "$1" ] && grep -qE 'no function with samples (can be moved|is worth moving)' "$T/err"
}

# A refusal by optimize is an answer too; what was refused in one order is not moved in another.
move_all() {
	local order
	if move layout; then
		answer=moved orders=1
		for order in $ORDERS; do
			if move "$order"; then
				orders=$((orders + 1))
			elif [ "$end" = 3 ] && [ -z "$faults" ] && ! nothing_ran "$order"; then
				fault failure "optimize $order"
			fi
		done
	elif [ "$end" = 3 ] && [ -z "$faults" ]; then
		answer=refused
		refused
	fi
}

if step analyse "$EDIT" analyze --json "$path"; then
	cp "$T/out" "$T/json"
	an=$cpu an_kib=$kib
	skip=$(sed -nE 's/.*"reason": "([^"]*)", "functions": ([0-9]+), "bytes": ([0-9]+).*/\1:\2:\3/p' \
		"$T/json" | grep -v '^movable:' | tr '\n' ';')
	numbers_missing >"$T/err"
	[ ! -s "$T/err" ] || fault silent analyse
	move_all
else
	an=$cpu an_kib=$kib
	: >"$T/json"
	if [ "$end" = 3 ]; then
		answer=refused
		refused
		if step "optimize layout" "$EDIT" optimize "$path" --all -o "$T/gen"; then
			fault silent "optimize layout"
		elif [ "$end" = 3 ]; then
			first=$reason
			refused
			[ "$first" = "$reason" ] || fault failure "optimize layout"
		fi
	fi
fi
[ -z "$faults" ] || answer=failed

{
	printf 'path=%s\tsize=%s\tkind=%s\truntimes=%s\texec=%s\tcopies=%s\tsetid=%s\tanswer=%s\treason=%s' \
		"$path" "$size" "$kind" "$runtimes" "$exec" "$copies" "$setid" "$answer" "$reason"
	printf '\ttext=%s\tfde=%s\tfunctions=%s\tmovable=%s\tmovable_bytes=%s\ttables=%s\tunproven=%s\tpointers_known=%s\tpointers_unknown=%s\tjumps=%s\tskip=%s' \
		"$(number text_bytes)" "$(number fde_bytes)" "$(number functions)" "$(number movable)" \
		"$(number movable_bytes)" "$(number jump_tables)" "$(number unproven_jumps)" "$(entries known)" \
		"$(entries unknown)" "$(jump_kinds)" "$skip"
	printf '\tmoved=%s\tmoved_bytes=%s\tlayout=%s\tgrown=%s' "$moved" "$moved_bytes" "$layout" "$grown"
	printf '\tan=%s\top=%s\tve=%s\tan_kib=%s\top_kib=%s\tve_kib=%s\torders=%s\tfaults=%s\n' \
		"$an" "$op" "$ve" "$an_kib" "$op_kib" "$ve_kib" "$orders" "$faults"
} >"$T/line"
mv "$T/line" "$RESULTS/$digest"
