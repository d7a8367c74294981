#!/bin/bash
# metrics.sh - OpenMetrics text of a daemon: well formed, and its figures are those of status, list and history
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
odd="$root/bin/odd \"\\name"
cp "$root/bin/gzip" "$odd"

# Families have a kind and a sentence, each once and together; samples are of the family above, none twice; the end is said.
well_formed() {		# FILE
	awk '
	function bad(why) { print FNR ": " why ": " $0; failed = 1 }
	ended { bad("behind the end") }
	/^# EOF$/ { ended = 1; next }
	/^# TYPE [a-z_]+ (counter|gauge)$/ {
		if ($3 in known) bad("family twice")
		known[$3]; family = $3; kind = $4; helped = 0; next
	}
	/^# HELP [a-z_]+ [A-Z0-9].*\.$/ { if ($3 != family || helped) bad("help of another family"); helped = 1; next }
	!/^[a-z_]+(\{[a-z]+="([^"\\]|\\["\\n])*"\})? -?[0-9]+(\.[0-9]+)?$/ { bad("no sample"); next }
	{
		name = $0; sub(/[{ ].*/, "", name)
		if (name != family (kind == "counter" ? "_total" : "")) bad("sample of another family")
		key = $0; sub(/ [^ ]*$/, "", key)
		if (key in seen) bad("sample twice")
		seen[key]
		n++
	}
	END { exit failed || !ended || n < 10 }' "$1"
}
check "without a daemon there is none" not ctl metrics
check_here "the daemon starts and answers" start_daemon
for ((i = 0; i < 40; i++)); do
	seq 1 200000 | "$root/bin/gzip" >/dev/null
	seq 1 100000 | "$odd" >/dev/null
done
taken_in >/dev/null
check "metrics are printed" ctl metrics
ctl metrics >"$root/metrics"
check "they are well formed" well_formed "$root/metrics"
sed '$d' "$root/metrics" >"$root/cut"
check "what is cut short is not" not well_formed "$root/cut"
cat "$root/metrics" "$root/metrics" >"$root/twice"
check "nor what is there twice" not well_formed "$root/twice"
if command -v promtool >/dev/null; then
	check "promtool takes those in its form" eval 'ctl metrics --prometheus | promtool check metrics'
else
	skip "promtool takes those in its form" "no promtool"
fi
ctl pause >/dev/null
taken_in >/dev/null
ctl --json status >"$root/status"
ctl --json list >"$root/list"
ctl metrics >"$root/metrics"
same() {		# FAMILY LABEL TABLE KEY COLUMN FILE; a backslash in a name is shown as two, as everywhere
	diff <(jq -r --arg t "$3" --arg k "$4" --arg c "$5" '.[$t][] | "\(.[$k] | gsub("\\\\"; "\\\\")) \(.[$c] | if . == true then 1 elif . == false then 0 else . end)"' "$root/$6" | sort) \
		<(sed -nE "s/^$1\{$2=\"(.*)\"\} /\1 /p" "$root/metrics" | sed -E 's/\\(["\\])/\1/g; s/(\.[0-9]*[1-9])0*$/\1/; s/\.0*$//' | sort)
}
check "samples are those of status" same morph_samples_total kind samples kind count status
check "what CPU time goes to is" same morph_cpu_time_samples where cpu_time where samples status
check "conditions are" same morph_idle condition idle condition idle status
check "generations are those of list" same morph_module_generation path modules path generation list
ctl --json saved >"$root/saved" 2>/dev/null
check "what was saved, taken and is left is that of saved" same morph_cpu_seconds what in_all what cpu_s saved
check "and what took it" same morph_cost_seconds_total what cost what cpu_s saved
check "an odd name is quoted" grep -qF 'odd \"\\' "$root/metrics"
check "in the form of before families have the names of their samples" diff <(ctl metrics --prometheus | sed 's/ [0-9.]*$//') \
	<(awk '/^# EOF/ { next } /^# TYPE .* counter$/ { counter[$3] } /^# / && $3 in counter { $3 = $3 "_total" } { print }' "$root/metrics" |
		sed 's/ [0-9.]*$//')
check "history has what was done" grep -q '^morph_history_events{event="' <(ctl reoptimize "$root/bin/gzip" >/dev/null 2>&1; ctl metrics)
check "it takes no arguments" eval 'ctl metrics all 2>&1 | grep -q "usage: morphctl metrics"'
check_here "the daemon ends" stop_daemon
done_testing
