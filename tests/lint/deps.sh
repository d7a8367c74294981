#!/bin/bash
# deps.sh - dependencies go one way, by includes and by what the objects refer to
#
# DEPS is the table of DESIGN.md: what each folder may include besides itself.  The same is held of the
# objects' undefined symbols, so a prototype written by hand does not get around it.  Then the
# table itself is tried: an include and a symbol in the wrong direction must be noticed.
. tests/tap.sh
B=${B:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-deps.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT

export DEPS="
lib:
binary: lib
verify: binary lib
share: lib
live: lib
policy: lib
monitor: lib
postmorph/unwind: binary lib
postmorph/ir: postmorph/unwind binary lib
postmorph/machine: postmorph/ir binary lib
postmorph/tables: postmorph/ir postmorph/machine postmorph/unwind binary lib
postmorph/refs: postmorph/ir postmorph/unwind postmorph/tables binary lib
postmorph: postmorph/ir postmorph/unwind postmorph/tables postmorph/refs binary lib
editor/graph:
editor/infer: editor/graph postmorph binary lib
editor/passes: editor/graph editor/infer postmorph binary lib
editor/emit: editor/graph postmorph binary lib
editor/instrument: editor/graph editor/infer editor/passes editor/emit postmorph binary lib
editor/interpret: postmorph binary lib
editor/inherit: postmorph binary lib
editor/exchange: editor/graph editor/infer editor/interpret postmorph binary lib
editor/annotate: editor/exchange editor/infer editor/measure editor postmorph binary lib
editor/debug: binary lib
editor/measure: editor/graph editor/infer editor/emit postmorph binary lib
editor: editor/cmd editor/graph editor/infer editor/passes editor/emit editor/measure postmorph binary lib
editor/cmd: editor editor/annotate editor/debug editor/exchange editor/infer editor/inherit editor/instrument editor/interpret editor/measure editor/emit postmorph binary lib
manager/parent: lib
manager/samples: monitor policy lib
manager/import: monitor lib
manager/store: manager/samples monitor policy lib
manager/work: manager/store manager/samples manager/parent monitor policy lib
manager/control: manager/work manager/store manager/samples manager/parent monitor policy lib
manager/report: manager/samples manager/parent monitor policy lib
manager/try: manager/samples manager/parent monitor policy lib
manager/page: manager/report manager/samples manager/parent monitor policy lib
manager/ctl: manager/page manager/report manager/try manager/work manager/import manager/samples manager/parent monitor policy lib
manager: manager/parent manager/control monitor policy lib
"

# The folder of the table that a file is in; what a folder without inner ones includes of a room
# (postmorph from editor/infer) it includes of all of it.
rules='BEGIN {
	n = split(ENVIRON["DEPS"], line, "\n")
	for (i = 1; i <= n; i++) {
		m = split(line[i], word, /:? +|:/)
		if (word[1] == "")
			continue
		known[word[1]]
		for (k = 2; k <= m; k++)
			may[word[1], word[k]]
	}
}
function folder(path) {
	while (sub(/\/[^\/]*$/, "", path))
		if (path in known)
			return path
	return ""
}
function allowed(from, to, room) {
	room = to
	sub(/\/.*/, "", room)
	return from == to || (from, to) in may ||
		(from !~ "^" room "(/|$)" && (from, room) in may)
}
function judge(user, used, how, from, to) {
	from = folder(user)
	to = folder(used)
	if (from != "" && to != "" && !allowed(from, to))
		print user " " how " " used
}
'
includes() {		# TREE: FILE INCLUDED
	(cd "$1" && grep -rn '#include "' --include='*.[ch]' \
		lib binary verify live share policy monitor postmorph editor manager) |
		sed -nE 's/^([^:]*):[0-9]*:#include "([^"]*)".*/\1 \2/p'
}

judge_includes() {	# TREE
	includes "$1" | awk "$rules"'{ judge($1, $2, "includes") }'
}

symbols() {		# FOLDER...: OBJECT SYMBOL TYPE
	find "$@" -name '*.o' ! -path '*/tests/*' ! -path '*/bench/*' | LC_ALL=C sort | xargs nm -P -A |
		awk -v folder="$B/" '{ sub(/:$/, "", $1); print substr($1, length(folder) + 1), $2, $3 }'
}

judge_symbols() {	# reads OBJECT SYMBOL TYPE
	awk "$rules"'
	$3 ~ /[TDBRC]/ && $1 !~ /main\.o$/ { where[$2] = $1 }
	$3 == "U" { user[++n] = $1; name[n] = $2 }
	END {
		for (i = 1; i <= n; i++)
			if (name[i] in where)
				judge(user[i], where[name[i]], "refers to " name[i] " of")
	}'
}

# Objects of one folder refer to each other in one direction.  Again and again those that refer to
# none of the others that are left go; what is left then are the circles and what leads to them.
judge_cycles() {	# FOLDER; reads OBJECT SYMBOL TYPE
	awk -v folder="$1/" '
	index($1, folder) != 1 || substr($1, length(folder) + 1) ~ /\// { next }
	$3 ~ /[TDBRC]/ { where[$2] = $1 }
	$3 == "U" { user[++n] = $1; name[n] = $2 }
	{ left[$1] }
	END {
		do {
			gone = 0
			split("", refers)
			for (i = 1; i <= n; i++)
				if (name[i] in where && where[name[i]] != user[i] &&
				    user[i] in left && where[name[i]] in left)
					refers[user[i]] = where[name[i]] " by " name[i]
			for (o in left)
				if (!(o in refers)) {
					delete left[o]
					gone++
				}
		} while (gone)
		for (o in left)
			print o " refers to " refers[o]
	}'
}

none() {		# NAME TEXT: ok if there is no text
	[ -z "$2" ] && ok "$1" || { not_ok "$1"; note "$2"; }
}

none "includes go as the table says" "$(judge_includes .)"
rooms=()
for room in lib binary verify live share policy monitor postmorph editor manager; do rooms+=("$B/$room"); done
symbols "${rooms[@]}" >"$T/symbols"
none "symbols go as the table says" "$(judge_symbols <"$T/symbols")"
[ "$(wc -l <"$T/symbols")" -gt 2000 ] && ok "objects were looked at" || not_ok "objects were looked at"

# Folders whose files call each other in one direction only: all but postmorph/tables, where the walk over a
# function (tablewalk.c) and the walk of a table's address away from it (tableaway.c) need each other.
for folder in lib binary verify live share policy monitor postmorph postmorph/ir postmorph/unwind postmorph/machine \
	postmorph/refs editor editor/graph editor/infer editor/passes editor/emit editor/instrument \
	editor/interpret editor/exchange editor/annotate editor/measure editor/cmd manager manager/parent manager/samples manager/store \
	manager/work manager/control manager/report manager/try manager/ctl; do
	none "files of $folder/ are in no circle" "$(judge_cycles $folder <"$T/symbols")"
done

# Violations on purpose.
noticed() {		# NAME TEXT
	[ -n "$2" ] && ok "$1 is noticed" || not_ok "$1 is noticed"
}
try_include() {		# FILE INCLUDED
	mkdir -p "$T/tree"/{lib,binary,verify,live,share,policy,monitor,postmorph,editor,manager} "$T/tree/${1%/*}"
	echo "#include \"$2\"" >"$T/tree/$1"
	noticed "$1 that includes $2" "$(judge_includes "$T/tree")"
	rm "$T/tree/$1"
}
try_include verify/x.c postmorph/ir/ir.h
try_include verify/x.c editor/passes/pass.h
try_include binary/x.c postmorph/ir/ir.h
try_include editor/graph/x.c lib/arena.h
try_include editor/graph/x.c postmorph/ir/ir.h
try_include editor/infer/x.c editor/passes/pass.h
try_include postmorph/ir/x.c postmorph/pieces.h
try_include postmorph/tables/x.c postmorph/refs/references.h
try_include postmorph/refs/x.c postmorph/blocks.h
try_include live/x.c binary/image.h
try_include live/x.c manager/parent/job.h
try_include manager/parent/x.c manager/store/store.h
try_include manager/parent/x.c monitor/spool.h
try_include manager/samples/x.c manager/store/store.h
try_include manager/store/x.c manager/work/work.h
try_include manager/work/x.c manager/control/control.h
try_include manager/control/x.c postmorph/ir/ir.h
try_include manager/try/x.c manager/work/work.h
try_symbol() {		# OBJECT SYMBOL
	noticed "$1 that refers to $2" "$( (cat "$T/symbols"; echo "$1 $2 U") | judge_symbols)"
}
try_symbol verify/code.o prog_analyze
try_symbol editor/graph/exttsp.o arena_alloc
try_symbol postmorph/tables/jumptable.o references_find
try_symbol postmorph/unwind/cfi.o prog_find_fn
try_symbol manager/parent/install.o store_open
try_symbol manager/parent/install.o spool_read

try_cycle() {		# FOLDER OBJECT SYMBOL
	noticed "a circle by $2 that refers to $3" "$( (cat "$T/symbols"; echo "$2 $3 U") | judge_cycles "$1")"
}
try_cycle verify verify/lookup.o verify_generation
try_cycle verify verify/shift.o vregs_apply
try_cycle manager/store manager/store/store_db.o store_module_put

# A program has in it what the table lets it have.
check_free() {		# PROGRAM SYMBOL...
	local p=$1 found= s
	shift
	for s in "$@"; do
		nm "$B/$p" | grep -qE " [TDBR] $s$" && found="$found $s"
	done
	none "$p is without analysis, passes and emit" "$found"
}
check_free morph-verify prog_analyze passes_run emit_generation infer_counts cfi_parse
grep -qE 'libbfd|libopcodes' <<<"$(ldd "$B/morph-verify")" && not_ok "morph-verify does without libbfd and libopcodes" ||
	ok "morph-verify does without libbfd and libopcodes"
done_testing
