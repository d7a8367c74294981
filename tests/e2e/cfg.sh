#!/bin/bash
# cfg.sh - the flow graph of a function has the blocks and edges that ran, as often as they did
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-cfg.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
cfg() { "$B/morphctl" cfg "$@" --log="$root/exact"; }
{ ${CC:-cc} -O2 -DOTHER -c -o "$root/other.o" tests/e2e/export/flow.c &&
	${CC:-cc} -O2 -c -o "$root/one.o" tests/e2e/export/flow.c &&
	${CC:-cc} -o "$root/flow" "$root/one.o" "$root/other.o"; } 2>"$root/why" || skip_all "$(cat "$root/why")"
"$B/morph-edit" instrument "$root/flow" -o "$root/counting" --counts "$root/counts" && "$root/counting" >"$root/out" &&
	"$B/morph-edit" counts "$root/flow" "$root/counts" -o "$root/exact" || not_ok "the program counts itself"

# The edges of the profile whose blocks are the function's.
of_profile() { awk -v blocks="$(grep -oE '^0x[0-9a-f]+' "$1")" 'BEGIN { n = split(blocks, b); for (i = 1; i <= n; i++) in_fn[b[i]] }
	$1 == "edge" && $2 in in_fn && $3 in in_fn { print $2, $3, $4 + 0 }' "$root/exact" | sort; }
of_text() { awk '/^0x/ { from = $1 } $1 == "->" && $4 > 0 { print from, $2, $4 + 0 }' "$1" | sort; }
of_dot() {
	awk -F '[][ \t"=,;\\\\]+' '/^\tb[0-9]+ \[label/ { at[$2] = $4 }
		/ -> / { count = $0; sub(/.*label="/, "", count); sub(/".*/, "", count); if (count > 0) print at[$2], at[$4], count + 0 }' "$1" | sort
}
blocks() { awk '/^0x/ && $6 > 0 { print $1, $6 + 0 }' "$1"; }
blocks_of_profile() { awk -v blocks="$(grep -oE '^0x[0-9a-f]+' "$1")" 'BEGIN { n = split(blocks, b); for (i = 1; i <= n; i++) in_fn[b[i]] }
	$1 == "block" && $2 in in_fn { print $2, $3 + 0 }' "$root/exact"; }
for f in cases main; do
	check "the graph of $f is written" cfg flow $f --output="$root/$f"
	note "$(grep -c '^0x' "$root/$f") blocks, $(grep -c -- '->' "$root/$f") edges"
	check "its edges are those that ran" diff <(of_profile "$root/$f") <(of_text "$root/$f")
	check "they are some" [ "$(of_text "$root/$f" | wc -l)" -ge 3 ]
	check "so are its blocks" diff <(blocks_of_profile "$root/$f") <(blocks "$root/$f")
	check "in the order of the file" diff <(grep -oE '^0x[0-9a-f]+' "$root/$f") <(grep -oE '^0x[0-9a-f]+' "$root/$f" | awk '{ printf "%20s\n", $0 }' | sort | tr -d ' ')
	cfg flow $f --dot >"$root/$f.dot"
	check "the graph for Graphviz has the same edges" diff <(of_text "$root/$f") <(of_dot "$root/$f.dot")
	if command -v dot >/dev/null; then
		check "Graphviz reads it" dot -Tsvg -o "$root/svg" "$root/$f.dot"
	else
		skip "Graphviz reads it" "no dot"
	fi
done
# As it would be laid out: the order of a generation made of the same, at its addresses.
"$B/morph-edit" optimize "$root/flow" --profile "$root/exact" -o "$root/new" 2>"$root/why" || not_ok "a generation is made"
for f in cases main; do
	check "the graph of $f in new order" cfg flow $f --placed --output="$root/$f.placed"
	sed 's/, placed at .*//' "$root/$f.placed" >"$root/unplaced"
	check "has the same blocks and edges" diff <(sort "$root/$f") <(sort "$root/unplaced")
	check "blocks are in the order of their images" diff <(sed -n 's/^0x.*, placed at 0x//p' "$root/$f.placed") \
		<(sed -n 's/^0x.*, placed at 0x//p' "$root/$f.placed" | awk '{ printf "%20s\n", $0 }' | sort | tr -d ' ')
	check "which has them there" diff <(sed -n 's/^0x.*, placed at //p' "$root/$f.placed" | xargs "$B/morph-edit" map "$root/new" | awk '/0x/ { print $2 }') \
		<(sed -n 's/^\(0x[0-9a-f]*\) .*, placed at .*/\1/p' "$root/$f.placed")
	cfg flow $f --placed --dot >"$root/$f.dot"
	check "for Graphviz, too" diff <(sed -n 's/^\(0x[0-9a-f]*\) .*, placed at /\1 /p' "$root/$f.placed" | sort) \
		<(sed -n 's/.*label="\(0x[0-9a-f]*\)\\nplaced at \(0x[0-9a-f]*\)\\n.*/\1 \2/p' "$root/$f.dot" | sort)
done
check "which is another one" not diff <(grep -oE '^0x[0-9a-f]+' "$root/cases") <(grep -oE '^0x[0-9a-f]+' "$root/cases.placed")
check "a table's cases are edges" grep -q -- '-> 0x[0-9a-f]* case' "$root/cases"
check "counted ones are certain" grep -q 'confidence high' "$root/cases"
check "by its address" diff "$root/cases" <(cfg flow "0x$(nm "$root/flow" | awk '$3 == "cases" { sub(/^0*/, "", $1); print $1 }')")
check "standard output will do" diff "$root/cases" <(cfg flow cases)
check "no such function" fails 1 "no samples of a function 'nobody'" cfg flow nobody
check "no such module" fails 1 "no samples of 'nobody'" cfg nobody cases
check "no function" fails 2 usage "$B/morphctl" cfg flow --log="$root/exact"
check "what recordings have is not asked of the daemon" fails 2 'is for recordings' "$B/morphctl" cfg flow cases --binary="$root/flow"
check "an unknown option" fails 2 "unknown option '--svg'" cfg flow cases --svg
check "an address that begins no function" fails 1 'no function begins at' \
	"$B/morph-edit" export "$root/flow" --profile "$root/exact" --format=flow --function=0x12 -o "$root/none"
# A daemon whose job a hostile program has taken over.
perl -MIO::Socket::UNIX -e '
	my $l = IO::Socket::UNIX->new(Local => shift, Listen => 1) or exit 1;
	my $s = $l->accept;
	sysread $s, my $request, 4096;
	print $s map { pack "V/a*", $_ } "\1flow\0\1\0line\0", "\2\t-> 0x10 \e[31m\x9b\0", "\5\0"' "$root/sock" &
for ((i = 0; i < 100; i++)); do [ -S "$root/sock" ] && break; sleep 0.1; done
check "nothing is said to the terminal" diff <(printf '\t-> 0x10 ?[31m?\n') <("$B/morphctl" --socket="$root/sock" cfg flow cases)
wait
done_testing
