#!/bin/bash
# mutation.sh [-s SEED] [-n NUMBER] [-j JOBS] [FOLDER...] - do the tests notice when the code is wrong?
#
# Changes the sources below FOLDERs (all of the product by default) at NUMBER (200) places that SEED
# chooses, one at a time, each as tests/mutation/mutant.c can, and runs the tests on each: first the
# unit test of the same name, then every other unit test that links the object and the shell tests that
# tests/mutation/shell names for the folder, those of the same folder and the quick ones first.  The first
# that fails has noticed; so has one that needs four times as long as without a change.  It must pass
# without the change right afterwards, under the load that there is then, or it has noticed nothing.
# What does not compile, and what the compiler makes the same code of, is drawn again.
#
# A mutant costs one compilation, and a link for each test: what `make` has built is never changed, the
# commands are those of `make -n` with the changed object in front of the archives.
#
# The report, mutation.md in bench/results, has a section for each choice of FOLDERs, the last run's.  In
# it is all that was noticed by nothing.  A survivor that cannot be noticed, because it changes nothing
# that anybody could see, is listed with the reason in tests/mutation/equivalent, and is counted apart.
#
# Changed code runs as the caller, who may be root: each worker has its own mount and process
# namespaces, in which it can write the workers' folder and a /tmp and /var/tmp of its own.  Hours.
#
#	MUTATION_WORK	where the workers' trees lie, default /var/tmp/morph-mutation, 1 GB each
#	MUTATION_LONGEST	leaves out tests that take more SECONDS without a change; AGAIN=1 without it
#			runs them on what is left
#	KEEP=1		goes on where a run with the same SEED and FOLDERs was stopped; of another run only what
#			was built is used, and what the tests take, unless the sources have changed
#	AGAIN=1		tries only what the same SEED and FOLDERs left unnoticed, after tests were written for
#			it; the report has both figures.  Sources of the product may not have changed since
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
		mount -t tmpfs -o size=256m tmpfs /dev/shm && limit_processes
}

# A change can make a program fork without end, and root has no other limit of its own: this worker and all
# that it starts are so many at most.  The controller is in the one hierarchy of groups, or in one of its own.
limit_processes() {
	local at=/tmp/cgroup group
	mkdir "$at" && mount -t cgroup2 none "$at" || return 1
	if grep -qw pids "$at/cgroup.controllers"; then
		echo +pids >"$at/cgroup.subtree_control" || return 1
	else
		umount "$at" && mount -t cgroup -o pids none "$at" || return 1
	fi
	rmdir "$at"/morph-mutation-* 2>/dev/null	# of runs that have ended; others are not empty
	for _ in 1 2 3; do			# until we are in it another worker may remove it
		group=$(mktemp -d "$at/morph-mutation-XXXXXX") && echo 1000 >"$group/pids.max" &&
			echo $BASHPID >"$group/cgroup.procs" && return
	done 2>/dev/null
	return 1
}

# In a process namespace, where a wild kill() ends with it; at most SECONDS of processor time for each
# process, and of time where nothing else runs.  A test of which parts fail without a change does as it
# did then: none else fails.
run_test() {		# PROGRAM SECONDS
	local known=$trees/failing/${1//\//_} rc
	(ulimit -S -t "$2" && B=build CC="$cc" exec unshare --pid --fork --kill-child --mount-proc \
		timeout --kill-after=5 $(($2 * $(crowd))) "$1") >/tmp/out 2>&1 </dev/null
	rc=$?
	if [ -e "${known%.mutant}" ]; then
		[ $rc -lt 124 ] && [ "$(outcomes | grep -vxFf "${known%.mutant}")" = "" ]
	else
		[ $rc = 0 ] && ! grep -q '^not ok' /tmp/out
	fi
}

crowd() {		# how many want to run on each processor, and one more; what takes that much longer than 20
			# times is not waited for, whoever is to blame
	awk -v cpus="$(nproc)" '{ n = int($1 / cpus) + 2; print n < 20 ? n : 20 }' /proc/loadavg
}

# Which tests passed is without interest where those that failed before are left out; how many there are is not.
outcomes() {
	grep '^not ok' /tmp/out
	grep -Ec '^(not )?ok' /tmp/out
}

# The command with which make builds a file.
command_of() {		# FILE
	awk -v end=" -o $1" 'substr($0, length($0) - length(end) + 1) == end' "$trees/commands"
}

# A program with the changed object, as FILE.mutant; 1: it cannot be linked.
link_changed() {	# FILE OBJECT
	local link
	link=$(command_of "$1")
	case " $link " in
	*" $2 "*) link=${link/ "$2" / /tmp/mutant.o } ;;
	*) link=${link/ build\// /tmp/mutant.o build/} ;;
	esac
	sh -c "${link% -o *} -o $1.mutant" >/tmp/link.log 2>&1
}

# Lines "PROGRAM SOURCE...": what each program is linked from.
links() {
	local t
	sed -n '/ -c /!s/.* -o \(build[^ ]*\)$/\1/p' "$trees/commands" | while read -r t; do
		[ -x "$t" ] && echo "$t $(readelf -sW "$t" | awk '$4 == "FILE" { printf "%s ", $8 }')"
	done
}

# Programs that are linked from a file; of the files that are called main.c each program has its own.
linked_from() {		# FILE
	case $1 in
	*/main.c) sed -n "s|.* build/${1%.c}\\.o .* -o ||p" "$trees/commands" ;;
	*)
		awk -v file="$(basename "$1")" '
			{ for (i = 2; i <= NF; i++) if ($i == file) { print $1; next } }' "$trees/links" ;;
	esac
}

# Lines "TEST MILLISECONDS" of the tests that run a file's code, its own first, then the quick ones and
# those of its folder; without those that fail without a change.  No time: not run yet; shell tests then last.
tests_of() {		# FILE
	{
		linked_from "$1" | grep '/test_[^/]*$'
		awk -v file="$1" '
			!/^#/ && index(file, $1) == 1 { for (i = 2; i <= NF; i++) print $i }' tests/mutation/shell
	} | awk -v dir="build/tests/unit/$(dirname "$1")/" -v own="test_$(basename "$1" .c)" -v took="$trees/took" \
		-v longest="$((${MUTATION_LONGEST:-36000} * 1000))" '
		BEGIN {
			while ((getline line < took) > 0)
				if (split(line, w, " ") == 2)
					ms[w[1]] = w[2]
		}
		ms[$1] != "fails" && ms[$1] + 0 <= longest {
			near = index($1, dir) == 1
			known = $1 in ms ? ms[$1] : $1 ~ /^build/ ? 1000 : 60000
			print ($1 == dir own ? -1 : near ? known / 10 : known), $1, ms[$1]
		}' | sort -n | cut -d ' ' -f 2-
}

# Runs a test without a change, unless it has been or the other worker does so: "TEST MILLISECONDS" in took.
survey() {		# TEST
	flock "$trees/lock-$(basename "$1")" "$0" survey "$trees" "$cc" "$1" "$PWD"
}

survey_one() {		# TEST
	local start known=$trees/failing/${1//\//_}
	grep -q "^$1 " "$trees/took" && return
	rm -f "$known"
	start=$(date +%s%3N)
	if ! run_test "$1" 900; then
		outcomes >"$known.new"
		mv "$known.new" "$known"
		echo "without a change: $1: $(head -n 1 "$known")" >&2
		start=$(date +%s%3N)
		run_test "$1" 900 || start=
	fi
	if [ -n "$start" ]; then
		echo "$1 $(($(date +%s%3N) - start))"
	else
		echo "$1 fails without a change, each time otherwise" >&2
		echo "$1 fails"
	fi >>"$trees/took"
}

# Does a unit test, or shell test, fail with the change and pass without?
notices() {		# TEST SECONDS OBJECT PROGRAM...
	local t=$1 seconds=$2 object=$3 p rc
	shift 3
	case $t in
	build/*)
		link_changed "$t" "$object" || return 0
		run_test "$t.mutant" "$seconds" ;;
	*)
		for p in "$@"; do # with the same time: make sees no change
			[ -e "$p.mutant" ] || link_changed "$p" "$object" || return 0
			mv "$p" "$p.pristine" && cp "$p.mutant" "$p"
		done
		run_test "$t" "$seconds" ;;
	esac
	rc=$?
	put_back
	[ $rc != 0 ] || return 1
	run_test "$t" "$seconds" && return 0
	echo "$t fails without a change, too" >&2
	sed -i "\\|^$t |d" "$trees/took"
	survey "$t"
	return 1
}

# The programs as make has built them.
put_back() {
	local p
	find build -name '*.pristine' | while read -r p; do mv "$p" "${p%.pristine}"; done
}

# Prints the test that notices, or `nothing`.
who_notices() {		# FILE
	local t took programs
	mapfile -t programs < <(linked_from "$1" | grep -Ev '/test_[^/]*$|^build/(bench|tests/(fuzz|torture))/')
	while read -r t took; do
		if [ -z "$took" ]; then
			survey "$t"
			took=$(sed -n "s|^$t ||p" "$trees/took")
			[ "$took" != fails ] && [ "$took" -le $((${MUTATION_LONGEST:-36000} * 1000)) ] || continue
		fi
		notices "$t" $((took / 250 + 20)) "build/${1%.c}.o" "${programs[@]}" || continue
		echo "$t"
		return
	done < <(tests_of "$1")
	echo nothing
}

# Compiles the changed file, which lies in its place only meanwhile: 1 not compiled, 2 the same code.
compile_changed() {	# FILE PLACE
	local object=build/${1%.c}.o compile
	compile=$(command_of "$object")
	cp -p "$1" /tmp/pristine.c
	build/tests/mutation/mutant apply /tmp/pristine.c "$2" >"$1"
	sh -c "${compile/ -MMD -MP/ } -o /tmp/mutant.o" >/tmp/compile.log 2>&1
	local rc=$?
	cp -p /tmp/pristine.c "$1"
	[ $rc = 0 ] || return 1
	objcopy -g "$object" /tmp/a.o && objcopy -g /tmp/mutant.o /tmp/b.o && ! cmp -s /tmp/a.o /tmp/b.o || return 2
}

# One line of results for a draw: number, file, line, kind, before, after, whole line, noticed by.
try_draw() {		# NUMBER FILE PLACE
	local by
	find build -name '*.mutant' -delete
	compile_changed "$2" "$3"
	case $? in
	1) by="(does not compile)" ;;
	2) by="(the same code)" ;;
	*) by=$(who_notices "$2") ;;
	esac
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$(build/tests/mutation/mutant show "$2" "$3")" "$by"
}

worker() {		# takes draws of the list until there are enough
	local number file place first
	enclose "$trees" && cd "$trees/tree$1" || die "no namespace for a worker"
	export TMPDIR=/tmp
	while [ "$(grep -cv '	([^	]*)$' "$run/results")" -lt "$wanted" ]; do
		number=$(flock "$run/lock" sh -c 'head -n 1 "$0"; sed -i 1d "$0"' "$run/left")
		[ -n "$number" ] || break
		read -r file place first < <(sed -n "$((number + 1))p" "$run/draws")
		try_draw "${first:-$number}" "$file" "$place" >>"$run/results"
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

# Brings the workers' trees to the sources as they are; a worker that was stopped may leave a change behind.
make_trees() {
	local j f now
	now="$cc $(git ls-files -z | xargs -0 sha256sum | sha256sum)"
	for f in "$trees"/tree*; do
		[ -d "$f/build" ] && (cd "$f" && put_back)
		[ "$now" != "$(cat "$trees/sources" 2>/dev/null)" ] || continue
		(cd "$f" && find . -path ./build -prune -o -type f -printf '%P\n') | # what is no more
			grep -vxFf <(git ls-files) | (cd "$f" && xargs -r -d '\n' rm -f)
	done
	for j in $(seq "$jobs"); do
		[ "$j" = 1 ] || [ -d "$trees/tree$j" ] || cp -a "$trees/tree1" "$trees/tree$j" || return 1
		mkdir -p "$trees/tree$j" || return 1
		while read -r f; do
			cmp -s "$f" "$trees/tree$j/$f" || cp --parents "$f" "$trees/tree$j" || return 1
		done < <(git ls-files)
		(cd "$trees/tree$j" && make -s CC="$cc" -j"$(nproc)" programs-for-check >"$trees/make.log" 2>&1) ||
			{ tail -n 20 "$trees/make.log"; return 1; }
	done
	touch "$trees/took"
	mkdir -p "$trees/failing"
	[ "$now" != "$(cat "$trees/sources" 2>/dev/null)" ] || return 0
	(cd "$trees/tree1" && make -nB CC="$cc" programs-for-check) | grep -- ' -o build/' >"$trees/commands"
	(cd "$trees/tree1" && links) >"$trees/links"
	while read -r f j; do # a changed test is timed again, and one that failed
		[ "$j" = fails ] || [ -e "$trees/failing/${f//\//_}" ] ||
			[ "$trees/tree1/$(source_of "$f")" -nt "$trees/sources" ] || echo "$f $j"
	done <"$trees/took" >"$trees/took.new"
	mv "$trees/took.new" "$trees/took"
	echo "$now" >"$trees/sources"
}

source_of() {		# TEST
	case $1 in
	build/*) echo "${1#build/}.c" ;;
	*) echo "$1" ;;
	esac
}

# Lines "FILE PLACE NUMBER": draws that nothing noticed and that could be, if their places are what they were.
draws_again() {
	local number file place kind goes comes whole
	while IFS='	' read -r number file _ kind goes comes whole _; do
		grep -qF "$file	$whole	$goes -> $comes	" tests/mutation/equivalent && continue
		read -r _ place < <(sed -n "$((number + 1))p" "$run/draws")
		[ "$("$trees/tree1/build/tests/mutation/mutant" show "$file" "$place" | cut -f 2-)" = \
			"$kind	$goes	$comes	$whole" ] ||
			die "$file: place $place is not what it was"
		echo "$file $place $number"
	done < <(grep '	nothing$' "$run/results")
}

# The results of a run, and of what was tried again.
report() {
	awk -F '\t' -v judged=tests/mutation/equivalent -v again="$run/again/results" '
	BEGIN {
		while ((getline line < judged) > 0)
			if (line !~ /^#/ && split(line, w, "\t") == 4)
				why[w[1] "\t" w[2] "\t" w[3]] = w[4]
		while ((getline line < again) > 0)
			if (split(line, w, "\t") == 8)
				now[w[1]] = w[8]
	}
	function place() {
		return "| " $2 ":" $3 " | " $4 " | `" $5 "` | `" $6 "` | `" $7 "` |"
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
			reasons = reasons place() " " why[key] " |\n"
		} else if ($1 in now && now[$1] != "nothing") {
			later[folder]++
			mended++
			mends = mends place() " " now[$1] " |\n"
		} else
			survivors = survivors place() "\n"
	}
	function part(k, n) {
		return n ? sprintf("%.0f %%", 100 * k / n) : "-"
	}
	function row(name, n, k, e, l) {
		return sprintf("| %s | %d | %d | %d | %s | %s |", name, n, e, k, part(k, n - e), part(k + l, n - e))
	}
	END {
		print "| folder | mutants | equivalent | noticed | of the others | with the tests written since |"
		print "|---|---|---|---|---|---|"
		for (f in tried)
			print row(f, tried[f], noticed[f], same[f], later[f]) | "sort"
		close("sort")
		print row("all", all, total, equal, mended)
		printf "\n%d draws more did not compile or were the same code.\n", drawn_again
		columns = "| place | kind | goes | comes | line |"
		print "\n### Noticed by nothing\n\n" columns "\n|---|---|---|---|---|"
		printf "%s", survivors
		if (mended) {
			print "\n### Noticed by the tests written since\n\n" columns " by |\n|---|---|---|---|---|---|"
			printf "%s", mends
		}
		if (equal) {
			print "\n### Equivalent\n\n" columns " why nobody can see it |\n|---|---|---|---|---|---|"
			printf "%s", reasons
		}
	}' "$run/results"
}

section() {		# FOLDER...
	echo "## $(echo "$*" | sed 's/ /, /g')"
	echo
	result_facts "$(env | grep -E '^(KEEP|AGAIN|MUTATION_LONGEST)=' | sort | tr '\n' ' ')tests/mutation/mutation.sh $command"
	echo "$(grep -cv '	([^	]*)$' "$run/results") mutants by chance, seed $seed, of $wanted asked for."
	[ ! -e "$run/again" ] || echo "What was unnoticed was tried again after tests were written for it (AGAIN=1)."
	[ ! -e "$run/longest" ] || echo "The first time without tests that take more than $(cat "$run/longest") seconds."
	echo
	awk '$2 == "fails" { print "* " $1 " fails without a change where workers run, and was left out." }' \
		"$trees/took"
	for t in "$trees"/failing/*; do
		[ ! -e "$t" ] || echo "* $(basename "$t"): fails without a change, and counts for no mutant:" \
			"$(sed -n 's/^not ok [0-9 -]*//p' "$t" | grep -v '^tests$' | paste -sd ',' | sed 's/,/, /g')"
	done
	echo
	report
}

# The report with this section in place of an older one of the same folders.
write_report() {	# FOLDER...
	local out=bench/results/mutation.md
	section "$@" >"$run/section"
	{
		echo "# Changes of the source that tests notice"
		echo
		echo "Made by \`tests/mutation/mutation.sh\`, which says how."
		echo
		cat "$run/section"
		[ ! -e "$out" ] || awk -v head="$(head -n 1 "$run/section")" '
			/^## / { other = $0 != head; if (other) print "" }
			other' "$out" | cat -s | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
	} >"$out.new" && mv "$out.new" "$out"
	cat "$out"
}

main() {
	local j
	case ${1:-} in
	worker) trees=$2 run=$3 wanted=$4 cc=$5 && worker "$6"; exit ;;
	survey) trees=$2 cc=$3 && cd "$5" && survey_one "$4"; exit ;;
	esac
	command=$*
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
	[ $# -gt 0 ] || set -- lib binary verify postmorph editor monitor policy manager live share
	[ "$(id -u)" = 0 ] || die "needs root, for the namespaces in which changed code runs"
	cc=${CC:-gcc} trees=$(realpath -m "${MUTATION_WORK:-/var/tmp/morph-mutation}")
	mapfile -t files < <(git ls-files -- "$@" | grep '\.c$')
	[ ${#files[@]} -gt 0 ] || die "no sources in: $*"
	[ "${KEEP:-}" = 1 ] || rm -rf "$trees"
	run=$trees/run-$seed-$(echo "$@" | tr -c 'a-z0-9\n' _)
	mkdir -p "$trees" && make_trees || die "the sources do not build"
	prepare_run
	todo=${AGAIN:+9999}
	trap 'kill -KILL $(jobs -p)' INT TERM # unshare ignores the others
	for j in $(seq "$jobs"); do
		unshare --mount --pid --fork --kill-child --mount-proc \
			"$0" worker "$trees" "$run${AGAIN:+/again}" "${todo:-$wanted}" "$cc" "$j" &
	done
	wait
	. bench/common.bash
	write_report "$@"
}

# The draws, and how far they are; those of other sources are no longer the same places.
prepare_run() {
	local now
	now=$(cat "${files[@]}" | sha256sum)
	if [ "${AGAIN:-}" = 1 ]; then
		[ -s "$run/results" ] || die "no run of seed $seed to try again"
		rm -rf "$run/again"
		mkdir "$run/again" && draws_again >"$run/again/draws" && : >"$run/again/results"
		all_left "$run/again"
		return
	fi
	[ "$now" = "$(cat "$run/sources" 2>/dev/null)" ] || rm -rf "$run"
	mkdir -p "$run" && touch "$run/results"
	[ -z "${MUTATION_LONGEST:-}" ] || echo "$MUTATION_LONGEST" >"$run/longest"
	if [ ! -s "$run/draws" ]; then
		draw "${files[@]}" >"$run/draws"
		echo "$now" >"$run/sources"
	fi
	all_left "$run"
}

# The numbers of the draws that have no result; those under way when a run was stopped are not lost:
# they are the ones that take long, because nothing notices.
all_left() {		# RUN
	seq 0 $(($(wc -l <"$1/draws") - 1)) | grep -vxFf <(cut -f 1 "$1/results") >"$1/left"
}

main "$@"; exit
