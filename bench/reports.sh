#!/bin/bash
# reports.sh - how long the commands take that show where time goes: report, annotate, the page
#
# The daemon has samples of MODULES (2000) small programs; annotate and the page are of a recording of perl, the
# functions are the one nearest to 1,000 blocks and the one with most, of those with samples.  Medians of RUNS (9).
# Needs root.
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
MODULES=${MODULES:-2000} RUNS=${RUNS:-9}
result reports "What commands take that show where time goes"

mkdir -p "$T/bin"
cat >"$T/morph.yaml" <<-END
	modules:
	  include: ["$T/bin/*"]
	idle: {check_s: 3600}
END
start_daemon
for ((i = 0; i < MODULES; i++)); do
	{ cat "$B/tests/e2e/odd" && echo "$i"; } >"$T/bin/brief$i" && chmod 755 "$T/bin/brief$i" &&
		"$T/bin/brief$i" short 1 20 || exit 1
done
ctl status --sync >/dev/null
known=$(ctl --json report --limit "$MODULES" | jq '[.modules[] | select(.module | test("/brief"))] | length')

mkdir -p "$T/work" && (cd "$T/work" && "$work/perl.sh" prepare 4000 1)
(cd "$T/work" && "$B/morphctl" record -o "$T/perl.log" --clock=cpu-clock --rate=997 -- "$work/perl.sh" run /usr/bin/perl) \
	>/dev/null 2>&1		# it ends with a code of its own
[ -s "$T/perl.log" ] || exit 1
annotate() { "$B/morphctl" "${@:2}" annotate perl "$1" --log="$T/perl.log"; }	# FUNCTION OPTION...
blocks() { annotate "$1" --json 2>/dev/null | jq '.blocks | length'; }
all=$("$B/morphctl" --json report perl --log="$T/perl.log" --limit 40 | jq -r '.procedures[].procedure' |
	while read -r f; do echo "$f $(blocks "$f")"; done | awk 'NF == 2 { d = $2 - 1000; print d < 0 ? -d : d, $0 }')
nearest=$(sort -n <<<"$all" | awk 'NR == 1 { print $2, $3 }')
most=$(sort -k 3,3nr <<<"$all" | awk 'NR == 1 { print $2, $3 }')

# NAME TARGET COMMAND...: a row of the table
row() {
	local name=$1 target=$2 i
	shift 2
	TIMEFORMAT='%R %U %S'
	for ((i = 0; i < RUNS; i++)); do
		{ time "$@" >/dev/null 2>&1; } 2>&1
	done | sort -n | awk -v name="$name" -v target="$target" '
		{ wall[NR] = $1; cpu[NR] = $2 + $3 }
		END {
			for (i = 2; i <= NR; i++)
				for (k = i; k > 1 && cpu[k - 1] > cpu[k]; k--) { x = cpu[k]; cpu[k] = cpu[k - 1]; cpu[k - 1] = x }
			m = int((NR + 1) / 2)
			printf "| %s | %s | %.2f | %.2f | %.2f |\n", name, target, wall[m], wall[NR], cpu[m]
		}'
}
echo "Medians of $RUNS; CPU time is the command's and its jobs', without the daemon's."
echo
echo "| command | target, s | s | longest, s | CPU s |"
echo "|---|---:|---:|---:|---:|"
row "\`report\`, daemon, samples of $known modules" 0.3 ctl report
row "\`report --limit $MODULES\`, the same" - ctl report --limit "$MODULES"
row "\`annotate\` of \`${nearest% *}\` (${nearest#* } blocks), recording" 0.5 annotate "${nearest% *}"
row "\`annotate\` of \`${most% *}\` (${most#* } blocks), recording" - annotate "${most% *}"
row "\`report --html\` of perl, recording" 2 "$B/morphctl" report --log="$T/perl.log" --html="$T/page.html"
echo
echo "The page has $(stat -c %s "$T/page.html") bytes."
stop_daemon
result_end
