#!/bin/bash
# livenames.sh - perf and gdb find the names of functions in a process that has got a generation while it ran
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-live.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/gen" "$root/store"
. tests/e2e/live.bash

prepare steady "$B/tests/e2e/steady" || { not_ok "there is a generation"; done_testing; }
start "$root/out" "$root/steady" count
sleep 0.2
fit steady
check "a process has it" on "$pid" steady
base=$(on "$pid" steady | sed -n 's/^symbols at \(0x[0-9a-f]*\)$/\1/p')
[ -n "$base" ] && ok "where its symbols are is said" || not_ok "where its symbols are is said"

# What runs is in new text, and that has the names of the functions that moved.
moved=$(awk '/^new .* rx$/ { print $2, $3; exit }' "$root/steady.plan")
read -r new_at new_size <<<"$moved"
in_new() { nm "$root/gen/steady" | awk -v lo="$new_at" -v size="$new_size" '
	function hex(s,    i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
	$2 ~ /^[tT]$/ && hex($1) >= hex(lo) && hex($1) < hex(lo) + hex(size) { print $3, $1 }'; }
in_new >"$root/names"
[ "$(wc -l <"$root/names")" -ge 3 ] && ok "functions have moved" || not_ok "functions have moved: $(cat "$root/names")"

perf_names() {		# SECONDS: samples in new text have names of functions that moved, all of them
	local lo=$((base + 0x$new_at)) hi
	hi=$((lo + 0x$new_size))
	perf record -q -e cpu-clock -c 100000 -o "$root/perf.data" -p "$pid" -- sleep "$1" >/dev/null 2>&1 || { echo "perf cannot record"; return 1; }
	perf script -i "$root/perf.data" -F ip,sym 2>/dev/null | awk -v lo="$lo" -v hi="$hi" -v names="$root/names" '
		function hex(s,    i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		BEGIN { while ((getline line < names) > 0) { split(line, f, " "); known[f[1]] = 1 } }
		hex($1) >= lo && hex($1) < hi { n++; if ($2 in known) named++; else print }
		END { print n + 0, "samples in new text,", named + 0, "named"; exit n > 3 ? n != named : 2 }'
}
perf_names_it() {	# a busy machine has few samples in a second
	perf_names 1
	case $? in
	0) return 0 ;;
	2) perf_names 10 ;;
	*) return 1 ;;
	esac
}
if ! command -v perf >/dev/null; then
	skip "perf names functions in new text" "there is no perf"
elif ! perf record -q -e cpu-clock -o "$root/perf.try" -- true >/dev/null 2>&1; then
	skip "perf names functions in new text" "perf cannot record here"
else
	check "perf names functions in new text" perf_names_it
fi

gdb_names() {		# NAME ADDRESS LINE: gdb, stopped in new text, names the function with the line that is said, and its callers
	timeout 60 gdb -q -batch -nx -p "$pid" -ex "tbreak *($base + 0x$2)" -ex continue -ex "echo [before]\n" -ex "bt 1" \
		-ex "$3" -ex "echo [after]\n" -ex bt >"$root/gdb" 2>&1
	sed '/^\[after\]/,$d' "$root/gdb" | grep -q "^#0 .* in $1 " && { echo "it has a name without it"; cat "$root/gdb"; return 1; }
	sed -n '/^\[after\]/,$p' "$root/gdb" >"$root/gdb.after"
	grep -q "^#0 .* in $1 " "$root/gdb.after" && grep -q "^#[1-9].* main " "$root/gdb.after" || { cat "$root/gdb"; return 1; }
}
name=$(awk '$1 == "is_odd" || $1 == "count_digits" || $1 == "fold" { print; exit }' "$root/names")
if ! command -v gdb >/dev/null; then
	skip "gdb names functions in new text" "there is no gdb"
else
	check "gdb names functions in new text" gdb_names $name "add-symbol-file $root/gen/steady -o $base"
	kill -9 "$pid"
	# the same by the line that `morphctl live` prints
	wait "$pid" 2>/dev/null
	start "$root/out2" "$root/steady" count
	sleep 0.2
	"$B/morphctl" live "$pid" --store="$root/store" --time=2 --burst=0.2 --module="$root/steady" >"$root/said" 2>&1
	line=$(sed -n 's/^gdb: //p' "$root/said")
	base=${line##* }
	read -r _ file _ <<<"$line"
	# one that has moved
	name=$(nm "${file:-/dev/null}" 2>/dev/null | grep -vxF "$(nm "$root/steady")" |
		awk '$3 == "fold" || $3 == "count_digits" || $3 == "is_odd" { print $3, $1; exit }')
	# it may be that nothing of so small a program is worth moving, or none of these
	if [ -z "$name" ] || grep -q "no function is worth\|no samples" "$root/said"; then
		skip "and by the line that morphctl live prints" "nothing was moved"
	else
		check "and by the line that morphctl live prints" gdb_names $name "$line" || note "$(cat "$root/said")"
	fi
fi
kill -0 "$pid" && ok "the process goes on" || not_ok "the process goes on"
done_testing
