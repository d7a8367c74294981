#!/bin/bash
# many.sh - what thousands of modules and many short lives cost, and whether their samples are known
#
# SECONDS_LIVES (60): how long processes of 2 ms are started, one after the other on each CPU.  Needs root.
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
SECONDS_LIVES=${SECONDS_LIVES:-60}
result many "Many modules, many short lives"

echo "## 2,000 modules, 200 of them with a generation"
echo
echo "Each of 500 functions and 5,000 blocks; a spool file has 20 samples of each, in as many blocks. Analyses are"
echo "told, not made: they are \`morph-edit analyze\`'s. One process, CPU time as the kernel counts it."
echo
"$B/tests/unit/manager/store/test_many" 2>/dev/null | sed -n 's/^# \(.*: [0-9].*\)/* \1/p'
echo

echo "## Processes that live 2 ms"
echo
mkdir -p "$T/bin"
cp "$B/tests/e2e/odd" "$T/bin/brief"
cat >"$T/morph.yaml" <<END
modules:
  include: ["$T/bin/*"]
  hard_links: true	# a perf record running beside us links what it sees
idle: {check_s: 3600}
END
start_daemon
counted() { ctl --json status | sed -n "s/.*\"kind\": \"$1\", \"count\": \([0-9]*\).*/\1/p"; }

begun=$(date +%s.%N)
for _ in $(seq "$(nproc)"); do
	while [ "$(echo "$(date +%s) - ${begun%.*} < $SECONDS_LIVES" | bc)" = 1 ]; do
		"$T/bin/brief" short 500 2 || break
		echo 500
	done >"$T/lives.$_" &
	workers="${workers:-} $!"
done
wait $workers
took=$(echo "$(date +%s.%N) - $begun" | bc)
ctl status --sync >/dev/null
lives=$(cat "$T"/lives.* | awk '{ n += $1 } END { print n }')
of_them=$(ctl --json list | sed -n 's/.*bin\/brief", "samples": \([0-9]*\).*"outside": \([0-9]*\).*/\1 \2/p' | awk '{ print $1 + $2 }')
echo "| what | |"
echo "|---|---|"
awk -v n="$lives" -v t="$took" 'BEGIN { printf "| processes | %d in %.0f s: %.0f a second, as many as this machine made of them |\n", n, t, n / t }'
echo "| samples of theirs, in user mode | $of_them |"
all=0
for c in known outside unknown anonymous vdso kernel no_process; do
	all=$((all + $(counted $c)))
done
echo "| samples of everything on the machine | $all |"
for c in no_process lost damaged dropped; do
	awk -v c="$c" -v n="$(counted $c)" -v all="$all" \
		'BEGIN { printf "| %s, of them | %d: %.3f %% |\n", c, n, all ? 100 * n / all : 0 }'
done
echo
echo "no_process: of a process of which nothing is known. The monitor shares the CPUs with everything else: at a load far above"
echo "their number it comes late, and rings run over."
stop_daemon
result_end
