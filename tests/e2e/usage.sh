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
for c in $("$B/morphctl" help | sed -nE 's/^  ([a-z][a-z-]*).*/\1/p' | grep -vx help); do
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
check "of the Editor" said 2 "unknown command 'optimise'; did you mean 'optimize'" morph-edit optimise
check "of morph-live" said 2 "unknown command 'of'" morph-live of 1 /
check "an option of all commands" said 2 "did you mean '--json'" morphctl list --jsno
check "an argument too many" said 2 "morphctl list: unexpected argument 'x'" morphctl list x
check "of status, too" said 2 "morphctl status: unexpected argument 'x'" morphctl status x
check "a value as an argument of its own" said 1 "does not answer at $nobody" \
	morphctl --socket "$nobody" report --limit 3
check "and joined to its option" said 1 "does not answer at $nobody" morphctl "--socket=$nobody" report --limit=3
check "no daemon" said 1 "does not answer at $nobody" morphctl --socket "$nobody" list
done_testing
