#!/bin/bash
# demo.sh - the whole loop on private copies of real programs: watch, reoptimize, verify, swap in,
# go on counting through the block map, reoptimize again, restore
#
# Makes a private root with copies of the programs, a store, a socket and a policy of their own,
# and starts morphd there; nothing of the system is changed.  Training runs and the runs that are
# timed use different inputs.  It waits for samples, however long a busy machine takes to give them:
# SAMPLES (2000) of each module.  PAIRS (9) may be set as well.  Before that, `morphctl try` of one command,
# and of a process that runs.
set -u
B=$(realpath "${B:-build}")
work=$(realpath tests/programs/work)
PAIRS=${PAIRS:-9} SAMPLES=${SAMPLES:-2000}
programs="perl sqlite3 bash sort gzip"
# Program, size of its inputs: about half a second of CPU time each.
sizes="perl:1000 sqlite3:5000 bash:6000 sort:25000 gzip:1500"
started=$SECONDS

die() { echo "demo: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "needs root: it samples the whole machine"
[ -x "$B/morphd" ] || die "$B/morphd is not built"

root=$(mktemp -d "${TMPDIR:-/var/tmp}/morph-demo.XXXXXX") || exit 1
morphd_pid=
cleanup() {
	[ -n "$morphd_pid" ] && kill "$morphd_pid" 2>/dev/null && wait "$morphd_pid" 2>/dev/null
	[ "${KEEP:-}" = 1 ] && echo "kept: $root" || rm -rf "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

step() { printf '\n== %d s: %s\n' "$((SECONDS - started))" "$*"; }
ctl() { "$B/morphctl" --socket "$root/control.sock" "$@"; }

# progress DONE WHOLE TEXT: a bar that redraws itself on a terminal, a line at each tenth elsewhere
bar_last=-1
progress() {
	local tenths=$((10 * $1 / $2)) i bar=
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$i" -le "$tenths" ] && bar=$bar## || bar=$bar..
	done
	if [ -t 1 ]; then
		printf '\r[%s] %3d %% %-50s' "$bar" $((100 * $1 / $2)) "$3"
		[ "$1" -ge "$2" ] && echo
	elif [ "$tenths" != "$bar_last" ]; then
		printf '[%s] %3d %% %s\n' "$bar" $((100 * $1 / $2)) "$3"
	fi
	bar_last=$tenths
}

# field FILE MATCH KEY: the value of KEY in the first row of JSON FILE that contains MATCH
field() {
	grep -F -- "$2" "$1" | head -n 1 |
		sed -nE 's/.*"'"$3"'": ("([^"]*)"|([^,}]*)).*/\2\3/p'
}

# run_work PROGRAM INPUT: its workload, in the input's own folder
run_work() {
	(cd "$root/work/$1/$2" && LD_LIBRARY_PATH=$root/lib exec "$work/$1.sh" run "$root/bin/$1")
}

record() {		# PROGRAM INPUT SUFFIX: output, messages and exit code of one run
	local at=$root/result/$1.$2.$3
	run_work "$1" "$2" >"$at.out" 2>"$at.err" </dev/null
	echo $? >"$at.rc"
}

# program_of MODULE: the program whose runs bring samples of it
program_of() { case $1 in */libsqlite3.so.0) echo sqlite3 ;; *) echo "${1##*/}" ;; esac; }

# The programs that samples are waited for, in turn, until none is; each worker has an input of its own.
work_off() {		# INPUT PROGRAM...
	local i=$1 p went=1
	shift
	while [ "$went" = 1 ]; do
		went=0
		for p in "$@"; do
			[ -e "$root/wanted/$p" ] || continue
			went=1
			run_work "$p" "$i"
			echo >>"$root/wanted/$p.runs"
		done
	done
}

# What a poll found: the bar, and whether a program runs on and on without a sample.
look_at_samples() {	# NEEDED
	local m p n runs got=0 whole=0 waits=
	ctl status --sync >"$root/result/status" 2>"$root/result/sync.log" &&
		ctl --json list >"$root/result/list" || { cat "$root/result/sync.log" >&2; die "taking in the spool failed"; }
	for p in $programs; do now_wanted[$p]=; done
	for m in $(modules); do
		p=$(program_of "$m")
		n=$(field "$root/result/list" "$m" samples)
		n=$((${n%.*} + 0)) runs=$(wc -l <"$root/wanted/$p.runs")
		[ "$n" = "${have[$m]:-0}" ] || { have[$m]=$n; at_runs[$m]=$runs; }
		: "${first[$m]:=$n}" "${at_runs[$m]:=0}"
		[ "$m" = "$root/bin/sqlite3" ] && continue	# nearly all of its time is the library's
		whole=$((whole + $1))
		n=$((n - first[$m]))
		if [ "$n" -ge "$1" ]; then
			got=$((got + $1))
			continue
		fi
		got=$((got + n)) waits="$waits, ${m##*/}" now_wanted[$p]=1
		[ $((runs - at_runs[$m])) -lt 100 ] || { cat "$root/result/status" >&2
			die "$((runs - at_runs[$m])) runs of $p brought no sample of ${m##*/}"; }
	done
	for p in $programs; do
		[ -n "${now_wanted[$p]}" ] || rm -f "$root/wanted/$p"
	done
	progress "$got" "$whole" "${waits:+waits for samples of ${waits#, }}"
	[ "$got" -lt "$whole" ]
}

# Runs the programs, two at a time, until each module has so many samples more.
declare -A have first at_runs now_wanted
train() {		# SAMPLES
	local p pids
	have=() first=() at_runs=()
	mkdir -p "$root/wanted"
	for p in $programs; do
		: >"$root/wanted/$p"
		: >"$root/wanted/$p.runs"
	done
	work_off train1 perl sqlite3 bash sort gzip >/dev/null 2>&1 </dev/null &
	pids=$!
	work_off train2 gzip sort bash sqlite3 perl >/dev/null 2>&1 </dev/null &
	pids="$pids $!"
	while look_at_samples "$1"; do
		sleep 1
	done
	wait $pids
}

modules() { for p in $programs; do echo "$root/bin/$p"; done; echo "$root/lib/libsqlite3.so.0"; }

step "a private root in $root"
umask 022
chmod 755 "$root"
mkdir -p "$root/bin" "$root/lib" "$root/original/bin" "$root/original/lib" "$root/result" "$root/store"
for p in $programs; do
	[ -x "/usr/bin/$p" ] || die "/usr/bin/$p is missing"
	cp "/usr/bin/$p" "$root/bin/" && cp "/usr/bin/$p" "$root/original/bin/"
done
library=$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')
[ -n "$library" ] || die "libsqlite3.so.0 is missing"
cp "$library" "$root/lib/libsqlite3.so.0" && cp "$library" "$root/original/lib/libsqlite3.so.0"
(cd "$root" && sha256sum bin/* lib/* >result/originals.sha256)
for s in $sizes; do
	p=${s%:*}
	for i in train1:1 train2:2 test:77; do
		mkdir -p "$root/work/$p/${i%:*}"
		(cd "$root/work/$p/${i%:*}" && "$work/$p.sh" prepare "${s#*:}" "${i#*:}")
	done
done
cat >"$root/morph.yaml" <<END
idle: {load_max_pct: 10000, psi_cpu_max_pct: 100}
modules:
  include: ["$root/bin/*", "$root/lib/*"]
  hard_links: true	# perf links what it sees into its cache; these files are ours alone
optimize: {automatic: false, min_samples: 100}
END
"$B/morphctl" policy check "$root/morph.yaml" || die "the policy is wrong"

step "first without a daemon, as anybody may: how much faster would one command be? (half a minute)"
echo "morphctl try --time=30 -- perl.sh run perl"
# Whether it is faster is for the reader; that the output is another is a failure.
(cd "$root/work/perl/train1" && "$B/morphctl" try --time=30 -- "$work/perl.sh" run /usr/bin/perl </dev/null) 2>&1 |
	tee "$root/result/try"
grep -q ': not the same: ' "$root/result/try" && die "the output of try differs"

step "and a process that runs: sqlite3 gets a generation of its library by samples of itself, in turns (22 s)"
mkdir "$root/live" && mkfifo "$root/live/queries"
(while echo "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
	SELECT count(*), sum(i * 7 % 1000), max(printf('%08x', i * 31)) FROM n WHERE i % 3 <> 1;"; do :; done) >"$root/live/queries" 2>/dev/null &
asks=$!
LD_LIBRARY_PATH=$root/lib "$root/bin/sqlite3" -init /dev/null :memory: ".read $root/live/queries" >"$root/live/answers" &
answers=$!
sleep 0.2
echo "morphctl try --pid=$answers --time=22"
"$B/morphctl" try --pid=$answers --time=22 --store="$root" 2>&1 | tee "$root/result/trypid"
grep -q "(process $answers): .*pairs\|proven" "$root/result/trypid" || die "nothing was said of the process"
disown -a
kill $answers $asks
[ "$(sed '$d' "$root/live/answers" | sort -u | wc -l)" = 1 ] || die "its answers differ"
echo "its $(wc -l <"$root/live/answers") answers meanwhile are the same"

step "a daemon"
"$B/morphd" --foreground --policy "$root/morph.yaml" --store "$root/store" \
	--socket "$root/control.sock" --folders "$root" --user nobody --morph-edit "$B/morph-edit" --morph-verify "$B/morph-verify" 2>"$root/morphd.log" &
morphd_pid=$!
for _ in $(seq 100); do
	ctl status >/dev/null 2>&1 && break
	kill -0 "$morphd_pid" 2>/dev/null || { cat "$root/morphd.log" >&2; die "morphd ended"; }
	sleep 0.1
done
ctl status >/dev/null || { cat "$root/morphd.log" >&2; die "morphd does not answer"; }

step "the workload on the originals: outputs to compare with, then training runs until each module has $SAMPLES samples"
for p in $programs; do
	for i in train1 test; do record "$p" $i before; done
done
train "$SAMPLES"
grep -E '^(sampling|clock|spool|known|outside|unknown|kernel|lost) ' "$root/result/status"

step "reoptimize each program and the library from its samples, verify, swap in"
refused=0
for m in $(modules); do
	if ctl --json reoptimize "$m" >"$root/result/${m##*/}.json" 2>"$root/result/${m##*/}.log"; then
		j=$root/result/${m##*/}.json
		printf '%-16s %6.0f samples, %4d functions moved: %6d bytes hot, %6d fluff; Ext-TSP %.3f -> %.3f\n' \
			"${m##*/}" "$(field "$j" "$m" samples)" "$(field "$j" "$m" functions_moved)" \
			"$(field "$j" "$m" hot_bytes)" "$(field "$j" "$m" fluff_bytes)" \
			"$(field "$j" "$m" exttsp_before)" "$(field "$j" "$m" exttsp_after)"
	else
		refused=$((refused + 1))
		cat "$root/result/${m##*/}.log"
	fi
done
[ "$refused" = 0 ] || die "$refused modules were not reoptimized"
ctl verify --all || die "a generation is not shown to be its original"

step "the same workload on the generations: every byte of output, then $PAIRS interleaved pairs each"
different=0
for p in $programs; do
	for i in train1 test; do
		record "$p" $i after
		for part in out err rc; do
			cmp "$root/result/$p.$i.before.$part" "$root/result/$p.$i.after.$part" || different=$((different + 1))
		done
	done
done
[ "$different" = 0 ] && echo "all outputs, messages and exit codes are the same" ||
	die "$different outputs differ"
# Where a file's pages lie in memory moves its speed by some percent and stays for as long as it is
# cached: each pair is of fresh copies, a of the original and b of the generation, made in an order by chance.
# Both run side by side, in slices of one CPU, each in its own copy of the input.
run() { echo "cd $root/$1/test && LD_LIBRARY_PATH=$root/$1 exec $work/$p.sh run $root/$1/$p"; }
for p in $programs; do
	fresh="cd $root && rm -rf a b && for copy in \$(shuf -e a:original b:.); do
		to=\${copy%:*} from=\${copy#*:}
		mkdir \$to && cp -a work/$p/test \$from/bin/$p \$from/lib/libsqlite3.so.0 \$to || exit
	done"
	"$B/bench/pairs" -s -n "$PAIRS" -b "$fresh" "$(run a)" "$(run b)" >"$root/result/$p.pairs" ||
		die "$p: outputs differ"
	printf '%-16s %s\n' "$p" "$(cat "$root/result/$p.pairs")"
done

step "samples of the running generation reach the original's profile through the block map"
ctl --json list >"$root/result/list1.json"
train $((SAMPLES / 8))
ctl --json list >"$root/result/list2.json"
for m in $(modules); do
	a=$(field "$root/result/list1.json" "$m" samples) b=$(field "$root/result/list2.json" "$m" samples)
	printf '%-16s generation %s: %8.0f -> %8.0f samples, outside known blocks %.0f -> %.0f\n' "${m##*/}" \
		"$(field "$root/result/list2.json" "$m" generation)" "$a" "$b" \
		"$(field "$root/result/list1.json" "$m" outside)" "$(field "$root/result/list2.json" "$m" outside)"
done
ctl report "$root/bin/perl" --limit=8

step "generation 2, from the originals and the enlarged profile"
ctl --json reoptimize $(modules) >"$root/result/second.json" || die "reoptimizing failed"
ctl --json list >"$root/result/list3.json"
for m in $(modules); do
	printf '%-16s generation %s\n' "${m##*/}" "$(field "$root/result/list3.json" "$m" generation)"
done
for p in $programs; do
	record "$p" test second
	for part in out err rc; do
		cmp "$root/result/$p.test.before.$part" "$root/result/$p.test.second.$part" || die "$p differs"
	done
done
echo "all outputs, messages and exit codes are the same"

step "restore all"
ctl restore --all || die "restoring failed"
(cd "$root" && sha256sum --quiet -c result/originals.sha256) || die "a file is not its original"
echo "every byte of $(wc -l <"$root/result/originals.sha256") files is back (SHA-256)"

printf '\n%-16s %8s %7s %9s %9s %16s %7s %s\n' module samples moved 'hot KiB' 'fluff KiB' Ext-TSP speed range
for m in $(modules); do
	n=${m##*/} j=$root/result/${m##*/}.json
	ratio=- range=
	[ -e "$root/result/$n.pairs" ] && read -r _ _ _ _ _ ratio _ low _ high _ <"$root/result/$n.pairs" &&
		range="$low..$high"
	printf '%-16s %8.0f %7d %9.1f %9.1f %7.3f -> %5.3f %7s %s\n' "$n" "$(field "$j" "$m" samples)" \
		"$(field "$j" "$m" functions_moved)" "$(field "$j" "$m" hot_bytes | awk '{ print $1 / 1024 }')" \
		"$(field "$j" "$m" fluff_bytes | awk '{ print $1 / 1024 }')" \
		"$(field "$j" "$m" exttsp_before)" "$(field "$j" "$m" exttsp_after)" "$ratio" "$range"
done
echo
echo "speed: CPU time of the original divided by that of the generation, median of $PAIRS pairs on"
echo "inputs that were not trained on; sqlite3 runs with the library.  $((SECONDS - started)) s in all."
