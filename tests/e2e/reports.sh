#!/bin/bash
# reports.sh - report, stats and diff of recordings and profiles whose figures are known
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-reports.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@"; }
json() { morphctl --json "$@"; }

${CC:-cc} -O2 -g -o "$root/work" tests/e2e/export/work.c 2>"$root/why" || skip_all "$(cat "$root/why")"
address() { printf '0x%x' "0x$(nm "$root/work" | awk -v s="$1" '$3 == s { print $1 }')"; }
# In work.c each function has one loop; the block that begins a function is one of its own.
profile() {		# OUTER DIVIDES ODD_NAME OUTSIDE: text of a profile with these samples
	printf 'morph-profile 2\nmodule %s\nsha256 %s\nclock tick\noutside %s\n' "$root/work" \
		"$(sha256sum <"$root/work" | cut -d' ' -f1)" "$4"
	{ echo "$(address outer) $1"; echo "$(address divides) $2"; echo "$(address odd_name) $3"; } |
		awk '$2 > 0 { print "block", $1, $2 }' | sort -k 2
}
profile 600 300 100 0 >"$root/a"
profile 600 280 110 10 >"$root/b"
profile 300 300 100 0 >"$root/c"
profile 0 5 0 0 >"$root/few"
profile 3 2 0 0 >"$root/few2"

# --- a name of any bytes ---

strange=$'odd\x80\x1bna\\me' shown='odd\x80\x1bna\\me'
mkdir "$root/strange"
objcopy --redefine-sym odd_name="$strange" "$root/work" "$root/strange/work" || not_ok "a program with a strange symbol is made"
sed "s|^module .*|module $root/strange/work|; s/^sha256 .*/sha256 $(sha256sum <"$root/strange/work" | cut -d' ' -f 1)/" "$root/a" >"$root/strange/a"
check "a table shows what cannot be shown as an escape, once" grep -qF " $shown " <(morphctl report --log="$root/strange/a")
check "so do lines, with where the code was inlined" grep -qF " $shown " <(morphctl report --log="$root/strange/a" --by=line)
check "and functions" grep -qF "$shown" <(morphctl report --log="$root/strange/a" --by=inlined)
check "not twice" not grep -qF '\\x' <(morphctl report --log="$root/strange/a"; morphctl report --log="$root/strange/a" --by=line)
check "--json has its bytes" grep -qx 6f6464801b6e615c6d65 <(json report --log="$root/strange/a" | jq -r '.procedures[].procedure_hex // empty')
check "a function is named by its bytes" json annotate work "$strange" --log="$root/strange/a"
check "or as it is shown" diff <(json annotate work "$strange" --log="$root/strange/a") <(json annotate work "$shown" --log="$root/strange/a")
check "a page has it as a table has it" grep -qF '>odd\x80\x1bna\me<' <(morphctl report --log="$root/strange/a" --html=/dev/stdout)
sed 's/^\(block .*\) 100$/\1 900/' "$root/strange/a" >"$root/strange/b"
check "differences, too" grep -qF " $shown " <(morphctl diff "$root/strange/a" "$root/strange/b")

# --- report ---

cell() {		# TABLE KEY NAME COLUMN: of the row whose KEY has that name
	jq -r --arg t "$1" --arg k "$2" --arg n "$3" --arg c "$4" '.[$t][] | select(.[$k] == $n) | .[$c] | tostring'
}
column() { jq -r --arg t "$1" --arg c "$2" '[.[$t][] | .[$c] | tostring] | join(" ")'; }
report() { json report "$@" 2>"$root/err"; }
check "a report has counts" [ "$(report --log="$root/a" | column procedures samples)" = "600 300 100" ]
check "shares" [ "$(report --log="$root/a" | column procedures share_pct)" = "60 30 10" ]
check "and shares of all so far" [ "$(report --log="$root/a" | column procedures cumulative_pct)" = "60 90 100" ]
check "most first" [ "$(report --log="$root/a" | column procedures procedure)" = "outer divides odd_name" ]
check "entries are those of symbols" [ "$(report --log="$root/a" | cell procedures procedure divides entry)" = "$(address divides)" ]
check "so are sizes" [ "$(report --log="$root/a" | cell procedures procedure divides size_bytes)" = \
	$((0x$(nm -S "$root/work" | awk '$4 == "divides" { print $2 }'))) ]
check "where what is in none lies is not known" [ "$(report --log="$root/b" | cell procedures procedure '[outside of all functions]' entry)" = null ]
check "what is in no function has a row" [ "$(report --log="$root/b" | cell procedures procedure '[outside of all functions]' samples)" = 10 ]
check "by name" [ "$(report --log="$root/a" --sort=name | column procedures procedure)" = "divides odd_name outer" ]
for limit in --limit=1 "--limit 1"; do
	check "a limit is one ($limit)" [ "$(report --log="$root/a" $limit | column procedures procedure)" = "outer [all others]" ]
	check "nothing is lost by it" [ "$(report --log="$root/a" $limit | column procedures cumulative_pct)" = "60 100" ]
done
check "several profiles are added up" [ "$(report --log="$root/a" --log "$root/c" | column procedures samples)" = "900 600 200" ]
check "modules" [ "$(report --log="$root/b" | cell modules module "$root/work" samples)" = 1000 ]
check "by machine" [ "$(report --log="$root/b" --by=machine | column machine samples)" = 1000 ]
check "one module by its name" [ "$(report work --log="$root/a" --by=module | column modules samples)" = 1000 ]
check "nothing of another one" fails 1 "no samples of 'nobody'" morphctl report nobody --log="$root/a" --by=module
check "lines are those of the source" [ "$(report --log="$root/a" --by=line | cell lines procedure divides line | sed 's|.*/||')" = \
	"$(addr2line -e "$root/work" "$(address divides)" | sed 's|.*/||; s/ .*//')" ]
# One function runs in the first part of a recording, another in the second.
cat >"$root/two.c" <<-'END'
	#include <stdlib.h>
	#include <time.h>
	static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
	volatile unsigned long x;
	__attribute__((noinline)) void first(void) { for (int i = 0; i < 1000000; i++) x += 3; }
	__attribute__((noinline)) void second(void) { for (int i = 0; i < 1000000; i++) x ^= 5; }
	int main(void) { double end = now() + 1; while (now() < end) first(); end += 1; while (now() < end) second(); return 0; }
END
if ${CC:-cc} -O1 -o "$root/two" "$root/two.c" 2>"$root/why" && "$B/morphctl" record -o "$root/log" -- "$root/two" 2>"$root/why"; then
	part() { json report two --log="$root/log" --by=procedure "$@" 2>"$root/err" |
		jq -r '[.procedures[] | select(.samples > 2).procedure] | map(select(. == "first" or . == "second")) | sort | join(" ")'; }
	check "all of a recording" [ "$(part)" = "first second" ]
	check "the first part" [ "$(part --until=0.8)" = "first" ]
	check "the second" [ "$(part --since=1.2)" = "second" ]
	check "and how long it is" eval 'json report --log="$root/log" --since=0.5 --until=0.9 2>/dev/null |
		jq -e ".recording[0].length_s | . > 0.39 and . < 0.41"'
	check "both parts make all" [ "$(json report --log="$root/log" 2>/dev/null | jq '.recording[0].samples')" = "$(
		{ json report --log="$root/log" --until=1.1; json report --log="$root/log" --since=1.1; } 2>/dev/null |
			jq -s '.[0].recording[0].samples + .[1].recording[0].samples')" ]
	for signal in TERM HUP; do
		"$B/morphctl" record -o "$root/log" -- sh -c 'echo $$ >"$0"; while :; do :; done' "$root/pid" 2>"$root/why" &
		recorder=$!
		for _ in $(seq 300); do		# until it has had 0.4 s of a CPU
			[ -s "$root/pid" ] && awk '{ exit $14 + $15 < 40 }' "/proc/$(cat "$root/pid")/stat" && break
			sleep 0.1
		done
		kill -$signal $recorder
		wait $recorder
		rc=$?
		check "a recording that $signal ends has the command's exit code" [ $rc = $((128 + $(kill -l $signal))) ]
		check "has ended the command" not kill -0 "$(cat "$root/pid")"
		kill -KILL "$(cat "$root/pid")" 2>/dev/null	# it would burn a CPU for ever
		check "and has what was sampled" eval 'json report --log="$root/log" 2>/dev/null | jq -e ".recording[0].samples > 10"'
		rm "$root/pid"
	done
else
	skip "part of a recording" "$(cat "$root/why")"
fi
check "a profile has no times" fails 2 "'$root/a': a profile has no times" morphctl report --log="$root/a" --since=1
check "what is no time is none" fails 2 "no number of seconds" morphctl report --log="$root/a" --since=x
check "nor is nothing" fails 2 "no number of seconds above 0" morphctl report --log="$root/a" --until=0
check "people see a table" grep -qE '^[^ ]*work +outer +600(\.0*)? +60(\.0)?' <(morphctl report --log="$root/a")

# What was inlined is charged to the function that it was written in, and to its caller's as a whole.
morphctl record -o "$root/log" -- "$root/work" 15000000 2>"$root/why"
recorded=$?
if [ $recorded = 0 ] && [ "$(report --log="$root/log" | cell procedures procedure outer samples)" -gt 20 ]; then
	outer=$(report --log="$root/log" | cell procedures procedure outer samples)
	inlined=$(report --log="$root/log" --by=inlined | jq '[.functions[] | select(.inlined == "inlined" and .inlined_into == "outer") | .samples] | add')
	own=$(report --log="$root/log" --by=inlined | jq '[.functions[] | select(.inlined == "outer" and .inlined_into == "") | .samples] | add // 0')
	check "what is inlined and what is not are all of a function" [ $((inlined + own)) = "$outer" ]
	check "most of it is inlined" [ "$inlined" -gt "$own" ]
	check "all of the program is by that program" [ "$(report work --log="$root/log" --by=program | cell programs program "$root/work" samples)" = \
		"$(report --log="$root/log" | cell modules module "$root/work" samples)" ]
	morphctl profile "$root/log" -o "$root/profiles" >"$root/said" 2>&1
	same=$(ls "$root"/profiles/work.*)
	check "a log's procedures are those of its block profile" diff <(report work --log="$root/log" | jq '.procedures') \
		<(report --log="$same" | jq '.procedures')
	check "most lines are the inlined loop's" grep -q "work.c:1[0-9]$" <(report --log="$root/log" --by=line | jq -r '.lines[0].line')
else
	[ $recorded != 0 ] || echo "too few samples" >"$root/why"
	skip "what is inlined and what is not are all of a function" "$(cat "$root/why")"
fi

# --- stats ---

stats() { json stats "$@" 2>"$root/err"; }
of() { stats "$root/a" "$root/b" "$root/c" "${@:3}" | cell stats procedure "$1" "$2"; }
check "stats: sum" [ "$(of outer sum)" = 1500 ]
check "share" [ "$(of outer share_pct)" = "$(jq -n '1500 / 27 | . * 1000000 | round / 1000000')" ]
check "mean" [ "$(of outer mean)" = 500 ]
check "deviation, of a sample" [ "$(of outer deviation)" = 173.205081 ]
check "least" [ "$(of outer min)" = 300 ]
check "most" [ "$(of outer max)" = 600 ]
check "range of the sum" [ "$(of outer range_pct)" = 20 ]
check "dispersion, variance by mean" [ "$(of outer dispersion)" = 60 ]
check "what a recording does not have is 0 there" [ "$(of '[outside of all functions]' min)" = 0 ]
# Dispersions: outer 60, outside 10, divides 133.3 / 293.3, odd_name 33.3 / 103.3
check "what varies most is first" [ "$(stats "$root/a" "$root/b" "$root/c" | column stats procedure)" = \
	"outer [outside of all functions] divides odd_name" ]
check "by the sum" [ "$(stats "$root/a" "$root/b" "$root/c" --sort=sum | column stats procedure)" = \
	"outer divides odd_name [outside of all functions]" ]
check "as if they were of one length" [ "$(stats "$root/a" "$root/c" --shares --sort=name | column stats mean)" = "309.642857 103.214286 437.142857" ]
check "the recordings are named" [ "$(stats "$root/a" "$root/b" "$root/c" | column recordings samples)" = "1000 1000 700" ]
check "one is too few" fails 2 'stats: two or more recordings are compared, not 1' morphctl stats "$root/a"
check "two are enough" [ "$(stats "$root/a" "$root/b" --sort=name | column recordings samples)" = "1000 1000" ]

# --- diff ---

differ() { json diff "$@" 2>"$root/err"; }
check "diff: before" [ "$(differ "$root/a" "$root/c" --sort=name | column diff before)" = "300 100 600" ]
check "after" [ "$(differ "$root/a" "$root/c" --sort=name | column diff after)" = "300 100 300" ]
check "the change of shares" [ "$(differ "$root/a" "$root/c" --sort=name | column diff change_points)" = "12.857143 4.285714 -17.142857" ]
check "what became more and less" [ "$(differ "$root/a" "$root/c" --sort=name | column diff changed)" = "more more less" ]
check "what is more by much comes first" [ "$(differ "$root/a" "$root/c" | column diff procedure)" = "outer divides odd_name" ]
check "what chance makes is neither" [ "$(differ "$root/a" "$root/b" --sort=name | cell diff procedure divides changed)" = "" ]
check "but what was not there, if it is enough of it" [ "$(differ "$root/a" "$root/b" | cell diff procedure '[outside of all functions]' changed)" = more ]
check "few samples say nothing" [ "$(differ "$root/few" "$root/few2" | jq '[.diff[] | select(.changed != "")] | length')" = 0 ]
# Fisher's exact test of 0 of 5 and 3 of 5: 2 * C(5,3) / C(10,3) = 1/6; Holm: twice that, of two rows
check "the exact test says how likely they are" [ "$(differ "$root/few" "$root/few2" | cell diff procedure outer p_value)" = 0.333 ]
check "nothing differs from itself" [ "$(differ "$root/a" "$root/a" | jq '[.diff[] | select(.p_value != 1 or .change_points != 0)] | length')" = 0 ]
sed 's/^clock .*/clock exact/' "$root/a" >"$root/exact"
sed 's/^clock .*/clock exact/; s/ 600$/ 601/' "$root/a" >"$root/exact2"
check "executions that differ do" [ "$(differ "$root/exact" "$root/exact2" | cell diff procedure outer changed)" = more ]
check "there is no chance in them" [ "$(differ "$root/exact" "$root/exact2" | jq '[.diff[] | select(has("p_value"))] | length')" = 0 ]
check "samples and executions do not compare" fails 2 'do not compare' morphctl diff "$root/a" "$root/exact"
check "three are too many" fails 2 'diff: two recordings are compared, not 3' morphctl diff "$root/a" "$root/b" "$root/c"

# --- bad input ---

for c in "report --log=$root/a" "stats $root/a $root/b" "diff $root/a $root/b"; do
	check "a sort that there is not (${c%% *})" fails 2 "--sort: 'size' is none of" morphctl $c --sort=size
	check "a kind of rows that there is not (${c%% *})" fails 2 "--by: 'size' is none of" morphctl $c --by=size
	check "a limit that is none (${c%% *})" fails 2 "--limit: '0' is not" morphctl $c --limit=0
	check "an unknown option (${c%% *})" fails 2 "unknown option '--all'" morphctl $c --all
done
for c in stats diff; do
	check "nothing of another one ($c)" fails 1 "no samples of 'nobody'" morphctl $c "$root/a" "$root/b" --module=nobody
done
mkfifo "$root/fifo"
for c in "report --log=$root/fifo" "stats $root/a $root/fifo" "diff $root/fifo $root/a"; do
	check "a pipe is not waited for (${c%% *})" fails 1 "'$root/fifo': not a regular file" timeout 20 "$B/morphctl" $c
	check "a program that is not there (${c%% *})" fails 1 "--binary='$root/none': No such" morphctl ${c//fifo/b} --binary="$root/none"
done
if [ "$(id -u)" = 0 ]; then
	cp "$root/a" "$root/others" && chown 64001 "$root/others"
	for c in "report --log=$root/others" "stats $root/a $root/others" "export $root/others --format=folded -o $root/none"; do
		check "another user's is not read by root (${c%% *})" fails 3 "'$root/others': belongs to user 64001" morphctl $c
		check "but by him through sudo (${c%% *})" env SUDO_UID=64001 "$B/morphctl" $c
		check "and by nobody else so (${c%% *})" fails 3 "belongs to user 64001" env SUDO_UID=6400 "$B/morphctl" $c
	done
	rm -f "$root/none"
fi
check "a file that is not there" fails 1 "'$root/none': open" morphctl report --log="$root/none"
check "one that is nothing" fails 1 "'$root/work': " morphctl report --log="$root/work"
check "what only recordings have is not asked of the daemon" fails 2 'is for recordings' morphctl report --by=line
check "nor is what nobody has said to be theirs" fails 1 'does not answer' morphctl report --by=lines --socket="$root/none"
check "a reader who has enough is no failure" bash -c "\"$B/morphctl\" report --log=\"$root/a\" | head -n 1 >/dev/null; [ \${PIPESTATUS[0]} = 0 ]"
done_testing
