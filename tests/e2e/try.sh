#!/bin/bash
# try.sh - morphctl try: what it says is true of commands that are the same and of some that are not;
# nothing is left of it, whoever calls it and however it ends
#
# No gain is asserted: machines that run tests are busy with other things.
. tests/tap.sh
B=$(realpath "${B:-build}")
T=$(mktemp -d "${TMPDIR:-/var/tmp}/morph-try-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
mkdir -m 1777 "$T/tmp" "$T/here" "$T/saved"
cd "$T/here" || exit 1
if [ "$(id -u)" = 0 ]; then users="root nobody"; else users=$(id -un); fi
without=$T/bin/without

# others may not look into the folder in which root built
mkdir "$T/bin"
cp "$B"/{morphctl,morph-edit,morph-verify,tests/e2e/without} "$T/bin"
cp "$B/tests/e2e/tried" "$T/tried"
printf '#!%s/tried size\n' "$T" >"$T/script"
chmod 755 "$T/script"

as_user() {		# USER COMMAND...
	local user=$1
	shift
	if [ "$user" = "$(id -un)" ]; then "$@"; else setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"; fi
}
# OPTION... -- COMMAND: out, err, code; as $user, and $under that.  One pair of runs, which always is, shows
# whether they are the same.
try() {
	as_user "$user" env TMPDIR="$T/tmp" timeout 300 $under "$T/bin/morphctl" try --time=${time:-0.1} "$@" \
		>"$T/out" 2>"$T/err" <"${input:-/dev/null}"
	code=$?
}
said() { grep -q -- "$1" "$T/out" "$T/err"; }
is() {			# NAME CODES TEXT: what the last one ended with and said
	if grep -qw "$code" <<<"$2" && said "$3"; then ok "$user: $1"
	else not_ok "$user: $1"; note "code $code: $(cat "$T/out" "$T/err")"; fi
	local left
	left=$(ls -A "$T/tmp" "$T/here" | grep -v ':$'; pgrep -f "$T/tried" -l; grep "$T/tmp" /proc/self/mountinfo)
	if [ -z "$left" ]; then ok "$user: $1: nothing is left"
	else not_ok "$user: $1: nothing is left"; note "$left"; rm -rf "$T"/tmp/* "$T"/here/*; fi
}
same="same output, proven\|pairs of runs: [0-9]*, which are too few"

for user in $users; do
	under=
	time=10 try --save="$T/saved/$user" -- "$T/tried"
	if said "only the program itself"; then skip "$user" "no namespaces here"; continue; fi
	is "a program is laid out, proven and the same" "0 1" "tried.*\($same\)"
	grep -q "^$T/tried .*counted" "$T/out" && ok "$user: by what it counted" || not_ok "$user: by what it counted"
	# how much time that takes is chance; what it saves if it was faster is not
	if [ "$code" = 0 ]; then
		said "sudo morphctl keep $T/tried $T/saved/$user/tried.*profile$" &&
			grep -q "^module $T/tried$" "$T/saved/$user"/tried.*.profile && ok "$user: the profile is saved" ||
			not_ok "$user: the profile is saved"
	else
		check "$user: nothing is saved" test ! -e "$T/saved/$user"
	fi
	try -- sh -c "$T/tried; $T/tried"
	is "so is one that others start" "0 1" "tried.*\($same\)"
	try -- sh -c "echo new >>$T/here/file; cat file; $T/tried"
	is "what it writes, it sees itself, each time anew" "0 1" "$same"
	try -- "$T/script"
	is "the interpreter of a script prints something else" 1 "tried: not the same: standard output differs"
	try -- "$T/tried" exit "$(stat -c %s "$T/tried")"
	is "it ends with another code" 1 "not the same: exit code 1 instead of 0 differs"
	try --output=file -- "$T/tried" file
	is "it writes something else" 1 "not the same: file 'file' differs"
	try -- "$T/tried" file
	is "which only matters if asked for" "0 1" "$same"
	try --output=file -- sh -c "$T/tried >file"
	is "it writes the same" "0 1" "$same"
	try -- "$T/tried" time
	is "the original is not the same from run to run" 1 "the original itself differs from run to run (standard output)"
	try -- "$T/tried" errors
	is "but standard error may be that" "0 1" "$same"
	try --prepare="echo prepared >file" -- sh -c "cat file; echo over >file; $T/tried"
	is "prepared before each run" "0 1" "$same"
	try --prepare="exit 5" -- "$T/tried"
	is "not prepared" 1 "ended with code 5"
	seq 1000 >"$T/input"
	input=$T/input try -- sh -c "sum; $T/tried"
	is "standard input is given to each run" "0 1" "$same"
	input=/dev/zero try -- "$T/tried"
	is "one without an end is refused" 2 "standard input has no end"
	input=$T try -- "$T/tried"
	is "so is a folder" 2 "standard input cannot be read: it is a directory"
	try -- sh -c "sleep 1000 & $T/tried"
	is "what it leaves running is ended" "0 1" "left running, which were ended: 1"
	try --output=fiel -- "$T/tried" file
	is "a file to compare is not written" 2 "leaves no file 'fiel'"
	try --save="$T/tmp/no/such" -- "$T/tried"
	is "nothing can be saved there" 1 "--save: '$T/tmp/no': No such file"
	try -- no-such-program
	is "there is no such program" 1 "'no-such-program': No such file"
	printf '#!%s/tried\n' "$T" >"$T/closed"
	try -- "$T/closed"
	is "a script may not be run" 1 "try: '$T/closed': Permission denied"
	# on a slow machine it runs long enough for the library's layout
	try -- sh -c "exit 4"
	is "nothing of a command is worth it, and no layout of nothing is told" "1 3" "try: [^:]*\(; '[^':]*': [^']*\|: [^':]*\)$\|$same"
	said "proving $" && not_ok "$user: of no module" || ok "$user: of no module"
	under="prlimit --nofile=16 --"
	try -- "$T/tried"
	under=
	is "there are too few descriptors, which is said" "0 1 3" "counts: .*Too many open files; samples: \(.*perf_event_open\|there are too few\)\|$same"
	try -- true
	is "it runs too shortly, or is refused, or is measured by chance" "0 1 3" "."

	# without namespaces, and where nothing may be sampled
	under="$without unshare --"
	try -- "$T/tried"
	is "without namespaces a copy is started" "0 1" "tried.*\($same\)"
	try -- sh -c "echo new >file && $T/tried"
	is "without namespaces it cannot write" 3 "repeatable lets it write"
	try -- sh -c "$T/tried"
	is "without namespaces others start what cannot be replaced" "0 1 3" "$T/tried.*it cannot be replaced here"
	under="$without unshare landlock_create_ruleset --"
	try -- "$T/tried"
	is "without Landlock nothing is repeated" 3 "only with --repeatable"
	try --repeatable -- "$T/tried"
	is "but what is repeatable" "0 1" "tried.*\($same\)"
	under="$without perf_event_open --"
	try -- sh -c "$T/tried"
	is "where nothing may be sampled, counts tell" "0 1" "tried.*\($same\)"
	under=
done

# --- ends before its end ---

begin() {		# COMMAND...: in the background, until it says $wait_for
	set -- env --default-signal TMPDIR="$T/tmp" "$T/bin/morphctl" try --time=60 -- "$@"
	[ "$user" = "$(id -un)" ] || set -- setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"
	: >"$T/out" 2>"$T/err"		# what the one before said is not waited for
	(exec "$@" >"$T/out" 2>"$T/err" </dev/null) &
	pid=$!
	for _ in $(seq 600); do said "$wait_for" && break; sleep 0.1; done
	sleep 0.2
}
sleepers() { pgrep -x sleep -a | grep ' 1234567$'; }
for user in $users; do
	for wait_for in "as it is, sampled" "counting what" "pairs of runs"; do
		for signal in INT TERM; do
			# each with one of the two; the pairs, where most is to be undone, with both
			case $user,$signal,$wait_for in
			*,pairs*) ;;
			root,TERM,* | root,*,counting*) continue ;;
			*,INT,count* | *,TERM,as*) [ "$user" = root ] || continue ;;
			esac
			begin sh -c "for i in $(seq -s ' ' 16); do $T/tried; done"
			kill -$signal "$pid"
			wait "$pid"
			code=$?
			is "SIG$signal while '$wait_for'" 130 "interrupted"
		done
	done
	wait_for="pairs of runs"
	begin sh -c "for i in $(seq -s ' ' 16); do $T/tried; done"
	kill -QUIT "$pid"
	wait "$pid"
	code=$?
	is "SIGQUIT" 130 "interrupted"
	as_user "$user" env TMPDIR="$T/tmp" "$T/bin/morphctl" try --time=0.1 -- "$T/tried" 2>&1 </dev/null | head -n 1 >"$T/out"
	code=0
	is "nobody reads on" 0 "as it is, sampled"
	wait_for="as it is, sampled"
	begin sh -c "sleep 1234567 & sleep 1234567; $T/tried"
	[ -n "$(sleepers)" ] && ok "$user: processes wait" || not_ok "$user: processes wait"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	for _ in $(seq 50); do [ -z "$(sleepers)" ] && break; sleep 0.1; done
	[ -z "$(sleepers)" ] && ok "$user: SIGKILL takes them along" || not_ok "$user: SIGKILL takes them along"
	for _ in $(seq 50); do [ -z "$(ls "$T/tmp")" ] && break; sleep 0.1; done
	[ -z "$(ls "$T/tmp")" ] && ok "$user: and leaves nothing" || not_ok "$user: and leaves nothing: $(ls "$T/tmp")"
	rm -rf "$T"/tmp/*
done

for options in "--time=0" "--time=x" "--nonsense" ""; do
	[ -z "$options" ] && set -- || set -- $options -- true
	"$T/bin/morphctl" try "$@" >"$T/out" 2>&1
	[ $? = 2 ] && grep -q "^usage: morphctl try" "$T/out" && ok "wrong usage: '$options'" || not_ok "wrong usage: '$options'"
done
done_testing
