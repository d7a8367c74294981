#!/bin/bash
# run.sh TEST... - run test programs, sum up their TAP
#
# Runs JOBS at a time (CPUs + 2, as many tests wait for something), each with at most TIMEOUT seconds:
# 600 where nothing else runs, and as many times more as there are others for each CPU when it begins.
# A test with a line `# run.sh: timed` measures what share of the CPUs it gets, or how long it takes:
# while it runs there is one test for each CPU, itself included, and such tests begin first, one after
# the other.  One with a line `# run.sh: waits` hardly uses a CPU, and two of them are one job: those
# begin next, as many at a time as there are jobs beyond CPUs, so that they do not come together at the
# end.  Every test prints a plan 1..N and N lines `ok` or `not ok`; `# SKIP reason` marks a skip.  A
# crash, a time-out, a missing plan and a plan that does not fit the lines are failures of their own.
# Ends with the skips and their reasons, the failures with what else was said than `ok`, and the line
# `N passed, N failed, N skipped`.
set -u
TIMEFORMAT='%U %S'
cpus=$(nproc)
jobs=${JOBS:-$((cpus + 2))}
export B=${B:-build}
out=$(mktemp -d "${TMPDIR:-/tmp}/morph-check.XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT

seconds() {		# the load counts processes that run or want to
	awk -v cpus="$(nproc)" '{ busy = $1 / cpus; printf "%d", 600 * (busy > 1 ? busy : 1) }' /proc/loadavg
}

run_one() {		# NUMBER PROGRAM
	local log=$out/$1 start=$SECONDS rc limit
	limit=${TIMEOUT:-$(seconds)}
	{ time timeout --kill-after=10 "$limit" "$2" >"$log.out" 2>&1 </dev/null; } 2>"$log.cpu"
	rc=$?
	LC_ALL=C awk -v name="$2" -v rc=$rc -v limit="$limit" -v base="$log" '
	/^1\.\.[0-9]+/ { plan += substr($0, 4) + 0; planned = 1 }
	/^(not )?ok( |$)/ {
		seen++
		if (toupper($0) ~ /# *SKIP/) {
			skipped++
			why = $0
			sub(/^(not )?ok *[0-9]* *-? */, "", why)
			print name ": " why >(base ".skips")
		} else if ($1 == "ok")
			passed++
		else {
			failed++
			print name ": " $0 >(base ".failures")
		}
	}
	function broken(why) {
		failed++
		print name ": " why >(base ".failures")
	}
	END {
		if (rc == 124 || rc == 137)
			broken("not finished after " limit " s, or killed")
		else if (rc > 128)
			broken("died of signal " rc - 128)
		else if (!planned)
			broken("no plan (exit code " rc ")")
		else if (plan != seen)
			broken("planned " plan " tests, ran " seen + 0)
		else if (rc != 0 && !failed)
			broken("exit code " rc)
		print passed + 0, failed + 0, skipped + 0 >(base ".sum")
	}' "$log.out"
	read -r p f s <"$log.sum"
	# at once, as others end at the same time
	printf '%-5s %s (%d passed%s%s, %d s, %s s of CPU time)\n' "$([ "$f" = 0 ] && echo ok || echo FAIL)" "$2" "$p" \
		"$([ "$f" = 0 ] || echo ", $f failed")" "$([ "$s" = 0 ] || echo ", $s skipped")" \
		$((SECONDS - start)) "$(awk '{ printf "%.0f", $1 + $2 }' "$log.cpu")"
}

n=0
timed=() waits=() others=()		# numbers of tests that have not begun
declare -A name=() running=()		# by number; by process: the list's name
for t in "$@"; do
	n=$((n + 1))
	name[$n]=$t
	case $([[ $t = *.sh ]] && grep -m 1 -x '# run\.sh: [a-z]*' "$t") in
	*timed) timed+=("$n") ;;
	*waits) waits+=("$n") ;;
	*) others+=("$n") ;;
	esac
done

count() {		# KIND: how many of it run
	local k sum=0
	for k in "${running[@]}"; do [ "$k" != "$1" ] || sum=$((sum + 1)); done
	echo "$sum"
}

# The kind of test to begin now; nothing where one has to end first.
next() {
	local room=$((jobs - ${#running[@]} + $(count waits) / 2))
	if [ ${#timed[@]} -gt 0 ] || [ "$(count timed)" -gt 0 ]; then
		[ ${#running[@]} -lt "$cpus" ] || return
		[ "$(count timed)" -gt 0 ] || { echo timed; return; }
	elif [ "$room" -gt 0 ] && [ ${#waits[@]} -gt 0 ] &&
	     [ ${#others[@]} = 0 -o "$(count waits)" -lt $((jobs - cpus)) ]; then
		echo waits
		return
	fi
	[ "$room" -le 0 ] || [ ${#others[@]} = 0 ] || echo others
}

while [ $((${#timed[@]} + ${#waits[@]} + ${#others[@]})) -gt 0 ]; do
	kind=$(next)
	if [ -n "$kind" ]; then
		declare -n list=$kind
		run_one "${list[0]}" "${name[${list[0]}]}" &
		running[$!]=$kind
		list=("${list[@]:1}")
	else
		wait -n -p ended
		unset "running[$ended]"
	fi
done
wait

for i in $(seq "$n"); do
	[ -e "$out/$i.skips" ] && cat "$out/$i.skips"
done >"$out/skips"
[ -s "$out/skips" ] && { echo; echo "skipped:"; sed 's/^/  /' "$out/skips"; }
for i in $(seq "$n"); do
	[ -e "$out/$i.failures" ] || continue
	echo
	echo "failed:"
	sed 's/^/  /' "$out/$i.failures"
	echo "  output, last 60 lines but for what passed, and how it ended:"
	LC_ALL=C awk '{ last = $0; fine = /^ok / } !fine; END { if (fine) print last }' "$out/$i.out" | tail -n 60 | sed 's/^/    /'
done
echo
for i in $(seq "$n"); do
	cat "$out/$i.sum" 2>/dev/null || echo 0 1 0
done | awk '
	{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
