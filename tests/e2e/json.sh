#!/bin/bash
# json.sh - what every command of morphctl prints with --json is what doc/morphctl.schema.json says: each table, each
# column with its type, nothing else
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
schema=$PWD/doc/morphctl.schema.json
make_root gzip bash
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 2003
	  registers: off
END
seq 200000 >"$root/data"
work() { "$root/bin/$1" -9 <"$root/data" >/dev/null; }

# The subset of JSON Schema that the file uses: type (one or several), properties, patternProperties, required,
# additionalProperties, items, enum, const, pattern and $ref to a definition of the file.
cat >"$root/valid.jq" <<-'END'
	def kind: if type == "number" and floor == . then "integer" else type end;
	def is($t): ($t | if type == "array" then . else [.] end) as $t |
		kind as $k | any($t[]; . == $k or (. == "number" and $k == "integer"));
	def faults($root; $s; $at):
		. as $v |
		if $s["$ref"] then faults($root; $root["$defs"][$s["$ref"] | ltrimstr("#/$defs/")]; $at) else
			(if $s.type and (is($s.type) | not) then "\($at): \($v | tojson | .[:60]) is no \($s.type | tojson)" else empty end),
			(if $s.const and $v != $s.const then "\($at): not \($s.const)" else empty end),
			(if $s.enum and all($s.enum[]; . != $v) then "\($at): \($v | tojson) is none of \($s.enum | tojson)" else empty end),
			(if $s.pattern and (test($s.pattern) | not) then "\($at): \($v | tojson | .[:60]) does not match \($s.pattern)" else empty end),
			(if type == "object" then
				(($s.required // [])[] as $n | select($v | has($n) | not) | "\($at): no \($n)"),
				(keys_unsorted[] as $n |
					[$s.properties[$n] // empty, (($s.patternProperties // {}) | to_entries[] | .key as $p | select($n | test($p)) | .value)] as $of |
					if $of != [] then $v[$n] | faults($root; $of[]; "\($at).\($n)")
					elif $s.additionalProperties == false then "\($at): \($n) is not in the schema"
					else empty end)
			elif type == "array" and $s.items then
				(range(length) as $i | $v[$i] | faults($root; $s.items; "\($at)[\($i)]"))
			else empty end)
		end;
	$schema[0] as $root | [faults($root; {"$ref": "#/$defs/\($name)"}; $name)] | unique[:10][]
END
valid() {		# NAME FILE
	local faults
	faults=$(jq -r --slurpfile schema "$schema" --arg name "$1" -f "$root/valid.jq" "$2" 2>&1)
	[ -z "$faults" ] && [ -s "$2" ] && jq -e --arg n "$1" '."$defs"[$n]' "$schema" >/dev/null && return 0
	echo "$faults"
	return 1
}
tried=
prints() {		# NAME COMMAND...: the command's JSON is that of the schema's definition NAME
	local name=$1
	shift
	tried+=" $1"
	timeout 200 "$B/morphctl" --socket "$root/sock" --json "$@" >"$root/$name.json" 2>"$root/$name.err" </dev/null
	[ -z "${KEPT:-}" ] || cp "$root/$name.json" "$KEPT/"
	check "$name: ${*//$root/}" valid "$name" "$root/$name.json"
}
check_here "a daemon" start_daemon
check "gzip runs" sampled gzip 400 work gzip
check "bash runs" sampled bash 3 "$root/bin/bash" -c 'for ((i = 0; i < 30000; i++)); do :; done'
gzip=$root/bin/gzip
odd=$root/bin/$'odd\xff'	# no UTF-8
cp "$gzip" "$odd"
check "so does a program whose name is no text" within 60 eval '"$odd" -9 <"$root/data" >/dev/null; taken_in; ctl --json list | grep -q path_hex'
prints reoptimize reoptimize "$gzip"
check "its generation runs" sampled gzip 800 work gzip
prints reoptimize reoptimize --dry-run "$gzip"
prints status status
check "its values are those of its rows" jq -e '.values[0] | .sampling == "on" and .clock == "cpu-clock"
	and .budget_cpu_s > 0 and .spool_files >= 0 and .policy_good and .room' "$root/status.json"
prints list list
check "the kernel has a part of the CPU time" jq -e '[.cpu_time[] | select(.where == "kernel" or .where == "generations") | .samples > 0] == [true, true]
	and (([.cpu_time[].share_pct] | add) - 100 | fabs < 0.01)' "$root/status.json"
check "what was decided has a code" jq -e '(.modules | length > 0) and
	all(.modules[]; (.decided == "") == (.decided_code == ""))' "$root/list.json"
prints report report
for by in machine user program module procedure; do
	prints report report --by=$by
	check "it has rows by $by" jq -e 'any(.[]; type == "array" and length > 0 and .[0].samples > 0)' "$root/report.json"
done
for by in machine program module; do
	prints report report --by=$by --since=2d
	check "it has rows by $by of a time" jq -e 'any(.[]; type == "array" and length > 0 and (.[0].samples // 0) > 0) and (.period | length == 1)' "$root/report.json"
done
prints report report "$gzip" --by=program --until="@$(($(date +%s) / 3600 * 3600))"
prints report report "$gzip"
prints explain explain "$gzip"
prints verify verify --all
prints saved saved
prints overview
prints reoptimize reoptimize "$odd"
prints history history
prints policy policy show
prints policy policy show "$gzip"
prints share share
prints look look
prints none pause
prints status status --check
prints none resume
prints verify verify --packages
function=$(jq -r '[.procedures[] | select(.procedure | startswith("[") | not)][0].procedure' "$root/report.json")
prints annotate annotate "$gzip" "$function"
prints annotate annotate "$gzip" "$function" --generation
check "a generation's instructions have their originals" jq -e 'any(.instructions[]; .original != null)' "$root/annotate.json"
"$B/morphctl" record -o "$root/log" --clock cpu-clock --rate 2003 -- "$root/orig/gzip" -9 -c "$root/data" >/dev/null 2>&1
prints report_log report --log="$root/log"
for by in machine program module procedure line inlined; do
	prints report_log report --log="$root/log" --by=$by
done
"$B/morphctl" record -o "$root/stacks" --stacks --clock cpu-clock --rate 999 -- "$root/orig/gzip" -9 -c "$root/data" >/dev/null 2>&1
prints report_log report --log="$root/stacks" --by=caller
"$B/morphctl" record -o "$root/oddlog" --clock cpu-clock --rate 2003 -- "$odd" -9 -c "$root/data" >/dev/null 2>&1
prints report_log report --log="$root/oddlog" --by=program
check "a name that is no text is told as it is" [ "$(jq -r '.programs[0].program_hex' "$root/report_log.json")" = \
	"$(printf %s "$odd" | od -An -v -tx1 | tr -d ' \n')" ]
prints stats stats "$root/log" "$root/log"
prints diff diff "$root/log" "$root/log"
for by in machine program module line inlined; do
	prints stats stats "$root/log" "$root/log" --by=$by
	prints diff diff "$root/log" "$root/log" --by=$by
done
prints annotate_log annotate "$root/orig/gzip" "$function" --log="$root/log"
prints annotate_log annotate "$root/orig/gzip" "$function" --log="$root/log" --binary="$gzip" --store="$root/store" --generation
check "a generation's blocks have their originals" jq -e 'any(.blocks[]; .original != .block)' "$root/annotate_log.json"
"$B/morph-edit" instrument "$root/orig/gzip" -o "$root/counting" --counts "$root/counts" && "$root/counting" -9 -c "$root/data" >/dev/null &&
	"$B/morph-edit" counts "$root/orig/gzip" "$root/counts" -o "$root/exact"
prints report_log report --log="$root/exact" --by=caller
check "calls that were counted are whole numbers" jq -e '(.callers | length > 0) and all(.callers[]; .calls == (.calls | floor))' "$root/report_log.json"
prints try try --time=4 -- "$root/orig/gzip" -c "$root/data"

# What is not so is noticed.
damaged() {		# NAME FILTER
	jq "$2" "$root/$1.json" >"$root/damaged.json" && not valid "$1" "$root/damaged.json"
}
check "a column that is not there is noticed" damaged list 'del(.modules[0].samples)'
check "and one that should not be" damaged list '.modules[0].size = 1'
check "a table that is not there" damaged saved 'del(.in_all)'
check "and one that should not be" damaged saved '.more = []'
check "a text for a number" damaged list '.modules[0].generation = "1"'
check "half of a whole number" damaged list '.modules[0].generation = 1.5'
check "no number where there has to be one" damaged list '.modules[0].samples = null'
check "a code that nobody knows" damaged list '.modules[0].state_code = "done"'
check "another version" damaged list '.version = 2'
check "no version" damaged list 'del(.version)'
# What no run had a text in that is none is as the others are.
check "tables are found in the schema" jq -e '[.. | objects | .items?.properties | objects] | length > 50' \
	doc/morphctl.schema.json
check "each of them, as far as it has texts" jq -e '[.. | objects | .items? | objects | select(.properties and (.patternProperties | not)) |
	.properties[] | select((.type | tostring | contains("string")) and (has("enum") | not))] == []' doc/morphctl.schema.json
check "no bytes beside a text" damaged list '.modules[0].path_hex = "odd"'
check "no output" not valid list /dev/null

skips=$(sed -nE 's/^SKIP\(([A-Z0-9_]+),.*/\1/p' postmorph/ir/skip.def | tr '[:upper:]' '[:lower:]')
check "codes of reasons are those that there are" diff <(echo "$skips"; echo refused) \
	<(jq -r '."$defs".explain.properties.reasons.items.properties.reason_code.enum[]' "$schema")
check "explain has them" jq -e 'any(.reasons[]; .reason_code == "none" and .reason == "movable")' "$root/explain.json"

# Every command is here, or prints no tables, or needs what is not here.
without="undo restore auto record profile live import export cfg metrics keep report-bug"
for c in $("$B/morphctl" help | sed -nE 's/^  ([a-z][a-z-]*).*/\1/p' | grep -vx help); do
	case " $tried $without " in
	*" $c "*) ok "$c is decided about" ;;
	*) not_ok "$c is decided about" ;;
	esac
done
check "every definition is one of the choices" jq -e '([.anyOf[]."$ref" | ltrimstr("#/$defs/")] | sort) == (."$defs" | keys)' "$schema"
check_here "the daemon ends" stop_daemon
done_testing
