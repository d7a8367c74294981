#!/bin/bash
# export.sh - a recording in the forms of other tools, each read back: all say what its block profiles say
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-export.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
written() { "$B/morphctl" export "$@"; }

# A symbol may be any bytes.
odd='odd;name "<&'\''\x'
${CC:-cc} -O2 -g -c -o "$root/work.o" tests/e2e/export/work.c 2>"$root/why" &&
	objcopy --redefine-sym odd_name="$odd" "$root/work.o" && ${CC:-cc} -o "$root/work" "$root/work.o" 2>"$root/why" ||
	skip_all "$(cat "$root/why")"
TIMEFORMAT=%U
took=$({ time "$root/work" 2000000; } 2>&1)
n=$(awk -v s="$took" 'BEGIN { printf "%.0f", 2e6 * 3 / (s > 0.01 ? s : 0.01) }')
"$B/morphctl" record -o "$root/log" -- "$root/work" "$n" 2>"$root/why" || skip_all "$(cat "$root/why")"
"$B/morphctl" profile "$root/log" -o "$root/profiles" >"$root/said" || not_ok "the log has profiles"
profile=$(ls "$root"/profiles/work.*)

# --- what there is to be told: by the profile and by nm ---

count() { awk '$1 == "block" || $1 == "outside" { n += $NF } END { print n + 0 }' "$@"; }
of_function() {		# SYMBOL: samples in it
	nm -S "$root/work" | symbol=$1 awk '{ name = $0; sub(/^[^ ]* [^ ]* [^ ]* /, "", name) }
		name == ENVIRON["symbol"] { print $1, $2 }' |
		while read -r at size; do
			awk -v at=$((16#$at)) -v size=$((16#$size)) '$1 == "block" {
				a = 0
				for (i = 3; i <= length($2); i++)
					a = 16 * a + index("0123456789abcdef", substr($2, i, 1)) - 1
				if (a >= at && a < at + size) n += $3 } END { print n + 0 }' "$profile"
		done
}
all=$(count "$profile")
in_outer=$(of_function outer) in_divides=$(of_function divides) in_odd=$(of_function "$odd")
note "$took s, $n; $all samples in the program: outer $in_outer, divides $in_divides, odd $in_odd"
[ "$all" -gt 100 ] && [ "$in_outer" -gt 20 ] && [ "$in_divides" -gt 20 ] && [ "$in_odd" -gt 5 ] ||
	skip_all "the program has too few samples on this machine"
shown='odd;name "<&'\''\\x'	# a backslash is shown as two, as everywhere

# --- folded stacks ---

sum() { awk '{ n += $NF } END { print n + 0 }'; }
check "folded stacks are written" written "$root/log" --format=folded -o "$root/folded"
check "every line is a stack and a count" not grep -vE '^[^;]+(;[^;]+)* [0-9]+$' "$root/folded"
check "in order, each once" [ "$(sed 's/ [0-9]*$//' "$root/folded")" = "$(sed 's/ [0-9]*$//' "$root/folded" | LC_ALL=C sort -u)" ]
own() { grep -F "work;$1" "$root/folded" | sum; }
all_of=$(grep -vE '^work;(\[|lib|ld-)' "$root/folded" | sum)
check "the program's samples are there ($all_of)" [ "$all_of" = "$all" ]
check "outer's" [ "$(own outer)" = "$in_outer" ]
check "of which the inlined function has most" [ "$(own 'outer;inlined ')" -gt $((in_outer / 2)) ]
check "divides'" [ "$(own 'divides ')" = "$in_divides" ]
check "those of a name with a semicolon" [ "$(own "${shown/;/:} ")" = "$in_odd" ]
whole=$(sum <"$root/folded")
check "standard output will do" [ "$(written "$root/log" --format=folded -o - | sum)" = "$whole" ]
written "$root/log" --format=folded -o "$root/alone" <&- >&- 2>&-
check "closed standard descriptors are nobody's numbers" cmp "$root/folded" "$root/alone"
check "what is written to a closed one is lost with a reason" eval '! written "$root/log" --format=folded -o - 2>"$root/said" >&- && grep -q "standard output: " "$root/said"'

# --- pprof ---

check "pprof's form is written" written "$root/log" --format=pprof -o "$root/pprof"
decode() { protoc --decode=pprof.Profile -I manager/report pprof.proto <"$root/$1"; }
if command -v protoc >/dev/null; then
	check "protoc reads it" decode pprof
	decode pprof >"$root/pprof.txt"
	unknown=$(grep -cE '^ *[0-9]+:' "$root/pprof.txt")
	check "and knows all of its fields" [ "$unknown" = 0 ]
	# Samples by function: the last line of each location is the function itself.
	awk -f tests/e2e/export/pprof.awk "$root/pprof.txt" >"$root/pprof.sum"
	value() { awk -F '\t' -v n="$1" '$1 == n { print $2 }' "$root/pprof.sum"; }
	check "it has all samples" [ "$(value '(all)')" = "$whole" ]
	check "outer's" [ "$(value outer)" = "$in_outer" ]
	check "divides'" [ "$(value divides)" = "$in_divides" ]
	check "those of the odd name" [ "$(grep -cF "$in_odd" <(grep -F 'odd;name' "$root/pprof.sum"))" = 1 ]
	check "the time is samples times period" [ "$(value '(time)')" = "$(value '(samples times period)')" ]
	check "the build-id is the file's" grep -qF "$(readelf -n "$root/work" | awk '/Build ID/ { print $3 }')" "$root/pprof.txt"
	check "lines are those of the source" [ "$(value '(line of inlined)')" = "$(awk '/line-inlined/ { print FNR }' tests/e2e/export/work.c)" ]
else
	skip "protoc reads it" "no protoc"
fi

# --- speedscope ---

check "speedscope's form is written" written "$root/log" --format=speedscope -o "$root/speedscope"
jq_of() { jq -r "$2" "$root/$1"; }
check "it is JSON of its schema" [ "$(jq_of speedscope '."$schema"')" = https://www.speedscope.app/file-format-schema.json ]
# What the published description of the format demands of a file with a profile of kind "sampled".
check "with what the schema demands" jq -e '
	(.shared.frames | length) as $n
	| all(.shared.frames[]; (.name | type) == "string" and ((.file // "") | type) == "string")
	and (.profiles | length) == 1
	and all(.profiles[];
		.type == "sampled" and (.name | type) == "string"
		and (.unit | IN("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"))
		and .startValue == 0 and (.samples | length) == (.weights | length)
		and all(.samples[][]; . >= 0 and . < $n) and all(.weights[]; . >= 0)
		and ((.endValue - (.weights | add)) | fabs) < 1)
	and .activeProfileIndex == 0' "$root/speedscope"
by_frame() {		# NAME: weight of stacks that have the frame, in samples
	jq -r --arg name "$1" '(.shared.frames | map(.name == $name)) as $is | .profiles[0] | .samples as $s | .weights as $w
		| [range($s | length) | select(any($s[.][]; $is[.])) | $w[.]] | add // 0' "$root/speedscope"
}
period=$(jq -r '.profiles[0] | if .unit == "nanoseconds" then .endValue else 0 end' "$root/speedscope")
check "and all samples in nanoseconds" [ $((${period%.*} % whole)) = 0 ]
period=$((${period%.*} / whole))
check "outer's" [ "$(by_frame outer)" = $((in_outer * period)) ]
check "those of the odd name" [ "$(by_frame "$shown")" = $((in_odd * period)) ]
check "the inlined function's file is named" [ "$(jq -r '.shared.frames[] | select(.name == "inlined") | .file' "$root/speedscope" |
	sed 's|.*/||')" = work.c ]

# --- Firefox Profiler ---

check "the Firefox Profiler's form is written" written "$root/log" --format=firefox -o "$root/firefox"
check "its tables are columns of one length, and indices are of what is there" jq -e '
	def columns: . as $t | all(to_entries[] | select((.value | type) == "array"); (.value | length) == $t.length);
	def within($n): all(.[]; . == null or (. >= 0 and . < $n));
	.meta.preprocessedProfileVersion == 48 and .meta.version == 29 and (.meta.categories | length) == 1
	and (.libs | length) as $libs
	| .threads[0] as $t | ($t.stringArray | length) as $text
	| all($t.samples, $t.markers, $t.stackTable, $t.frameTable, $t.funcTable, $t.resourceTable, $t.nativeSymbols; columns)
	and ($t.samples.stack | within($t.stackTable.length)) and ($t.stackTable.frame | within($t.frameTable.length))
	and all(range($t.stackTable.length); $t.stackTable.prefix[.] == null or $t.stackTable.prefix[.] < .)
	and ($t.frameTable.func | within($t.funcTable.length)) and ($t.frameTable.nativeSymbol | within($t.nativeSymbols.length))
	and ($t.funcTable.name | within($text)) and ($t.funcTable.fileName | within($text))
	and all($t.funcTable.resource[]; . >= -1 and . < $t.resourceTable.length)
	and ($t.resourceTable.lib | within($libs)) and ($t.resourceTable.name | within($text))
	and ($t.nativeSymbols.libIndex | within($libs)) and ($t.nativeSymbols.name | within($text))
	and $t.isMainThread == true and $t.samples.weightType == "samples" and ($t.pid | type) == "string"' "$root/firefox"
in_profiler() {		# NAME: weight of samples whose stack has a function of that name
	jq -r --arg name "$1" '.threads[0] as $t
		| def has: . != null and ($t.stringArray[$t.funcTable.name[$t.frameTable.func[$t.stackTable.frame[.]]]] == $name
			or ($t.stackTable.prefix[.] | has));
		[range($t.samples.length) | select($t.samples.stack[.] | has) | $t.samples.weight[.]] | add // 0' "$root/firefox"
}
check "it has all samples" [ "$(jq '[.threads[0].samples.weight[]] | add' "$root/firefox")" = "$whole" ]
check "outer's" [ "$(in_profiler outer)" = "$in_outer" ]
check "divides'" [ "$(in_profiler divides)" = "$in_divides" ]
check "those of the odd name" [ "$(in_profiler "$shown")" = "$in_odd" ]
check "the library is the file" [ "$(jq -r '.libs[] | select(.name == "work") | .codeId' "$root/firefox")" = \
	"$(readelf -n "$root/work" | awk '/Build ID/ { print $3 }')" ]

# --- Graphviz ---

check "a graph of calls is written" written "$root/log" --format=dot -o "$root/dot" --module=work
check "a module by its name and by its path is the same" eval '
	written "$root/log" --format=fdata --module=work -o "$root/by_name" &&
	written "$root/log" --format=fdata --module="$root/work" -o "$root/by_path" &&
	[ -s "$root/by_name" ] && cmp "$root/by_name" "$root/by_path"'
check "with shares of the samples" [ "$(awk -F '[" ]' '/label="outer/ { sub(/.*\\n/, ""); print int($1 + 0.5) }' "$root/dot")" = \
	"$(awk -v a="$in_outer" -v b="$(awk '$1 == "block" { n += $3 } END { print n }' "$profile")" 'BEGIN { print int(100 * a / b + 0.5) }')" ]
check "names are quoted" grep -qF 'label="odd;name \"<&amp;'\''\\\\x\n' "$root/dot"
if command -v dot >/dev/null; then
	check "Graphviz reads it" dot -Tsvg -o "$root/svg" "$root/dot"
else
	skip "Graphviz reads it" "no dot"
fi

# --- a profile instead of a log ---

check "a profile is exported as well" written "$profile" --format=folded -o "$root/of-profile"
check "with its samples" [ "$(sum <"$root/of-profile")" = "$all" ]
check "by function" [ "$(grep -F 'work;divides ' "$root/of-profile" | sum)" = "$in_divides" ]
check "several are added up" [ "$(written "$root"/profiles/* "$profile" --format=folded -o - 2>"$root/why" | sum)" = \
	$(($(count "$root"/profiles/*) + all)) ]
check "so are several logs" [ "$(written "$root/log" "$root/log" --format=folded -o - | sum)" = $((2 * whole)) ]
sed 's/^clock .*/clock exact/' "$profile" >"$root/exact.profile"
check "samples and executions are not" fails 2 'do not add up' written "$profile" "$root/exact.profile" --format=folded -o "$root/none"

# --- a generation that ran ---

mkdir -p "$root/store/originals" "$root/bin"
cp "$root/work" "$root/store/originals/$(sha256sum <"$root/work" | cut -d' ' -f1)"
"$B/morph-edit" optimize "$root/work" --all --shuffle=3 -o "$root/bin/work" && "$B/morphctl" record -o "$root/glog" -- "$root/bin/work" "$n"
check "samples of a generation are told" written "$root/glog" --format=folded -o "$root/folded" --store="$root/store"
ran=$(sum <"$root/folded")
check "by the functions of its original" [ "$(own 'outer;inlined ')" -gt $((ran / 5)) ]
check "none of them is lost ($ran)" [ "$(own '')" -gt $((ran / 2)) ]
check "without the original that is said" fails 0 'a generation; its original' \
	written "$root/glog" --format=folded -o "$root/folded" --store="$root/nothing"
check "so it is where one module is asked for" fails 1 'a generation; its original' \
	written "$root/glog" --format=dot --module=work -o "$root/none" --store="$root/nothing"

# --- files that are others by now ---

mv "$root/work" "$root/kept"
check "a file that is gone is told of, and no failure" fails 0 "$root/work: No such file" written "$root/log" --format=folded -o "$root/folded"
check "its samples are its file's" [ "$(grep '^work [0-9]' "$root/folded" | sum)" = "$all" ]
cp "$B/morphctl" "$root/work"
check "so is one that is another by now" fails 0 "$root/work: another file is there by now" written "$profile" --format=folded -o "$root/folded"
check "of one module it is said as well" fails 1 "$root/work: another file" written "$root/log" --format=fdata --module=work -o "$root/none"
mkdir "$root/elsewhere"
mv "$root/kept" "$root/elsewhere/work"
check "one that was kept elsewhere can be named" written "$root/log" --format=folded -o "$root/folded" --binary="$root/elsewhere/work"
check "and gives the same" [ "$(own outer)" = "$in_outer" ]
check "for a form of one module, too" written "$root/log" --format=dot -o "$root/dot2" --binary="$root/elsewhere/work"
check "with the same" cmp "$root/dot" "$root/dot2"
mv "$root/elsewhere/work" "$root/work"

# --- bad input ---

check "a format that there is not" fails 2 "no format 'svg'" written "$root/log" --format=svg -o "$root/none"
check "no format" fails 2 usage written "$root/log" -o "$root/none"
check "no output" fails 2 usage written "$root/log" --format=folded
check "an unknown option" fails 2 "unknown option '--formats" written "$root/log" --formats=folded -o "$root/none"
: >"$root/empty"
head -c 100000 /dev/urandom >"$root/random"
head -c 300 "$root/log" >"$root/cut"
sed '5s/.*/block 0x 1/' "$profile" >"$root/bad.profile"
for f in empty random missing; do
	check "what is no recording is an error ($f)" fails 1 "'$root/$f': " written "$root/$f" --format=pprof -o "$root/none"
done
check "so is a profile with a bad line" fails 1 "'$root/bad.profile': profile line 5" written "$root/bad.profile" --format=pprof -o "$root/none"
head -c 100 "$root/log" >"$root/cut_in_header"
for f in cut cut_in_header; do
	check "a log that is cut short has what is left of it ($f)" fails 0 "'$root/$f': 1 part left out, damaged or cut off" \
		written "$root/$f" --format=folded -o "$root/folded"
	check "which it is, is said of several" fails 0 "morphctl: '$root/$f': 1 part left" written "$root/log" "$root/$f" --format=folded -o "$root/folded"
done
check "what is no recording is called so" fails 1 "'$root/random': not a log of samples" written "$root/random" --format=folded -o "$root/none"
check "an unknown module" fails 1 "nothing of 'nobody' is in it" written "$root/log" --format=dot --module=nobody -o "$root/none"
check "an unknown one, where only one is wanted" fails 1 "nothing of 'nobody' is in it" \
	written "$root/log" --format=fdata --module=nobody -o "$root/none"
check "forms of one module take one input" fails 2 'takes one recording' written "$root/log" "$root/log" --format=fdata -o "$root/none"
check "a folder that cannot be written in" fails 1 "'$root/no/where': create" written "$root/log" --format=folded -o "$root/no/where"
check "a module, of a form of all" fails 2 "--module is for forms of one" written "$root/log" --format=folded --module=work -o "$root/none"
mkfifo "$root/fifo"
for f in folded fdata; do
	check "a pipe is not waited for ($f)" fails 1 "'$root/fifo': not a regular file" timeout 20 "$B/morphctl" export "$root/fifo" --format=$f -o "$root/none"
	check "nor a folder read ($f)" fails 1 "'$root': not a regular file" written "$root" --format=$f -o "$root/none"
	check "a program that is not there ($f)" fails 1 "--binary='$root/no/work': No such" written "$root/log" --format=$f --binary="$root/no/work" -o "$root/none"
	cp "$root/log" "$root/own"
	check "a recording is not written over ($f)" fails 2 "'$root/./own' would be written over '$root/own'" written "$root/own" --format=$f -o "$root/./own"
	check "and is what it was ($f)" cmp "$root/log" "$root/own"
	echo former >"$root/former"
	check "what cannot be written whole ($f)" fails 1 "write: File too large" \
		bash -c "(trap '' XFSZ; ulimit -f 0; exec \"$B/morphctl\" export \"$root/log\" --format=$f -o \"$root/former\") 2>&1 |
			cat; exit \${PIPESTATUS[0]}"
	check "leaves what was there, and nothing else ($f)" [ "$(cat "$root"/former*)" = former ]
done

# Told to end while it waits for a job without an end, or it reads what has no end.
ended() {		# SIGNAL PATTERN COMMAND...: once there is such a file; it is gone then
	local signal=$1 pattern=$2 i pid
	shift 2
	"$@" >/dev/null 2>&1 &
	pid=$!
	for i in $(seq 500); do
		compgen -G "$pattern" >/dev/null && break
		sleep 0.01
	done
	kill "-$signal" "$pid"
	wait "$pid" 2>/dev/null
	[ $? = $((128 + $(kill -l "$signal"))) ] || { echo "not by the signal"; return 1; }
	for i in $(seq 500); do
		compgen -G "$pattern" >/dev/null || return 0
		sleep 0.01
	done
	compgen -G "$pattern"
	return 1
}
mkdir "$root/beside" "$root/tmp"
cp "$B/morphctl" "$root/beside"
echo "int main(void) { for (;;) ; }" >"$root/forever.c"
${CC:-cc} -o "$root/beside/morph-edit" "$root/forever.c"
for signal in TERM HUP; do
	check "half an output does not stay (SIG$signal)" ended $signal "$root/half.??????" \
		"$B/morph-edit" export "$root/work" --profile /dev/zero --format=fdata -o "$root/half"
	check "nor does a folder (SIG$signal)" ended $signal "$root/tmp/*" \
		env TMPDIR="$root/tmp" "$root/beside/morphctl" export "$root/log" --format=fdata -o "$root/half"
done
check "a folder that cannot be made is named" fails 1 "temporary folder '/nonexistent/morph-export" \
	env TMPDIR=/nonexistent "$B/morphctl" export "$root/log" --format=fdata -o "$root/none"
check "nothing was written where something was wrong" not [ -e "$root/none" ]
done_testing
