#!/bin/bash
# stacks.sh - call stacks of a program whose call tree and its shares are known, of it and of a generation of it
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-stacks.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/rows" "$root/pointers" "$root/bin" "$root/store/originals"
build() {		# FOLDER FLAGS...
	local to=$root/$1
	shift
	${CC:-cc} "$@" -shared -fPIC -o "$to/libpart.so" tests/e2e/stacks/part.c &&
		${CC:-cc} "$@" -o "$to/work" tests/e2e/stacks/work.c "$to/libpart.so" -Wl,-rpath,"$to" -lpthread
}
build rows -O2 -fno-optimize-sibling-calls 2>"$root/why" || skip_all "$(cat "$root/why")"
TIMEFORMAT=%U
took=$({ time "$root/rows/work" 100000000; } 2>&1)
n=$(awk -v s="$took" 'BEGIN { printf "%.0f", 1e8 * 5 / (s > 0.01 ? s : 0.01) }')
record() {		# FOLDER OPTION...: log
	local of=$1
	shift
	"$B/morphctl" record -o "$root/log" --clock=cpu-clock --rate=997 "$@" -- "$root/$of/work" "$n"
}
record rows --stacks 2>"$root/why" || skip_all "$(cat "$root/why")"
cp "$root/log" "$root/whole"
exported() { "$B/morphctl" export "$@" 2>"$root/said"; }
sum() { awk '{ n += $NF } END { print n + 0 }'; }
of() { grep -E "$1" "$root/folded" | sum; }		# PATTERN: samples of such stacks
pct() { awk -v a="$1" -v b="$2" 'BEGIN { print a, "of", b; exit !(b > 0 && a * 100 / b > '"$3"' - 4 && a * 100 / b < '"$3"' + 4) }'; }

# --- shares by callers ---

start='^work;_start;[^;]*;[^;]*;main'
shares() {		# NAME [MAYBE]: of what is in $root/folded; MAYBE is "?" where who called spin() may be missing
	local spin maybe=$2
	spin=$(of ';spin [0-9]+$')
	note "$1: $(sum <"$root/folded") samples, $spin of them in spin"
	check "recursion, each call a frame ($1)" pct "$(of "$start;by_recursion(;recursive){9}(;recursive)$maybe;spin ")" "$spin" 25
	check "what qsort calls back ($1)" pct "$(of "$start;by_qsort(;[^;]*)+(;compare)$maybe;spin ")" "$spin" 20
	check "what a library calls back ($1)" pct "$(of "$start;by_library;part_outer;part_inner(;called_back)$maybe;spin ")" "$spin" 20
	check "a signal's handler, and what it interrupted ($1)" pct "$(of "$start(;by_signal)$maybe;victim;[^;]*(;handler)$maybe;spin ")" "$spin" 15
	check "a thread ($1)" pct "$(of "^work(;[^;]*){1,2}(;on_thread)$maybe;spin ")" "$spin" 10
	check "a stack that is too deep is cut off ($1)" pct "$(of '^work;\[cut off\](;deep){126};spin ')" "$spin" 10
	check "hardly another one is ($1)" [ "$(($(of ';\[cut off\]') - $(of '\[cut off\](;deep){126}')))" -le $((spin / 50)) ]
}
check "folded stacks are written" exported "$root/log" --format=folded -o "$root/folded"
all=$(sum <"$root/folded")
check "that some are cut off is said" grep -qE "the stacks of [0-9]+ of $all samples begin with \[cut off\]" "$root/said"
shares rows
if grep -q ';\[kernel\][; ]' "$root/folded"; then
	check "who was in the kernel is known" [ "$(of "$start;in_kernel;.*;\[kernel\](;[^;]*)? ")" -gt 5 ]
else
	skip "who was in the kernel is known" "the kernel is not sampled"
fi
check "who asks the clock is known" [ "$(of "$start;in_vdso;.*;\[vdso\] ")" -gt $(($(of '\[vdso\] ') * 9 / 10)) ]
check "without guessing" not grep -q 'may be missing' "$root/said"
check "a log with stacks is its owner's" [ "$(stat -c %a "$root/log")" = 600 ]

check "its profile has what registers tell, too" "$B/morphctl" profile "$root/log" -o "$root/profiles"
check "by samples in user mode" awk '$1 == "edge" { n += $4 } END { exit n < 1000 }' "$root"/profiles/work.*

# --- time with callees ---

callees() {		# PROCEDURE: samples
	jq -r --arg p "$1" '.procedures[] | select(.procedure == $p) | .with_callees' "$root/report"
}
"$B/morphctl" report --log="$root/log" --by=procedure --sort=callees --limit=1000 --json >"$root/report" 2>"$root/said"
for f in recursive compare part_outer handler spin deep; do
	check "$f, with callees, is all that has it on its stack, once" [ "$(callees $f)" = "$(of "[; ]$f[; ]")" ]
done
check "most first" jq -e '[.procedures[].with_callees] | . == (sort | reverse)' "$root/report"
check "by itself recursion has next to nothing" jq -e '.procedures[] | select(.procedure == "recursive") | .samples < .with_callees / 20' "$root/report"
"$B/morphctl" report --log="$root/log" --by=module --json >"$root/modules" 2>"$root/said"
check "the library, with what it calls back" [ "$(jq '.modules[] | select(.module | endswith("/libpart.so")) | .with_callees' "$root/modules")" = "$(of ';(part_(outer|inner)(@plt)?|\[libpart\.so\])[; ]')" ]
"$B/morphctl" report --log="$root/log" --by=procedure --sort=callees --limit=3 --json >"$root/report" 2>"$root/said"
check "what is left out together has no sample twice" jq -e --argjson all "$all" '.procedures[-1] |
	.procedure == "[all others]" and .with_callees <= $all and .with_callees >= .samples' "$root/report"

check "who does not show callers does not look for them" eval '"$B/morphctl" stats "$root/log" "$root/log" --json >"$root/stats" 2>"$root/said"'
check "nor tells of them" not grep -q 'cut off' "$root/said"
"$B/morphctl" report --log="$root/log" --by=caller --limit=1000 --json >"$root/callers" 2>"$root/said"
called() {		# PROCEDURE BY: samples
	jq -r --arg p "$1" --arg by "$2" '[.callers[] | select(.procedure == $p and .called_by == $by).samples] | add // 0' "$root/callers"
}
check "who called whom: by a library" [ "$(called part_inner part_outer)" = "$(of ';part_outer;part_inner[; ]')" ]
check "what it calls back" [ "$(called spin called_back)" = "$(of ';called_back;spin[; ]')" ]
check "recursion, each stack once" [ "$(called recursive recursive)" = "$(of ';recursive;recursive[; ]')" ]
check "most first" jq -e '[.callers[].samples] | . == (sort | reverse)' "$root/callers"
check "of one module" jq -e '[.callers[].module | endswith("/libpart.so")] | length > 0 and all' \
	<("$B/morphctl" report libpart.so --log="$root/log" --by=caller --json 2>/dev/null)
check "a page of it is made" exported "$root/log" --html="$root/page.html"
. tests/e2e/pages.bash
check "with the callers that report tells" diff <(table "$root/page.html" callers | numbers) \
	<("$B/morphctl" report --log="$root/log" --by=caller --limit=300 --json 2>/dev/null | rows callers | numbers)
check "it is well-formed" well_formed "$root/page.html"
check "and its links lead somewhere" no_dangling "$root/page.html"

# --- the other forms ---

exported "$root/log" --format=speedscope -o "$root/speedscope"
by_frame() {
	jq -r --arg name "$1" '(.shared.frames | map(.name == $name)) as $is | .profiles[0] | .samples as $s | .weights as $w
		| ([$w[]] | add) as $all | [range($s | length) | select(any($s[.][]; $is[.])) | $w[.]] | add * '"$all"' / $all | round' "$root/speedscope"
}
exported "$root/log" --format=firefox -o "$root/firefox"
in_profiler() {
	jq -r --arg name "$1" '.threads[0] as $t
		| def has: . != null and ($t.stringArray[$t.funcTable.name[$t.frameTable.func[$t.stackTable.frame[.]]]] == $name
			or ($t.stackTable.prefix[.] | has));
		[range($t.samples.length) | select($t.samples.stack[.] | has) | $t.samples.weight[.]] | add // 0' "$root/firefox"
}
exported "$root/log" --format=pprof -o "$root/pprof"
command -v protoc >/dev/null && protoc --decode=pprof.Profile -I manager/report pprof.proto <"$root/pprof" >"$root/pprof.txt"
in_pprof() {		# NAME: samples of stacks that have it
	awk -v name="$1" -f tests/e2e/stacks/pprof.awk "$root/pprof.txt"
}
has() {			# NAME: samples of stacks that have it
	awk -v name="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); has = 0
		for (i = 1; i <= k; i++) has = has || frame[i] == name
		sum += has * n } END { print sum + 0 }' "$root/folded"
}
for f in recursive compare part_outer handler '[cut off]'; do
	want=$(has "$f")
	check "speedscope has $f's" [ "$(by_frame "$f")" = "$want" ]
	check "the Firefox Profiler's form, too" [ "$(in_profiler "$f")" = "$want" ]
	if [ -s "$root/pprof.txt" ]; then
		check "and pprof's" [ "$(in_pprof "$f")" = "$want" ]
	else
		skip "and pprof's" "no protoc"
	fi
done
check "leaves are last in speedscope" jq -e '.shared.frames as $f | [.profiles[0].samples[] | $f[.[-1]].name] | index("spin") and (index("main") | not)' "$root/speedscope"

# --- code without unwind rows ---

if build pointers -O2 -fno-optimize-sibling-calls -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables 2>"$root/why" &&
		record pointers --stacks 2>"$root/why"; then
	check "code without rows has frame pointers" exported "$root/log" --format=folded -o "$root/folded"
	check "whose leaves may have none" grep -q 'who called it may be missing' "$root/said"
	shares pointers '?'
else
	skip "code without rows has frame pointers" "$(cat "$root/why")"
fi

# --- a generation ---

cp "$root/rows/work" "$root/store/originals/$(sha256sum <"$root/rows/work" | cut -d' ' -f1)"
check "a generation is made" "$B/morph-edit" optimize "$root/rows/work" --all --shuffle=5 -o "$root/bin/work"
check "it is recorded" record bin --stacks
check "and exported by its original" exported "$root/log" --format=folded -o "$root/folded" --store="$root/store"
shares generation

# --- pieces that are too short, logs that are cut short, wrong usage ---

a_fifth() { n=$((n / 5)) record "$@"; }
check "so little of a stack will do" a_fifth rows --stacks=64
check "what is missing is not shown as whole" exported "$root/log" --format=folded -o "$root/folded"
check "nothing of recursion is" [ "$(of "$start;.*recursive;spin")" = 0 ]
check "but its last callers are there" [ "$(of '^work;\[cut off\];.*recursive;spin')" -gt 20 ]
check "and that larger pieces would help" grep -q 'because the piece was too short' "$root/said"
check "a log without stacks" a_fifth rows
check "has none" exported "$root/log" --format=folded -o "$root/folded"
check "so nothing is cut off" not grep -q 'cut off' "$root/folded" "$root/said"
check "nor callers" fails 1 "no recording has stacks" "$B/morphctl" report --log="$root/log" --by=caller
check "and there are no callees to sort by" fails 1 "no recording has stacks" "$B/morphctl" report --log="$root/log" --sort=callees
"$B/morphctl" report --log="$root/log" --json >"$root/report" 2>"$root/said"
check "nor a column of them" jq -e '.procedures[0] | has("samples") and (has("with_callees") | not)' "$root/report"
check "one with and one without: what has no stack is cut off" \
	[ "$(exported "$root/whole" "$root/log" --format=folded -o - | grep -c '^work;\[cut off\];spin ')" = 1 ]
size=$(stat -c %s "$root/whole")
for part in 3 2; do
	# blocks begin at multiples of 256; a log that ends behind a block is whole
	head -c $((size * part / 5 / 256 * 256 + 1)) "$root/whole" >"$root/log"
	check "a log that is cut short has what is left ($part)" exported "$root/log" --format=folded -o "$root/folded"
	check "and that is said ($part)" grep -q "damaged or cut off" "$root/said"
	check "with whole stacks ($part)" [ "$(of "$start;by_recursion(;recursive){10};spin ")" -gt 20 ]
done
mv "$root/rows/work" "$root/gone"
check "without the program its rows are not there" exported "$root/whole" --format=folded -o "$root/folded"
check "that is said" grep -q "$root/rows/work: No such file" "$root/said"
check "and all is cut off" [ "$(of '^work;\[cut off\];\[work\]')" -gt $((all / 2)) ]
# Ends of 1 sample with one frame, of more frames than there may be, of no kind that there is, and no end.
mkdir "$root/beside"
cp "$B/morphctl" "$root/beside"
for answer in 0,0,0,0,0,0,0,0,1,0,0,0,1,2,3,4,5,6,7,8 0,0,0,0,0,0,0,0,255,255,255,255 9,0,0,0,0,0,0,0,1,0,0,0 0,0; do
	${CC:-cc} -DANSWER="$answer" -o "$root/beside/morph-edit" tests/e2e/stacks/liar.c
	check "a job that lies is noticed (${answer:0:11})" fails 1 'what unwinds stacks says is malformed' \
		"$root/beside/morphctl" export "$root/whole" --format=folded -o "$root/none"
done
mkdir "$root/bad"
head -c "$(size -A "$root/gone" | awk '$1 == ".eh_frame" { print $2 }')" /dev/urandom >"$root/bad/frames"
objcopy --update-section .eh_frame="$root/bad/frames" "$root/gone" "$root/bad/work"
check "a file whose rows make no sense costs its own" fails 0 'eh_frame' \
	"$B/morphctl" export "$root/whole" --format=folded -o "$root/folded" --binary="$root/bad/work"
check "that is what is in it" [ "$(of '^work;\[cut off\].*;spin ')" -gt $((all / 2)) ]
check "and no more" [ "$(of ';in_kernel;.*;\[kernel\] ')" = "$(of '^work;\[cut off\];in_kernel;.*;\[kernel\] ')" ]
for wrong in =0 =7 =32776 =x; do
	check "--stacks$wrong is wrong usage" fails 2 "is no multiple of 8 bytes, or more than 32768" "$B/morphctl" record -o "$root/none" "--stacks$wrong" -- true
done
check "nothing was written then" not [ -e "$root/none" ]
done_testing
