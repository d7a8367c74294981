#!/bin/bash
# run.sh TEST... - run test programs, sum up their TAP
#
# Runs JOBS at a time (CPUs + 1, as many tests wait for something), each with at most TIMEOUT seconds:
# 600 where nothing else runs, and as many times more as there are others for each CPU when it begins.
# A test with a line `# run.sh: 2 jobs` takes the place of two: one that measures what share of the
# CPUs it gets, or how long it takes, so that no more tests run beside it than there are CPUs.  Every test prints a plan 1..N
# and N lines `ok` or `not ok`; `# SKIP reason` marks a skip.  A crash, a time-out, a missing plan
# and a plan that does not fit the lines are failures of their own.  Ends with the skips and their
# reasons, the failures and their output, and the line `N passed, N failed, N skipped`.
set -u
TIMEFORMAT='%U %S'
jobs=${JOBS:-$(($(nproc) + 1))}
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
	awk -v name="$2" -v rc=$rc -v limit="$limit" -v base="$log" '
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
	printf '%-5s %s (%d passed' "$([ "$f" = 0 ] && echo ok || echo FAIL)" "$2" "$p"
	[ "$f" = 0 ] || printf ', %d failed' "$f"
	[ "$s" = 0 ] || printf ', %d skipped' "$s"
	echo ", $((SECONDS - start)) s, $(awk '{ printf "%.0f", $1 + $2 }' "$log.cpu") s of CPU time)"
}

n=0 used=0
declare -A places		# by process
for t in "$@"; do
	n=$((n + 1))
	case $t in
	*.sh) need=$(sed -n 's/^# run\.sh: \([0-9]\) jobs$/\1/p' "$t" | head -n 1) ;;
	*) need= ;;
	esac
	need=${need:-1}
	while [ "$used" -gt 0 ] && [ $((used + need)) -gt "$jobs" ]; do
		wait -n -p ended
		used=$((used - places[$ended]))
	done
	run_one "$n" "$t" &
	places[$!]=$need
	used=$((used + need))
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
	echo "  output, last 60 lines:"
	tail -n 60 "$out/$i.out" | sed 's/^/    /'
done
echo
for i in $(seq "$n"); do
	cat "$out/$i.sum" 2>/dev/null || echo 0 1 0
done | awk '
	{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
