#!/bin/bash
# bolt.sh - profiles for llvm-bolt, and back: nothing of what ran is lost, and llvm-bolt takes all of it
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-bolt.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@"; }

build() {		# OUT FLAGS...
	local out=$1
	shift
	${CC:-cc} -O2 -fno-reorder-blocks-and-partition -DOTHER "$@" -c -o "$root/other.o" tests/e2e/export/flow.c &&
		${CC:-cc} -O2 -fno-reorder-blocks-and-partition "$@" -c -o "$root/one.o" tests/e2e/export/flow.c &&
		${CC:-cc} "$@" -rdynamic -Wl,-q -Wl,--build-id -o "$out" "$root/one.o" "$root/other.o"
} 2>"$root/why"
build "$root/pie" -fPIE -pie || skip_all "$(cat "$root/why")"
build "$root/exec" -fno-pie -no-pie || skip_all "$(cat "$root/why")"
# Its dynamic symbols stay, which llvm-bolt does not look at.
objcopy --strip-all "$root/pie" "$root/stripped" 2>/dev/null

# Everything that ran, by the program's own counters.
count() {		# PROGRAM
	"$B/morph-edit" instrument "$root/$1" -o "$root/$1.counting" --counts "$root/$1.counts" && "$root/$1.counting" >"$root/$1.out" &&
		"$B/morph-edit" counts "$root/$1" "$root/$1.counts" -o "$root/$1.exact"
}
lines() { awk -v kind="$1" '$1 == kind' "$2"; }
edges() { lines edge "$1" | awk '{ $4 = $4 + 0; print }' | sort; }
# Calls that an exact profile has of direct calls alone are those that fdata has.
direct() {		# PROGRAM PROFILE: calls from instructions that are direct
	local call
	lines call "$2" | while read -r call from to n; do
		objdump -d --start-address="$from" --stop-address=$((from + 1)) "$root/$1" | grep -qE '(call|jmp|j[a-z]+) +[0-9a-f]+ ' &&
			echo "$call $from $to $(awk -v n="$n" 'BEGIN { print n + 0 }')"
	done | sort
}
import() {		# TEXT PROGRAM OUT
	rm -rf "$root/imported"
	morphctl import "$1" -o "$root/imported" --binary="$root/$2" >"$3.said" && mv "$root"/imported/*.profile "$3"
}
blocks_but_first() {	# PROGRAM PROFILE: main and what only the C library enters has no call to it
	diff <(lines block "$root/$1.exact") <(lines block "$2") >"$root/diff"
	[ "$(grep -c '^<' "$root/diff")" -le "$3" ] || { cat "$root/diff"; return 1; }
}

for p in pie exec stripped; do
	count $p || { not_ok "the program counts itself ($p)"; continue; }
	for form in fdata preagg; do
		check "executions are written as $form ($p)" morphctl export "$root/$p.exact" --format=$form -o "$root/$p.$form"
		check "and read again" import "$root/$p.$form" $p "$root/$p.of-$form"
		check "none was left out" grep -q 'left out: 0 lines' "$root/$p.of-$form.said"
		check "the edges are those that ran" diff <(edges "$root/$p.exact") <(edges "$root/$p.of-$form")
		check "so are direct calls" diff <(direct $p "$root/$p.exact") <(direct $p "$root/$p.of-$form")
		check "the clock is that of branches" grep -q '^clock branches$' "$root/$p.of-$form"
	done
	check "blocks ran as often (fdata, $p)" blocks_but_first $p "$root/$p.of-fdata" 0
	check "blocks ran as often, but for single ones whose runs have no beginning (preagg, $p)" \
		blocks_but_first $p "$root/$p.of-preagg" 8
	check "an optimization takes it ($p)" "$B/morph-edit" optimize --processor=zen4 "$root/$p" --profile "$root/$p.of-fdata" -o "$root/$p.best"
	check "the same text twice is twice as much ($p)" morphctl import "$root/$p.fdata" "$root/$p.fdata" -o "$root/twice" --binary="$root/$p"
	check "edge by edge" diff <(edges "$root/$p.exact" | awk '{ print $2, $3, 2 * $4 }') <(edges "$root"/twice/$p.* | awk '{ print $2, $3, $4 }')
done
check "indirect calls that were counted are there" [ "$(awk '$2 == "main" && $5 == "other" { n += $8 } END { print n + 0 }' "$root/pie.fdata")" = 6667 ]
check "local functions of one name have numbers" [ "$(grep -oE '^1 local/[12] ' "$root/pie.fdata" | sort -u | wc -l)" = 2 ]

# What a YAML profile says of blocks and edges, function by function, and, by names, of calls.
says() {		# YAML
	python3 - "$1" <<-'END'
		import re, sys
		text = re.sub(r",\s*\n\s+", ", ", open(sys.argv[1]).read())
		functions = re.findall(r"^  - name: +(.*)\n    fid: +(\d+)\n(?:    hash:.*\n)?    exec: +(\d+)\n(?:    extern:.*\n)?    nblocks: +(\d+)\n((?:    .*\n)*)", text, re.M)
		name = { f[1]: f[0].strip("'\"").split("(")[0] for f in functions }
		for f in functions:
		    print(name[f[1]], "runs", f[2], "blocks", f[3])
		    for b in re.findall(r"^      - bid: +(\d+)\n        insns: +(\d+)\n((?:        .*\n)*)", f[4], re.M):
		        ways = [("succ", to, n) for to, n in re.findall(r"bid: (\d+), cnt: (\d+)", b[2])]
		        ways += [("call " + off.lower(), name.get(to, "-"), n) for off, to, n in re.findall(r"off: (\w+), fid: (\d+),(?: disc: \d+,)? cnt: (\d+)", b[2])]
		        if ways:
		            print(name[f[1]], b[0], "insns", b[1])
		        for way in sorted(set(ways)):
		            if way[2] != "0":
		                print(name[f[1]], b[0], *way)
	END
}

# Executed branches before and after, by llvm-bolt's own count.  $bolt, $p, $flags
dyno() {		# PROFILE OPTION...
	"$bolt" "$root/$p" -data "$root/$1" -o /dev/null "${flags[@]}" -dyno-stats "${@:2}" 2>/dev/null | grep -E '^ +[0-9]+ : .*branch'
}
# One function is a jump of two bytes, which Morph does not move: nothing but its calls is known, to YAML it is nobody.
but_small() {
	local small
	small="(one|__BOLT_FDE_FUNCat$(nm "$root/pie" | awk '$3 == "one" { sub(/^0+/, "", $1); print $1 }'))"
	grep -vE "^$small runs" | sed -E "s/(call 0x[0-9a-f]+) $small /\1 - /"
}
# To llvm-bolt a jump behind a branch is in the branch's block: it aggregates no edge between them.
but_pair() {
	local at
	at=$(nm "$root/${p/stripped/pie}" | awk '$3 == "pair" { sub(/^0+/, "", $1); print $1 }')
	grep -vE "(pair/1|FUNCat$at) 4 1 [^ ]+ 6 |^edge 0x$at 0x$(printf %x $((16#$at + 6))) "
}
# merge-fdata keeps one target of each indirect call.
one_target() {
	awk '{ line[NR] = $0; key[NR] = $3 == "call" ? $1 " " $2 " " $4 : ""; n[key[NR]]++ }
		END { for (i = 1; i <= NR; i++) if (key[i] == "" || n[key[i]] == 1) print line[i] }'
}

# --- llvm-bolt itself ---

bolt=${BOLT:-$(ls -d /usr/lib/llvm-*/bin/llvm-bolt 2>/dev/null | sort -V | tail -n 1)}
if [ -n "$bolt" ]; then
	tools=${bolt%/*}
	note "$("$bolt" --version | grep -E 'version' | head -n 1) in $tools"
	for p in pie exec stripped; do
		flags=(-reorder-blocks=ext-tsp -reorder-functions=hfsort)
		if [ $p = stripped ]; then
			flags=(--allow-stripped -reorder-blocks=ext-tsp)
			"$bolt" --help-hidden | grep -q allow-stripped || { skip "llvm-bolt lays out by fdata ($p)" "it takes no such file"; continue; }
		fi
		check "llvm-bolt lays out by fdata ($p)" "$bolt" "$root/$p" -data "$root/$p.fdata" -o "$root/$p.bolt" "${flags[@]}"
		"$bolt" "$root/$p" -data "$root/$p.fdata" -o "$root/$p.bolt" "${flags[@]}" >"$root/said" 2>&1
		# The functions that ran: local twice, one, other, cases and main, and what the C library's start code is.
		check "it knows functions that have executions" grep -qE '[5-9]|1[0-9] out of [0-9]+ functions in the binary .* have non-empty' "$root/said"
		# One object is [unknown], from which functions are entered.
		check "and ignores none" not grep -qE 'profile for ([2-9]|[1-9][0-9]+) objects was ignored|mismatch' "$root/said"
		check "which does what it did" diff <("$root/$p.bolt") "$root/$p.out"
		aggregated() { "$tools/perf2bolt" "${flags[@]:0:1}" "$root/$p" -p "$root/$p.preagg" -pa -o "$root/$p.pa.fdata"; }
		[ $p = stripped ] || aggregated() { "$tools/perf2bolt" "$root/$p" -p "$root/$p.preagg" -pa -o "$root/$p.pa.fdata"; }
		check "perf2bolt takes the pre-aggregated ones ($p)" aggregated
		aggregated >"$root/said" 2>&1
		check "all of them" grep -q 'mismatching disassembled function contents: 0 ' "$root/said"
		# perf2bolt gives branches through the linkage table the name of what is called, which Morph leaves out, and
		# does not tell where what nobody calls is entered from.
		check "and makes of them what Morph does ($p)" diff \
			<(grep -vE '\[unknown\]|@PLT' "$root/$p.fdata" | but_pair | sort) <(grep -vE '\[unknown\]|@PLT' "$root/$p.pa.fdata" | sort)
		check "whose fdata is imported ($p)" import "$root/$p.pa.fdata" $p "$root/$p.of-pa"
		check "with the edges that ran" diff <(edges "$root/$p.exact" | but_pair) <(edges "$root/$p.of-pa")
		yaml=$("$bolt" --version | grep -oE 'version [0-9]+' | cut -d' ' -f 2)
		if [ "${yaml:-0}" -ge 17 ]; then
			check "executions are written as YAML ($p)" morphctl export "$root/$p.exact" --format=yaml -o "$root/$p.yaml"
			laid_out() { "$bolt" "$root/$p" -data "$root/$p.yaml" --profile-ignore-hash -o "$root/$p.ybolt" "${flags[@]}" -v=1 >"$root/said" 2>&1; }
			check "llvm-bolt lays out by YAML ($p)" laid_out
			check "and ignores nothing" not grep -E 'WARNING.*(ignored|mismatch|match|bounds|expected)' "$root/said"
			check "as it does by fdata" diff <(dyno "$p.fdata") <(dyno "$p.yaml" --profile-ignore-hash)
			check "which does what it did" diff <("$root/$p.ybolt") "$root/$p.out"
			# What llvm-bolt writes itself, by fdata, of the same functions.
			"$bolt" "$root/$p" -data "$root/$p.fdata" -w "$root/$p.own.yaml" -o /dev/null "${flags[@]}" >"$root/said" 2>&1
			check "it says what llvm-bolt's own says ($p)" diff <(says "$root/$p.own.yaml" | but_small | sort) <(says "$root/$p.yaml" | sort)
			check "merge-fdata takes YAML ($p)" "$tools/merge-fdata" -o "$root/merged.yaml" "$root/$p.yaml" "$root/$p.yaml"
			check "and adds it up" diff <(says "$root/$p.yaml" | one_target | awk '$2 == "runs" { $3 *= 2 } $3 == "succ" || $3 == "call" { $NF *= 2 } { print }' | sort) <(says "$root/merged.yaml" | one_target | sort)
		else
			skip "llvm-bolt lays out by YAML ($p)" "it is older than 17"
		fi
		check "merge-fdata takes fdata ($p)" "$tools/merge-fdata" -o "$root/merged" "$root/$p.fdata" "$root/$p.fdata"
		check "and its sum is imported" import "$root/merged" $p "$root/$p.of-merged"
		check "edge by edge" diff <(edges "$root/$p.exact" | awk '{ print $2, $3, 2 * $4 }') <(edges "$root/$p.of-merged" | awk '{ print $2, $3, $4 }')
	done
	if "$bolt" "$root/exec" -instrument -instrumentation-file="$root/own.fdata" -o "$root/exec.own" >"$root/said" 2>&1 &&
			"$root/exec.own" >"$root/said"; then
		check "what llvm-bolt's own counters say is imported" import "$root/own.fdata" exec "$root/exec.of-own"
		p=exec
		check "and says of local functions what Morph's say" diff \
			<(edges "$root/exec.exact" | but_pair) <(edges "$root/exec.of-own" | grep -Ff <(edges "$root/exec.exact" | cut -d' ' -f 1-3))
	else
		skip "what llvm-bolt's own counters say is imported" "$(tail -n 1 "$root/said")"
	fi
else
	skip "llvm-bolt lays out by fdata" "no llvm-bolt"
fi

# --- estimates from samples ---

if morphctl record -o "$root/log" -- "$root/pie" 2000000 >"$root/said" 2>&1; then
	check "estimates are written as well" morphctl export "$root/log" --format=fdata -o "$root/sampled.fdata" --module=pie
	check "and imported" import "$root/sampled.fdata" pie "$root/pie.sampled"
	morphctl profile "$root/log" -o "$root/profiles" >"$root/said" 2>&1
	"$B/morph-edit" infer "$root/pie" --profile "$(ls "$root"/profiles/pie.*)" -o "$root/inferred"
	# In thousandths, of which fdata has whole ones and at least one.
	near() {
		paste <(edges "$root/inferred") <(edges "$root/pie.sampled") | awk '$2 != $6 || $3 != $7 || $8 != int($8) || $8 < 1 ||
			($4 - $8) ^ 2 > 1 { print; bad = 1 } END { exit bad || NR < 10 }'
	}
	check "they are what is inferred" near
else
	skip "estimates are written as well" "$(cat "$root/said")"
fi

# --- bad input ---

touch "$root/empty"
check "no program" fails 2 'does not say of which file' morphctl import "$root/pie.fdata" -o "$root/none"
check "two programs" fails 2 'does not say of which file' morphctl import "$root/pie.fdata" -o "$root/none" --binary="$root/pie" --binary="$root/exec"
check "another program" fails 3 'nothing of it is of this file' morphctl import "$root/stripped.fdata" -o "$root/none" --binary="$B/morph-live"
check "no program, but a text" fails 3 "$root/pie.fdata': the program: not an ELF file" morphctl import "$root/pie.fdata" -o "$root/none" --binary="$root/pie.fdata"
echo nonsense >>"$root/pie.fdata"
check "a line that is none" fails 1 'line [0-9]* is neither of fdata nor' morphctl import "$root/pie.fdata" -o "$root/none" --binary="$root/pie"
check "two forms at once" fails 1 'is neither of fdata nor' morphctl import "$root/exec.fdata" "$root/exec.preagg" -o "$root/none" --binary="$root/exec"
{ echo boltedcollection; cat "$root/exec.fdata"; } >"$root/bolted"
check "what was collected of a program that llvm-bolt has rewritten" fails 3 'rewritten' morphctl import "$root/bolted" -o "$root/none" --binary="$root/exec"
check "nothing is written then" not [ -e "$root/none" ]
done_testing
