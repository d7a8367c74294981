#!/bin/bash
# record.sh - what `morphctl record` loses of a command that starts many processes, and slows it by
#
# PAIRS (9) pairs of runs of SECONDS_RUN (4) s in turns, one recorded and one not, for each way to record.
# Needs root, for samples of all CPUs; without privileges it is measured as well, as user nobody.  On a busy
# machine `chrt --rr 1 bench/record.sh` keeps others' work out of it: the command, recorded or not, and what
# records it then run before all that.
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
PAIRS=${PAIRS:-9} SECONDS_RUN=${SECONDS_RUN:-4}
for p in "$B/morphctl" "$B/tests/e2e/monitor_driver"; do
	[ -x "$p" ] || { echo "$p is missing"; exit 1; }
done

chmod 755 "$T"
mkdir -m 777 "$T/logs"
cp "$B/morphctl" "$B/tests/e2e/monitor_driver" "$T"
cat >"$T/command" <<'END'
#!/bin/bash
# One process after the other for so many seconds; how many they were.
n=0 end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
while [ "${EPOCHREALTIME/[.,]/}" -lt "$end" ]; do /bin/true; n=$((n + 1)); done
echo "$n"
END
chmod 755 "$T/command"
run() { ${as:-} "$@" "$T/command" "$SECONDS_RUN" 2>>"$T/told"; }

# Pairs of one way: their ratios in $T/ratios, loops in $T/plain and $T/recorded, sums in $T/sums.
measure() {		# OPTION...
	local i plain recorded
	: >"$T/ratios"; : >"$T/plain"; : >"$T/recorded"; : >"$T/sums"
	for i in $(seq "$PAIRS"); do
		rm -f "$T/logs/log"
		[ $((i % 2)) = 0 ] || plain=$(run)
		recorded=$(run "$T/morphctl" record "$@" -o "$T/logs/log" --)
		[ $((i % 2)) = 1 ] || plain=$(run)
		"$T/monitor_driver" sum "$T/logs/log" >>"$T/sums"
		"$T/monitor_driver" dump "$T/logs/log" |
			awk '$2 == "lost" { n += $5 } END { print "records_lost", n + 0 }' >>"$T/sums"
		echo "$plain" >>"$T/plain"
		echo "$recorded" >>"$T/recorded"
		awk -v p="$plain" -v r="$recorded" 'BEGIN { printf "%.4f\n", p / r }' >>"$T/ratios"
	done
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
total() { awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }' "$T/sums"; }

row() {			# NAME OPTION...
	local name=$1 kept
	shift
	measure "$@"
	kept=$(($(total sample) + $(total exec) + $(total mmap) + $(total fork) + $(total exit)))
	awk -v name="$name" -v p="$(median "$T/plain")" -v r="$(median "$T/recorded")" -v s="$SECONDS_RUN" \
		-v ratio="$(median "$T/ratios")" -v lo="$(sort -n "$T/ratios" | head -n 1)" \
		-v hi="$(sort -n "$T/ratios" | tail -n 1)" -v lost="$(total records_lost)" -v kept="$kept" \
		-v samples="$(total sample)" -v states="$(total state)" 'BEGIN {
		printf "| %s | %.0f | %.0f | %.3f (%.3f-%.3f) | %d | %d | %d | %d | %.3f %% |\n", name, p / s,
			r / s, ratio, lo, hi, kept, samples, states, lost, 100 * lost / (lost + kept)
	}'
}

result record "Recording a command that starts many processes"
echo "A shell that runs \`/bin/true\` over and over: $PAIRS pairs of $SECONDS_RUN s in turns, one recorded, one not."
echo "Slower: processes a second when not recorded, divided by those when recorded; median of the pairs (least,"
echo "most). Records are samples, executions, mappings, forks and exits of the command's processes; lost ones, where"
echo "all CPUs are sampled, may be of others. All runs, and morphctl, as"
echo "$(chrt -p $$ | sed -n 's/.*policy: /policy /p') $(chrt -p $$ | sed -n 's/.*priority: /priority /p')."
echo
echo "| recorded | processes a second, not recorded | recorded | slower | records kept | of them samples | with registers | lost | of all |"
echo "|---|---|---|---|---|---|---|---|---|"
as=
row "by root"
row "by root, \`--registers\`" --registers
row "by root, \`--registers --memory\`" --registers --memory
as="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	row "without privileges"
	row "without privileges, \`--registers\`" --registers
else
	echo "| without privileges | not permitted here: kernel.perf_event_paranoid is over 2 | | | | | | | |"
fi
echo
echo "Without privileges the events are inherited: a process that ends within the first period of its timer has no"
echo "sample."
result_end
