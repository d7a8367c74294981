# moving.sh - sourced by the program tests: move every eligible function of a real program in an
# order made from a seed, and compare what the generation does with what the original did.
#
# A program runs from the same path before and after (its messages may name the path), in a folder
# that work/NAME.sh prepared; stdout, stderr and exit code must be the same byte for byte.
. tests/tap.sh

work=$(realpath tests/programs/work)
edit=$(realpath "${B:-build}")/morph-edit
verify=$(realpath "${B:-build}")/morph-verify
SEEDS=${SEEDS:-1 2}		# orders
MIN_MOVED=${MIN_MOVED:-85}		# per cent of the functions
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/bin" "$T/lib" "$T/work"

[ -x "$edit" ] || { not_ok "$edit is built"; done_testing; }

# The file behind a library's name, as the loader finds it; empty when there is none.
library() {		# SONAME
	local f
	f=$(ldconfig -p 2>/dev/null | awk -v n="$1" '$1 == n && /x86-64/ { print $NF; exit }')
	[ -n "$f" ] || f=$(ls /lib/x86_64-linux-gnu/"$1" /usr/lib/x86_64-linux-gnu/"$1" 2>/dev/null | head -n 1)
	[ -n "$f" ] && realpath "$f"
}

# The library of the newest version whose name fits, as releases differ in it.
newest() {		# SONAME-PATTERN
	local f
	for f in $(ldconfig -p 2>/dev/null | awk '/x86-64/ { print $1 }' | sort -Vru); do
		# shellcheck disable=SC2254	# a pattern
		case $f in $1) echo "$f"; return ;; esac
	done
}

stat_of() {		# NAME: from the last generation's statistics
	awk -v name="$1" '$1 == name { print $2 }' "$T/stats"
}

# A generation of FILE with every movable function moved, order by SEED; one test for making it,
# one for the verifier.  Fails when there is no generation: one that the verifier refuses still runs,
# so that the tests tell whether it was right.
move_all() {		# FILE OUT SEED
	local name="${1##*/} seed $3" out moved all
	rm -f "$2"
	if ! out=$("$edit" optimize "$1" --all --shuffle="$3" -o "$2" --stats "$T/stats" 2>&1); then
		not_ok "$name: optimize"
		note "$out"
		return 1
	fi
	all=$(stat_of functions) moved=$(stat_of functions_moved)
	if [ "${moved:-0}" -gt 0 ] && [ $((moved * 100)) -ge $((all * MIN_MOVED)) ]; then
		ok "$name: $moved of $all functions moved"
	else
		not_ok "$name: $moved of $all functions moved, fewer than $MIN_MOVED %"
	fi
	if out=$("$verify" "$1" "$2" 2>&1); then
		ok "$name: verified"
	else
		not_ok "$name: verify"
		note "$out"
	fi
	chmod +x "$2"
}

# Runs COMMAND in the work folder; leaves PREFIX.out, .err, .rc.
record_run() {		# PREFIX COMMAND...
	local p=$1
	shift
	(cd "$T/work" && "$@" >"$p.out" 2>"$p.err" </dev/null)
	echo $? >"$p.rc"
}

same_run() {		# NAME PREFIX PREFIX
	local part bad=
	for part in rc err out; do
		cmp -s "$2.$part" "$3.$part" || bad="$bad $part"
	done
	if [ -z "$bad" ]; then
		ok "$1: same output"
		return
	fi
	not_ok "$1: different:$bad"
	for part in $bad; do
		note "$(diff -a "$2.$part" "$3.$part" | head -n 10 | cut -c 1-200)"
	done
}

# A program under its own workload, for every seed.
test_program() {	# FILE WORKLOAD SIZE
	local file=$1 name=$2 seed
	if [ ! -x "$file" ]; then
		skip "$name" "this machine has no $file"
		return
	fi
	(cd "$T/work" && rm -rf ./* && "$work/$name.sh" prepare "$3" 7) || { not_ok "$name: prepare"; return; }
	cp "$file" "$T/bin/$name"
	record_run "$T/before" "$work/$name.sh" run "$T/bin/$name"
	for seed in $SEEDS; do
		move_all "$file" "$T/generation" "$seed" || continue
		mv -f "$T/generation" "$T/bin/$name"
		record_run "$T/after" "$work/$name.sh" run "$T/bin/$name"
		same_run "$name seed $seed" "$T/before" "$T/after"
	done
}

# A library, used by PROGRAM through LD_LIBRARY_PATH, under that program's workload.
test_library() {	# SONAME PROGRAM SIZE
	local file name=$2 seed
	file=$(library "$1")
	if [ -z "$file" ] || [ ! -x "/usr/bin/$name" ]; then
		skip "$1 under $name" "this machine lacks one of them"
		return
	fi
	(cd "$T/work" && rm -rf ./* && "$work/$name.sh" prepare "$3" 7) || { not_ok "$name: prepare"; return; }
	cp "/usr/bin/$name" "$T/bin/$name"
	cp "$file" "$T/lib/$1"
	record_run "$T/before" env LD_LIBRARY_PATH="$T/lib" "$work/$name.sh" run "$T/bin/$name"
	for seed in $SEEDS; do
		if [ ! -e "$T/$1.$seed" ]; then
			move_all "$file" "$T/$1.$seed" "$seed" || continue
		fi
		cp "$T/$1.$seed" "$T/lib/$1.new" && mv -f "$T/lib/$1.new" "$T/lib/$1"
		record_run "$T/after" env LD_LIBRARY_PATH="$T/lib" "$work/$name.sh" run "$T/bin/$name"
		same_run "$1 seed $seed under $name" "$T/before" "$T/after"
	done
	rm -f "$T/lib/$1"
}
