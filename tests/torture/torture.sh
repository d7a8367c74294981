#!/bin/bash
# torture.sh - every ELF file of the machine: moved and verified in several orders, or refused
#
#	TORTURE_FILES	pattern of paths (shell glob, e.g. '/usr/bin/*'); default all
#	TORTURE_SAMPLE	only files whose SHA-256 begins with that: 0 is one file of 16, the same on every
#			machine, whatever their size and place
#	TORTURE_OLDER	1: files and workloads that this Editor has not done yet count as an older one left
#			them; the report tells which Editor did what
#	TORTURE_RUN	0: nothing is run, only a report made of what there is
#	TORTURE_ORDERS	orders besides that of the layout: N is shuffled by that seed, pN made from a
#			profile that chance made, default "1 2 3 p1"
#	TORTURE_WORK	pattern of workload names; default all, "none" for none
#	TORTURE_WORK_S	seconds for one run of a workload, default 3600
#	TORTURE_DIRS	where files are looked for, default /usr/bin /usr/sbin /usr/lib /usr/libexec
#	TORTURE_CPU	seconds of CPU time for one command of the Editor, default 300
#	TORTURE_MEM	MiB of address space for it, default 4096
#	TORTURE_REPORT	where the report goes, default bench/results/torture.md when nothing was
#			left out, else torture.md in the state folder
#	JOBS		at a time, default one per CPU
#
# State lies in $B/torture: a line for every content of a file and build of the Editor that was
# tried.  Stopped at any moment, the next run goes on where this one was.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=$(realpath "${B:-build}")
. tests/torture/common.bash

export ORDERS=${TORTURE_ORDERS-1 2 3 p1} TORTURE_CPU=${TORTURE_CPU:-300} TORTURE_MEM=${TORTURE_MEM:-4096}
files=${TORTURE_FILES:-*} workloads=${TORTURE_WORK:-*} jobs=${JOBS:-$(nproc)}
sample=${TORTURE_SAMPLE:-}
dirs=${TORTURE_DIRS:-/usr/bin /usr/sbin /usr/lib /usr/libexec}

export RESULTS="$STATE/files-$EDITOR-$(echo "$ORDERS" | tr -c '0-9\n' _)"
mkdir -p "$RESULTS" "$TORTURE_TMP" || exit 1
rm -rf "$TORTURE_TMP"/job.*		# of a run that was killed

echo "looking for ELF files in $dirs"
existing=$(for d in $dirs; do [ -d "$d" ] && echo "$d"; done)
"$B/tests/torture/elves" "$STATE/files" $existing || exit 1

# What this run is about, in the order of the list: smallest first.
while IFS=$'\t' read -r digest size mtime kind runtimes exec copies path; do
	case $digest/$path in
	$sample*/$files) printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$digest" "$size" "$kind" "$runtimes" "$exec" \
		"$copies" "$path" ;;
	esac
done <"$STATE/files" >"$STATE/chosen"
total=$(wc -l <"$STATE/chosen")
[ "$total" -gt 0 ] || { echo "no ELF file matches '$files'"; exit 1; }

# Largest first, so that at the end none is worked on alone.
tac "$STATE/chosen" | while IFS=$'\t' read -r digest rest; do
	[ -e "$RESULTS/$digest" ] || printf '%s\t%s\n' "$digest" "$rest"
done >"$STATE/todo"
echo "$total files, $(wc -l <"$STATE/todo") to do; Editor $EDITOR, orders layout $ORDERS, $jobs at a time"

if [ -s "$STATE/todo" ] && [ "${TORTURE_RUN:-1}" = 1 ]; then
	progress_start "$(wc -l <"$STATE/todo")" "$RESULTS"
	tr '\t\n' '\0\0' <"$STATE/todo" | xargs -0 -n 7 -P "$jobs" tests/torture/file.sh &
	runner=$!
	trap 'kill $runner 2>/dev/null; progress_stop; echo "stopped; run it again to go on"; exit 1' INT TERM
	wait $runner
	trap - INT TERM
	progress_stop
fi

with_editor() {		# RESULT: its line, and who made it
	local editor
	editor=$(basename "$(dirname "$1")")
	editor=${editor#*-}
	editor=${editor%%-*}
	sed "s/\$/\teditor=$(cat "$STATE/version-$editor" 2>/dev/null) ($editor)/" "$1"
}

# Of older ones the newest.
line_of() {		# DIGEST
	local found=$RESULTS/$1
	if [ ! -e "$found" ] && [ "${TORTURE_OLDER:-0}" = 1 ]; then
		found=$(ls -t "$STATE"/files-*/"$1" 2>/dev/null | head -n 1)
	fi
	[ -n "$found" ] && [ -e "$found" ] && with_editor "$found"
}

# The newest result of each workload and order that some Editor left, or this one.
kept_works() {
	local works="$STATE/work-$EDITOR" result
	[ "${TORTURE_OLDER:-0}" = 1 ] && works=$(echo "$STATE"/work-*)
	find $works -maxdepth 1 -type f -name '*-*-*' -printf '%T@ %p\n' 2>/dev/null | sort -n |
		awk '{ name = $2; sub(/.*\//, "", name); sub(/-[0-9a-f]+-/, " ", name); newest[name] = $2 }
			END { for (n in newest) print n, newest[n] }' | sort | while read -r _ _ result; do
		with_editor "$result"
	done
}

cut -f 1 "$STATE/chosen" | while read -r digest; do
	line_of "$digest"
done >"$STATE/lines"

: >"$STATE/work-lines"
if [ "${TORTURE_RUN:-1}" != 1 ]; then
	kept_works >"$STATE/work-lines"
elif [ "$workloads" != none ]; then
	tests/torture/work.sh "$workloads"
fi

default=$STATE/torture.md
[ "$sample$files$workloads$ORDERS" = '**1 2 3 p1' ] && default=bench/results/torture.md
report=${TORTURE_REPORT:-$default}
tests/torture/report.sh "$STATE/chosen" "$STATE/lines" "$STATE/work-lines" >"$STATE/report.new"
rc=$?
mv "$STATE/report.new" "$report"
sed -n '/^## Summary/,/^## /p' "$report" | sed '/^## /d'
echo "report: $report"
exit $rc
