#!/bin/bash
# usage.sh - what is said to wrong command lines: the word that is wrong, what was probably meant, in a few
# lines, and exit code 2; and what help there is
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
nobody=$B/no-such-socket

said() {		# CODE PATTERN PROGRAM [ARGUMENT...]: on standard error, in few lines
	local code=$1 pattern=$2 out rc
	shift 2
	out=$("$B/$1" "${@:2}" 2>&1 >/dev/null)
	rc=$?
	[ $rc = "$code" ] && grep -qE -- "$pattern" <<<"$out" && [ "$(wc -l <<<"$out")" -le 9 ] && return 0
	echo "exit code $rc: $out"
	return 1
}
helps() {		# PATTERN PROGRAM [ARGUMENT...]: on standard output, and nothing else
	local pattern=$1 out
	shift
	out=$("$B/$1" "${@:2}" 2>&1) && grep -qE -- "$pattern" <<<"$out" &&
		[ -z "$("$B/$1" "${@:2}" 2>&1 >/dev/null)" ] && return 0
	echo "$out"
	return 1
}

for p in morphctl morphd morph-edit morph-verify morph-live morph-share; do
	check "$p --version" helps "^$p [0-9]" $p --version
	check "$p --help" helps "^usage: $p" $p --help
	check "$p -h" helps "^usage: $p" $p -h
	check "$p --versoin: what was meant" said 2 "unknown option '--versoin'.*did you mean '--version'" $p --versoin
	check "$p --frobnicate: which option it is" said 2 "$p: unknown option '--frobnicate'$" $p --frobnicate
	check "$p -Z" said 2 "$p: unknown option '-Z'$" $p -Z
done
for p in morph-edit morph-verify morph-live morph-share; do
	check "$p alone" said 2 "^usage: $p" $p
done
check "morph-verify and three files" said 2 "^usage: morph-verify" morph-verify x y z
check "morph-verify and -- amid two" said 2 "^usage: morph-verify" morph-verify x -- y
check "files behind --" said 1 "'/no/x'" morph-verify -- /no/x /no/y
check "morphctl alone, and no daemon" said 1 "does not answer at $nobody" morphctl --socket "$nobody"
check "an option of one word" said 2 "did you mean '--policy'" morphd --polcy=x
check "a value is missing" said 2 "option '--store' needs a value: --store=DIR" morphd --store
check "an argument that is none" said 2 "unexpected argument 'start'" morphd start

check "morphctl help" helps '^  reoptimize ' morphctl help
for c in $("$B/morphctl" help | sed -nE 's/^  ([a-z][a-z-]*).*/\1/p'); do
	check "morphctl help $c" helps "^usage: morphctl $c" morphctl help "$c"
	check "morphctl $c --help" helps "^usage: morphctl $c" morphctl "$c" --help
	check "morphctl $c --frobnicate" said 2 "morphctl $c: unknown option '--frobnicate'" morphctl "$c" --frobnicate
done
for c in $("$B/morph-edit" --help | sed -nE 's/^  ([a-z][a-z-]*).*/\1/p'); do
	check "morph-edit $c --help" helps "^usage: morph-edit $c" morph-edit "$c" --help
	check "morph-edit help $c" helps "^usage: morph-edit $c" morph-edit help "$c"
	check "morph-edit $c --frobnicate" said 2 "morph-edit $c: unknown option '--frobnicate'" \
		morph-edit "$c" --frobnicate
done
one_line() { [ "$("$B/$1" "${@:3}" 2>&1 | sed "s/$2/it/")" = it ]; }	# PROGRAM PATTERN ARGUMENT...
check "a right command line gets no usage" \
	one_line morphd "^morphd\[[a-z]*\]: .*" --foreground --user=no-such-user
check "a command that is near" said 2 "unknown command 'statsu'; did you mean 'status'" morphctl statsu
check "one that is not" said 2 "unknown command 'frobnicate'; 'morphctl help' lists all" morphctl frobnicate
check "help of it" said 2 "unknown command 'frobnicate'" morphctl help frobnicate
check "help of help" helps "^usage: morphctl help" morphctl help help
check "a command that is near help" said 2 "did you mean 'help'" morphctl hepl
check "help of two" said 2 "morphctl help: unexpected argument 'status'" morphctl help list status
check "of the Editor" said 2 "unknown command 'optimise'; did you mean 'optimize'" morph-edit optimise
check "of morph-live" said 2 "unknown command 'of'" morph-live of 1 /
check "an option of all commands" said 2 "did you mean '--json'" morphctl list --jsno
check "an argument too many" said 2 "morphctl list: unexpected argument 'x'" morphctl list x
check "of status, too" said 2 "morphctl status: unexpected argument 'x'" morphctl status x
named() {		# WORDS COMMAND...: what is wrong is named, with the usage line
	said 2 "$1" morphctl --socket "$nobody" "${@:2}"
}
check "a word of policy" named "policy: unknown word 'chek'; did you mean 'check'" policy chek
check "of auto" named "auto: unknown word 'onn'; did you mean 'on'" auto onn
check "of share" named "share: unknown word 'nwo'; did you mean 'now'" share nwo
check "that is not near" named "share: unknown word 'frobnicate'$" share frobnicate
for c in annotate "annotate x" explain report-bug policy keep "keep a" cfg "cfg a --dot"; do
	check "$c: an argument is missing" eval "named ': an argument is missing' $c && named '^usage: ' $c"
done
for c in "annotate a b" "explain a" "report-bug a" "report a" "report --log=x a" "annotate a b --log=x" "history a" \
	"auto on" "keep a b" "cfg a b" look pause saved "saved --since=1d" metrics "metrics --prometheus" "status --check"; do
	check "$c surplus" named ": unexpected argument 'surplus'" $c surplus
done
check "a rate" named "record: --rate: 'abc' is no number" record -o x --rate=abc -- true
check "a clock" named "record: --clock: 'foo' is none of auto, tick" record -o x --clock=foo -- true
check "bytes of a stack" named "record: --stacks: '12' is no multiple of 8" record -o x --stacks=12 -- true
check "bytes with registers" named "record: --registers: '99999999' is no multiple of 8" record -o x --registers=99999999 -- true
check "a time of try" named "try: --time: 'abc' is no time in seconds" try --time=abc -- true
check "of a turn" named "try: --turn: '0' is no time in seconds" try --pid=1 --turn=0
check "of live" named "live: --burst: 'abc' is no time in seconds" live --burst=abc 1
check "a command that is not there: try" said 1 "'no-such-command': No such file" morphctl try -- no-such-command
check "and record" said 1 "record 'no-such-command'" morphctl record -o /dev/null -- no-such-command
check "two ways to verify" named "verify: --packages stands alone" verify --all --packages
check "options come in any order" said 1 "does not answer" morphctl --socket "$nobody" annotate --blocks a b
check "a file behind --" said 1 "'--all': no such file" morphctl --socket "$nobody" verify -- --all
check "of undo" said 1 "'--all'|originals" morphctl --socket "$nobody" undo --store="$B/no-such-store" -- --all
check "no profile, before the daemon is asked" said 1 "usage.sh': not a profile" \
	morphctl --socket "$nobody" keep "$B/morphctl" tests/e2e/usage.sh
check "a value as an argument of its own" said 1 "does not answer at $nobody" \
	morphctl --socket "$nobody" report --limit 3
check "and joined to its option" said 1 "does not answer at $nobody" morphctl "--socket=$nobody" report --limit=3
check "no daemon" said 1 "does not answer at $nobody" morphctl --socket "$nobody" list
done_testing
