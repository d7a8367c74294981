#!/bin/bash
# mutation.sh [-s SEED] [-n NUMBER] [-j JOBS] [FOLDER...] - do the tests notice when the code is wrong?
#
# Changes the sources below FOLDERs (all of the product by default) at NUMBER (200) places that SEED
# chooses, one at a time, each as tests/mutation/mutant.c can, and runs the tests on each: first the
# unit test of the same name, then every other unit test that links the object, then the shell tests
# that tests/mutation/shell names for the folder.  The first that fails has noticed; so has one that
# takes ten times as long as without a change.  What does not compile, and what the compiler makes the
# same code of, is drawn again.
#
# The report, mutation.md in bench/results, has all that was noticed by nothing.  A survivor that cannot
# be noticed, because it changes nothing that anybody could see, is listed with the reason in
# tests/mutation/equivalent, and is then counted apart.
#
# Changed code runs as the caller, who may be root: each worker has its own mount and process
# namespaces, in which it can write the workers' folder and a /tmp and /var/tmp of its own.  Hours.
#
#	MUTATION_WORK	where the workers' trees lie, default /var/tmp/morph-mutation, 1 GB each
#	MUTATION_SHELL	0: without the shell tests
#	KEEP=1		goes on where a run with the same SEED and FOLDERs was stopped; of another run only what
#			was built is used, and what the tests take, unless the sources have changed
set -u
cd "$(dirname "$0")/../.." || exit 1
die() { echo "mutation: $*" >&2; exit 1; }

# --- inside: one worker, in namespaces of its own ---

# Everything but the workers' folder is read-only; /tmp, /var/tmp and /dev/shm are new.
enclose() {
	mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,ro,bind / &&
		mount -t tmpfs -o size=2g,mode=1777 tmpfs /tmp && mkdir /tmp/trees &&
		mount -n --move "$1" /tmp/trees && mount -t tmpfs -o size=2g,mode=1777 tmpfs /var/tmp &&
		mkdir -p "$1" && mount -n --move /tmp/trees "$1" && rmdir /tmp/trees &&
		mount -t tmpfs -o size=256m tmpfs /dev/shm
}

run_test() {		# PROGRAM SECONDS: in a process namespace, where a wild kill() ends with it
	B=build CC="$cc" unshare --pid --fork --kill-child --mount-proc \
		timeout --kill-after=5 "$2" "$1" >/tmp/out 2>&1 </dev/null && ! grep -q '^not ok' /tmp/out
}

make_quietly() { make -s CC="$cc" "$@" >/tmp/make.log 2>&1; }

# Lines "PROGRAM SOURCE...": what each unit test is linked from.
links() {
	local t
	for t in build/tests/unit/*/test_* build/tests/unit/*/*/test_*; do
		[ -f "$t" ] && [ -x "$t" ] || continue
		echo "$t $(readelf -sW "$t" | awk '$4 == "FILE" { printf "%s ", $8 }')"
	done
}

# The unit tests that are linked from a file, its own first, without those that fail without a change.
unit_tests_of() {	# FILE
	local name
	name=$(basename "$1" .c)
	awk -v file="$name.c" -v own="/test_$name" -v took="$trees/took" '
		BEGIN {
			while ((getline line < took) > 0)
				if (split(line, w, " ") == 2)
					ms[w[1]] = w[2]
		}
		{
			linked = 0
			for (i = 2; i <= NF; i++)
				linked = linked || $i == file
			first = substr($1, length($1) - length(own) + 1) == own
			if ((linked || first) && ms[$1] != "fails")
				print (first ? -1 : ms[$1] + 0), $1, ms[$1]
		}' "$trees/links" | sort -n | cut -d ' ' -f 2-
}

# Runs each test of a file that has not been run yet without a change: "PROGRAM MILLISECONDS" in took.
survey() {		# FILE
	local t took start
	while read -r t took; do
		[ -z "$took" ] || continue
		make_quietly "$t" || die "$t cannot be built"
		start=$(date +%s%3N)
		if run_test "$t" 600; then
			echo "$t $(($(date +%s%3N) - start))"
		else
			echo "$t fails without a change" >&2
			echo "$t fails"
		fi >>"$trees/took"
	done < <(unit_tests_of "$1")
}

# Which tests are to be run for a file, in order, with the seconds that each may take.
tests_of() {		# FILE
	unit_tests_of "$1" | awk '{ print $1, int($2 / 100) + 60 }'
	[ "${MUTATION_SHELL:-1}" = 0 ] || awk -v file="$1" '
		!/^#/ && index(file, $1) == 1 { for (i = 2; i <= NF; i++) print $i, 600 }' tests/mutation/shell
}

# Prints the test that notices, or `nothing`.
who_notices() {		# FILE
	local t seconds
	while read -r t seconds; do
		case $t in
		build/*) make_quietly "$t" || { echo "$t (cannot be built)"; return; } ;;
		*) make_quietly -j2 programs-for-shell || { echo "$t (cannot be built)"; return; } ;;
		esac
		run_test "$t" "$seconds" || { echo "$t"; return; }
	done < <(tests_of "$1")
	echo nothing
}

# The object of a changed file: 0 it is another one, 1 not compiled, 2 the same code.
compile_changed() {	# FILE
	local object=build/${1%.c}.o
	make_quietly "$object" || return 1
	objcopy -g /tmp/pristine.o /tmp/a.o && objcopy -g "$object" /tmp/b.o && ! cmp -s /tmp/a.o /tmp/b.o || return 2
}

# One line of results for a draw: number, file, line, kind, before, after, whole line, noticed by.
try_draw() {		# NUMBER FILE PLACE
	local by object=build/${2%.c}.o
	cp "$2" /tmp/pristine.c
	make_quietly "$object" || die "$2 does not compile any more"
	cp "$object" /tmp/pristine.o
	build/tests/mutation/mutant apply /tmp/pristine.c "$3" >"$2"
	compile_changed "$2"
	case $? in
	1) by="(does not compile)" ;;
	2) by="(the same code)" ;;
	*)
		restore "$2" && survey "$2" # only what has not been run yet
		build/tests/mutation/mutant apply /tmp/pristine.c "$3" >"$2"
		by=$(who_notices "$2")
		;;
	esac
	restore "$2"
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$(build/tests/mutation/mutant show /tmp/pristine.c "$3")" "$by"
}

# The object comes after its source, so that it is not compiled, and before whatever it is linked to.
restore() {		# FILE
	cp /tmp/pristine.c "$1" && cp /tmp/pristine.o "build/${1%.c}.o"
}

worker() {		# takes draws of the list until there are enough
	local number file place
	enclose "$trees" && cd "$trees/tree$1" || die "no namespace for a worker"
	export TMPDIR=/tmp
	while [ "$(grep -cv '	([^	]*)$' "$run/results")" -lt "$wanted" ]; do
		number=$(flock "$run/next" sh -c 'n=$(cat "$0"); echo $((n + 1)) >"$0"; echo $n' "$run/next")
		read -r file place < <(sed -n "$((number + 1))p" "$run/draws")
		[ -n "$file" ] || break
		try_draw "$number" "$file" "$place" >>"$run/results"
		tail -n 1 "$run/results" >&2
	done
}

# --- outside ---

# Three times as many draws as wanted: places by chance, each place of the code as likely.
draw() {		# FILE...
	local f n
	for f in "$@"; do
		n=$("$trees/tree1/build/tests/mutation/mutant" count "$f")
		[ "$n" = 0 ] || echo "$n $f"
	done | awk -v seed="$seed" -v n=$((3 * wanted)) '
		{ from[NR] = all; all += $1; file[NR] = $2 }
		END {
			srand(seed)
			while (n-- > 0) {
				k = int(rand() * all)
				for (i = NR; from[i] > k; i--) ;
				if (!seen[k]++)
					print file[i], k - from[i]
			}
		}'
}

# Brings the workers' trees to the sources as they are; a worker that was stopped leaves a change behind.
make_trees() {
	local j f now
	now="$cc $(git ls-files -z | xargs -0 sha256sum | sha256sum)"
	if [ "$now" != "$(cat "$trees/sources" 2>/dev/null)" ]; then
		rm -rf "$trees"/{took,links,run-*}
		for f in "$trees"/tree*; do # what is no more
			(cd "$f" && find . -path ./build -prune -o -type f -printf '%P\n') |
				grep -vxFf <(git ls-files) | (cd "$f" && xargs -r -d '\n' rm -f)
		done
	fi
	for j in $(seq "$jobs"); do
		mkdir -p "$trees/tree$j" || return 1
		while read -r f; do
			cmp -s "$f" "$trees/tree$j/$f" || cp --parents "$f" "$trees/tree$j" || return 1
		done < <(git ls-files)
		(cd "$trees/tree$j" && make -s CC="$cc" -j"$(nproc)" programs-for-check >"$trees/make.log" 2>&1) ||
			{ tail -n 20 "$trees/make.log"; return 1; }
	done
	[ -s "$trees/links" ] || (cd "$trees/tree1" && links) >"$trees/links"
	touch "$trees/took"
	echo "$now" >"$trees/sources"
}

report() {
	awk -F '\t' -v judged=tests/mutation/equivalent '
	BEGIN {
		while ((getline line < judged) > 0)
			if (line !~ /^#/ && split(line, w, "\t") == 4)
				why[w[1] "\t" w[2] "\t" w[3]] = w[4]
	}
	$8 ~ /^\(/ { drawn_again++; next }
	{
		folder = $2
		sub(/\/[^\/]*$/, "", folder)
		tried[folder]++
		all++
		key = $2 "\t" $7 "\t" $5 " -> " $6
		if ($8 != "nothing") {
			noticed[folder]++
			total++
		} else if (key in why) {
			same[folder]++
			equal++
			reasons = reasons "| " $2 ":" $3 " | `" $5 "` | `" $6 "` | " why[key] " |\n"
		} else
			survivors = survivors "| " $2 ":" $3 " | " $4 " | `" $5 "` | `" $6 "` | `" $7 "` |\n"
	}
	function row(name, n, k, e) {
		return sprintf("| %s | %d | %d | %d | %.0f %% |", name, n, k, e, n > e ? 100 * k / (n - e) : 100)
	}
	END {
		print "| folder | mutants | noticed | equivalent | noticed of the others |"
		print "|---|---|---|---|---|"
		for (f in tried)
			print row(f, tried[f], noticed[f], same[f]) | "sort"
		close("sort")
		print row("all", all, total, equal)
		printf "\n%d draws more did not compile or were the same code.\n", drawn_again
		print "\n## Noticed by nothing\n\n| place | kind | goes | comes | line |\n|---|---|---|---|---|"
		printf "%s", survivors
		print "\n## Equivalent\n\n| place | goes | comes | why nobody can see it |\n|---|---|---|---|"
		printf "%s", reasons
	}' "$run/results"
}

main() {
	local j
	if [ "${1:-}" = worker ]; then
		trees=$2 run=$3 wanted=$4 cc=$5
		worker "$6"
		exit
	fi
	seed=1 wanted=200 jobs=2
	while getopts s:n:j: option; do
		case $option in
		s) seed=$OPTARG ;;
		n) wanted=$OPTARG ;;
		j) jobs=$OPTARG ;;
		*) die "mutation.sh [-s SEED] [-n NUMBER] [-j JOBS] [FOLDER...]" ;;
		esac
	done
	shift $((OPTIND - 1))
	[ $# -gt 0 ] || set -- lib binary verify postmorph editor monitor policy manager
	[ "$(id -u)" = 0 ] || die "needs root, for the namespaces in which changed code runs"
	cc=${CC:-gcc} trees=$(realpath -m "${MUTATION_WORK:-/var/tmp/morph-mutation}")
	mapfile -t files < <(git ls-files -- "$@" | grep '\.c$')
	[ ${#files[@]} -gt 0 ] || die "no sources in: $*"
	[ "${KEEP:-}" = 1 ] || rm -rf "$trees"
	run=$trees/run-$seed-$(echo "$@" | tr -c 'a-z0-9\n' _)
	mkdir -p "$trees" && make_trees || die "the sources do not build"
	mkdir -p "$run" && touch "$run/results"
	if [ ! -s "$run/draws" ]; then
		draw "${files[@]}" >"$run/draws"
		echo 0 >"$run/next"
	fi
	for j in $(seq "$jobs"); do
		unshare --mount --pid --fork --kill-child --mount-proc \
			"$0" worker "$trees" "$run" "$wanted" "$cc" "$j" &
	done
	wait

	. bench/common.bash
	result mutation "Changes of the source that tests notice"
	echo "$(grep -cv '	([^	]*)$' "$run/results") mutants by chance (seed $seed) in: $*"
	[ "${MUTATION_SHELL:-1}" = 1 ] || echo "By unit tests alone, without shell tests (MUTATION_SHELL=0)."
	echo
	awk '$2 == "fails" { print "* " $1 " fails without a change where workers run, and was left out." }' \
		"$trees/took"
	echo
	report
	result_end
}
main "$@"; exit
