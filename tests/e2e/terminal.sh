#!/bin/bash
# terminal.sh - morphctl on terminals of 80 and 200 columns, and in pipes: nothing is wider than the terminal, what
# is longer goes through a pager, colour is where it is wanted, and a reader who has enough is no error
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
long=bin/a-folder-with-a-name-that-is-long-enough-for-any-terminal-of-eighty-columns
make_root gzip sort
mkdir -p "$root/$long"
sed -i "s|include: .*|include: [\"$root/bin/*\", \"$root/$long/*\"]|" "$root/morph.yaml"
cp "$root/orig/sort" "$root/$long/sort"
unset NO_COLOR MORPH_PAGER PAGER LESS COLUMNS
export TERM=xterm-256color LC_ALL=C.UTF-8
escape=$(printf '\033')

on() {			# COLUMNS ROWS [-i INPUT]... COMMAND...: on a terminal; its lines without colours to out
	"$B/tests/e2e/pty" "$@" >"$root/raw"
	local rc=$?
	sed "s/$escape\[[0-9;]*m//g; s/\r\$//; s/\r\|$escape\[K/\n/g" "$root/raw" >"$root/out"
	return $rc
}
ctl_on() {		# COLUMNS [ARGUMENT...]: without a pager
	on "$1" 24 "$B/morphctl" --socket "$root/sock" --no-pager "${@:2}"
}
fits() {		# COLUMNS [ARGUMENT...]
	ctl_on "$@"
	local rc=$? wide
	wide=$(wc -L <"$root/out")
	[ $rc -le 1 ] && [ -s "$root/out" ] && [ "$wide" -le "$1" ] && return 0
	echo "exit code $rc, $wide columns"
	cat "$root/out"
	return 1
}
coloured() { grep -q "$escape\[" "$1"; }

check_here "the daemon starts and answers" start_daemon
all_commands() {	# COLUMNS
	local c
	for c in "" saved "saved --wide" "saved --since=1h" status list "list --wide" report "report --limit 3" history "policy show" \
		"verify --all" "status --check" "policy show $root/$long/sort" "explain $root/$long/sort" "report $root/$long/sort" help; do
		check "$1 columns: ${c//$root/} fits" fits "$1" $c
	done
}
said() {		# CODE PATTERN [ARGUMENT...]
	local code=$1 pattern=$2 out rc
	shift 2
	out=$(ctl "$@" 2>&1)
	rc=$?
	[ $rc = "$code" ] && grep -qE -- "$pattern" <<<"$out" && return 0
	echo "exit code $rc: $out"
	return 1
}

# A daemon that knows nothing yet.
for c in "" saved status list history "policy show" "verify --all" "restore --all"; do
	check "of nothing: $c" ctl $c
done
check "list says that there is nothing" said 0 "has been sampled yet" list
check "history does" said 0 "nothing has been done so far" history
check "look does" said 0 "no module was replaced" look
check "restore --all says that there is nothing" said 0 "no module has a generation" restore --all
check "verify --packages does" said 0 "no module has a generation" verify --packages
check "nothing known of it: explain" said 1 "no samples of such a module" explain nosuch
check "nothing known of it: report" said 1 "no samples of such a module" report nosuch
for c in verify undo "undo --force" report-bug history; do
	check "nothing known of it: $c" said 1 "no samples of such a module" $c /usr/bin/nosuch
done
check "which is said once" [ "$(ctl verify /usr/bin/nosuch 2>&1 | grep -c "no samples of such")" = 1 ]
check "no file of that name: keep" said 1 "No such file" keep /usr/bin/nosuch "$root/morph.yaml"
check "nothing is shared: share now" said 1 "nothing is shared" share now
check "a limit that is none" said 2 "'many' is not a number" report --limit many

seq 300000 | shuf >"$root/data"
work_sort() { LC_ALL=C "$root/$long/sort" "$root/data"; }
work_gzip() { "$root/bin/gzip" -9 -n -c <"$root/data"; }
runs() {		# PATH: until it has samples enough
	local i
	for i in $(seq 100); do
		work_sort >/dev/null && work_gzip >/dev/null && taken_in || return 1
		ctl --json list | grep -F "\"$root/$long/sort\"" | grep -qE '"samples": ([5-9][0-9]|[0-9]{3,})' && return 0
	done
	return 1
}
check "programs run" runs
check "nothing was done to one that is known" said 0 "^nothing has been done to it so far" history "$root/bin/gzip"
check "one is laid out" ctl reoptimize "$root/$long/sort"
for columns in 80 200; do
	all_commands $columns
done
one_below_the_other() {	# HEADING [ARGUMENT...]: in a table, and what is spared for that is said
	ctl_on 80 "${@:2}" && grep -qE "^ *$1 " "$root/out" && grep -q '^(no room for ' "$root/out"
}
check "procedures are one below the other" one_below_the_other 'module +procedure' report
symbol=$(ctl --json report "$root/bin/gzip" | jq -r '.procedures[0].entry')
check "so are instructions" one_below_the_other 'address +samples' annotate "$root/bin/gzip" "$symbol"
check "nothing known of it: annotate" said 1 "has no function 'nosuch'" annotate "$root/bin/gzip" nosuch
check "nor of its generation" said 1 "has no generation: it is the original" annotate "$root/bin/gzip" "$symbol" --generation
check "or of another one" said 1 "has generation 1, not 7" annotate "$root/$long/sort" nosuch --generation=7
check "a number of a generation that is none" said 2 "^morphctl: --generation: 'abc' is not a number" \
	annotate "$root/bin/gzip" "$symbol" --generation=abc
check "an order that is none" said 2 "^morphctl: --sort: 'size' is none of count, name" report --sort=size
check "options may stand in front" one_below_the_other 'address +samples' annotate --generation "$root/$long/sort" \
	"$(ctl --json report "$root/$long/sort" | jq -r '.procedures[0].entry')"
usage_fits() {		# [ARGUMENT...]
	ctl_on 80 "$@"
	[ $? = 2 ] && grep -q "^usage: morphctl $1" "$root/out" && [ "$(wc -L <"$root/out")" -le 80 ] && return 0
	cat "$root/out"
	return 1
}
for c in try "report a b" stats undo "diff a" record "annotate a"; do
	check "the usage line of $c fits" usage_fits $c
done
check "with --wide nothing is spared" not one_below_the_other 'module +procedure' report --wide
ctl_on 80 list
check "a long path loses its middle" grep -qE "^/tmp/.*…[^ ]*/sort +[0-9.]+ +1 +optimized" "$root/out"
check "rows are one below the other" grep -qE "^path +samples +generation +state +speed" "$root/out"
check "a terminal of one column is no trouble" ctl_on 1 list
LC_ALL=C ctl_on 80 list
check "without UTF-8 the ellipsis is of dots" grep -qE "^/tmp/.*\.\.\.[^ ]*/sort " "$root/out"
ctl list >"$root/piped"
check "in a pipe paths are whole" grep -q "^$root/$long/sort " "$root/piped"
check "list --wide has more columns" grep -q "text_bytes" <<<"$(ctl list --wide)"
check "status leaves out what is not there" not grep -q "^crashes_over" <<<"$(ctl status)"
check "with --wide it does not" grep -q "^crashes_over  *0" <<<"$(ctl --wide status)"
check "and JSON all of them" grep -q '"counts_gain_ppm"' <<<"$(ctl --json list)"

# Colour.
ctl_on 80 list
check "colour on a terminal" coloured "$root/raw"
check "headings are bold" grep -q "$escape\[1mpath" "$root/raw"
NO_COLOR=1 ctl_on 80 list
check "NO_COLOR" not coloured "$root/raw"
NO_COLOR=1 ctl_on 80 --color=always list
check "--color=always is stronger" coloured "$root/raw"
ctl_on 80 --color=never list
check "--color=never" not coloured "$root/raw"
TERM=dumb ctl_on 80 list
check "not on a dumb terminal" not coloured "$root/raw"
check "nor in a pipe" not coloured "$root/piped"
ctl --color always list >"$root/piped"
check "unless it is asked for" coloured "$root/piped"
check "what is no colour" said 2 "'blue' is not one of auto, always, never" --color=blue list
ctl_on 80 --color=always --json list
check "JSON never has any" not coloured "$root/raw"

# The pager.
pager() {		# ROWS [-i INPUT] [ARGUMENT...]
	on 80 "$@"
}
cat >"$root/pager" <<-END
	#!/bin/sh
	echo "\$LESS" >"$root/less"
	sed 's/^/PAGED /'
END
chmod +x "$root/pager"
export MORPH_PAGER=$root/pager
pager 10 "$B/morphctl" --socket "$root/sock" status
check "what is longer than the terminal is paged" grep -q "^PAGED sampling" "$root/out"
check "with LESS=FRSX" [ "$(cat "$root/less")" = FRSX ]
LESS=-i pager 10 "$B/morphctl" --socket "$root/sock" status
check "or the caller's" [ "$(cat "$root/less")" = -i ]
pager 200 "$B/morphctl" --socket "$root/sock" status
check "what is not is not" grep -q "^sampling" "$root/out"
pager 10 "$B/morphctl" --socket "$root/sock" --no-pager status
check "--no-pager" grep -q "^sampling" "$root/out"
pager 10 "$B/morphctl" help
check "help is paged" grep -q "^PAGED  *reoptimize" "$root/out"
MORPH_PAGER= pager 10 "$B/morphctl" --socket "$root/sock" status
check "an empty one is none" grep -q "^sampling" "$root/out"
unset MORPH_PAGER
PAGER=$root/pager pager 10 "$B/morphctl" --socket "$root/sock" status
check "PAGER" grep -q "^PAGED sampling" "$root/out"
MORPH_PAGER=$root/no-such-pager pager 10 "$B/morphctl" --socket "$root/sock" status
check "one that is not there: all is printed" grep -q "^sampling" "$root/out"
SUDO_UID=1000 MORPH_PAGER=$root/pager pager 10 -i q "$B/morphctl" --socket "$root/sock" status
check "under sudo nothing runs but less" not grep -q PAGED "$root/out"
ctl status >"$root/piped"
check "in a pipe there is no pager" not grep -q PAGED "$root/piped"
if command -v less >/dev/null; then
	pager 10 -i q "$B/morphctl" --socket "$root/sock" status
	check "less can be left at once" [ $? = 0 ]
	check "and nothing is said about it" not grep -qi "pipe\|morphctl:" "$root/out"
	pager 10 -i "$(printf '\003')" -i q "$B/morphctl" --socket "$root/sock" status
	check "Ctrl-C is the pager's" [ $? = 0 ]
else
	skip "less can be left at once" "no less"
fi

# Readers who have enough.
enough() {		# [ARGUMENT...]
	{ ctl "$@" 2>"$root/err"; } | head -n 1 >/dev/null
	[ ! -s "$root/err" ] || { cat "$root/err"; return 1; }
}
check "status | head" enough status
check "policy show | head" enough policy show
check "the same where SIGPIPE is ignored" bash -c "trap '' PIPE; \"\$0\" --socket \"\$1\" policy show 2>\"\$2\" | true
	[ ! -s \"\$2\" ]" "$B/morphctl" "$root/sock" "$root/err"
full() { "$B/morphctl" --socket "$root/sock" "$@" >/dev/full; }
for c in "" list help "help list" --version "status --check" metrics; do
	check "a full disk is an error: $c" eval 'full $c 2>"$root/err"; [ $? = 1 ] && [ "$(grep -c "standard output: .*No space" "$root/err")" = 1 ]'
done
done_testing
