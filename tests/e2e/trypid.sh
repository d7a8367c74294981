#!/bin/bash
# trypid.sh - `morphctl try --pid`: a process with generations and without them in turns, its gain, and nothing left,
# in what it forked either, nor where the trial is killed
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-trypid.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
cp "$(readlink -f /usr/bin/perl)" "$root/perl" || skip_all "there is no perl"
mkdir "$root/store" "$root/tmp"
cat >"$root/loop.pl" <<'END'
$| = 1;
my $n = 0;
$SIG{USR1} = sub { exec "sleep", "1000" };
while (1) {
	my %h; $h{"k$_"} = $_ * 3 for 1 .. 500;
	my $s = 0; $s += $h{$_} for sort keys %h;
	my $t = join ",", map { sprintf "%x", $_ * 7 } 1 .. 100; $t =~ s/(\w+),/<$1>/g;
	print "$s ", length $t, "\n";
	if ($ENV{FORKS} && $n % 100 == 0) { fork or exit sleep 60 }
	select undef, undef, undef, 0.01 unless ++$n % 4;	# a fifth of the time is enough
}
END
start() {		# OUTPUT COMMAND...: in the background, its process is $pid
	"${@:2}" >"$1" 2>"$1.err" </dev/null 9>&- &
	pid=$!
	pids+=("$pid")
	disown
	within 5 eval '! [ "/proc/$pid/exe" -ef "/proc/$$/exe" ]'	# else it is another program than the one that is tried
}
json=			# --json
try() { TMPDIR=$root/tmp "$B/morphctl" $json try --store="$root/store" "$@"; }
live() { "$B/morphctl" live --store="$root/store" "$@"; }
listed() { live "${@:2}" | awk -v p="$1" '$1 == p { n++ } END { print n + 0 }'; }

# NAME CODES WORDS: what `try` of that name ended with (any of the codes), and said last on standard error or output
is() {
	local code
	code=$(cat "$root/$1.code")
	[[ " $2 " = *" $code "* ]] && grep -q -e "$3" "$root/$1.said" "$root/$1.told" && { ok "$1: $3"; return; }
	not_ok "$1: $3"
	note "code $code: $(tail -n 12 "$root/$1.said" "$root/$1.told")"
}
run() {			# NAME ARGUMENT...: in the background
	{ try --burst=0 "${@:2}" >"$root/$1.said" 2>"$root/$1.told" </dev/null; echo $? >"$root/$1.code"; } 9>&- &
}
begun() {		# NAME WORDS: waits until it says them
	local i
	for i in $(seq 200); do grep -qs "$2" "$root/$1.told" && return; sleep 0.1; done
	note "$1 does not come to '$2': $(cat "$root/$1.told")"
}
no_files() {		# STORE: no generation is left in it
	local left
	left=$(ls "$root/$1/live" | grep -vx lock)
	[ -z "$left" ] && ok "no generation is left in the store $1" || not_ok "no generation is left in the store $1: $left"
}
same_answers() {	# OUTPUT
	[ "$(sed '$d' "$1" | sort -u | wc -l)" = 1 ] && [ ! -s "$1.err" ] || { sort "$1" | uniq -c | head -4; cat "$1.err"; return 1; }
}

# --- what cannot be begun ---

start "$root/none.out" sleep 1000
asleep=$pid
run nobody --pid=4194303
run no-number --pid=$pid --count="echo many"
run count-fails --pid=$pid --count="echo 1; exit 4"
run idle --pid=$pid --time=6
start "$root/empty.out" "$root/perl" -e '1 while 1'
run busy --pid=$pid --time=2
start "$root/locked.out" "$B/tests/e2e/steady" locked
sleep 0.2
run locked --pid=$pid
for arguments in "--pid=x" "--pid=0" "--pid=$asleep -- true" "--pid=$asleep --repeatable" "--count=id -- true" \
	"--keep -- true" "--pid=$asleep --turn=0" "--pid=$asleep --time=x"; do
	try $arguments >"$root/usage" 2>&1
	[ $? = 2 ] && grep -q "^usage: morphctl try" "$root/usage" && ok "wrong usage: $arguments" || not_ok "wrong usage: $arguments"
done
if command -v setpriv >/dev/null; then
	check "others than root may not" eval '
		cp "$B/morphctl" "$root/morphctl" && chmod 755 "$root"	# the build may be where nobody else may look
		said=$(setpriv --reuid=65534 --clear-groups "$root/morphctl" try --pid=$asleep 2>&1); [ $? = 3 ] && grep -q "only root" <<<"$said"'
fi

wait
is nobody 1 "process 4194303: No such process"
is no-number 2 "'echo many': prints no number"
is count-fails 2 "ended with code 4"
is idle 3 "it does nothing"
is busy 3 "no work that can be counted; name a counter"
is locked 3 "locks memory"
kill -9 "${pids[@]}"

# --- trials that end before their end ---

start "$root/killed.out" "$root/perl" "$root/loop.pl"
killed=$pid
run killed --pid=$pid --time=20
start "$root/stopped.out" "$root/perl" "$root/loop.pl"
stopped=$pid
interruptible() {	# NAME: in the background; a job of a shell has SIGINT ignored
	TMPDIR=$root/tmp env --default-signal=INT "$B/morphctl" try --store="$root/interrupted" --burst=0 --pid="$stopped" --time=20 \
		>"$root/$1.said" 2>"$root/$1.told" </dev/null 9>&- &
	trial=$!
}
interrupted() {		# NAME WORDS: when it says them
	begun "$1" "$2"
	sleep 0.5
	kill -INT "$trial"
	wait "$trial"
	echo $? >"$root/$1.code"
}
interruptible early
interrupted early sampling
is early 130 "interrupted"
interruptible stopped
interrupted stopped "in turns"
is stopped 130 "interrupted; taken out again"
[ "$(listed $stopped --store="$root/interrupted")" = 0 ] && ok "and it is" || not_ok "and it is"
no_files interrupted
kill -0 "$stopped" && ok "who was tried runs on" || not_ok "who was tried runs on"
begun killed "in turns"
sleep 0.5
kill -9 $killed $stopped
wait
is killed 1 "process $killed has ended"
grep -q "taken out again\|live --off" "$root/killed.told" && not_ok "what has ended needs no undoing" || ok "what has ended needs no undoing"

# --- forks, other programs, other commands ---

# In a store that is not there.
forked() { live --store="$root/none" | awk -v p="$1" '$1 != p { n++ } END { exit !n }'; }
FORKS=1 start "$root/forks.out" "$root/perl" "$root/loop.pl"
forking=$pid
run forks --pid=$forking --time=12 --store="$root/none"
start "$root/exec.out" "$root/perl" "$root/loop.pl"
executing=$pid
run exec --pid=$executing --time=20
begun forks "in turns"
run second --pid=$forking --time=5 --store="$root/none"
live --store="$root/none" --off $forking >"$root/off.said" 2>&1
echo $? >"$root/off.code"
touch "$root/off.told"
within 20 forked $forking && ok "what is forked in a turn with a generation has it" || not_ok "what is forked in a turn with a generation has it"
begun exec "in turns"
sleep 0.5
kill -USR1 $executing
wait
is off 3 "process $forking: another morphctl, or the daemon, is at work with it"
is second 3 "process $forking: another morphctl, or the daemon, is at work with it"
is forks "0 1" "perl (process $forking): "
[ "$(stat -c %U%a "$root/none" "$root/none/live" | sort -u)" = root700 ] && ok "the store that was not there is root's alone" ||
	not_ok "the store that was not there is root's alone"
[ -z "$(live --store="$root/none")" ] && ok "and is taken out of that, too" || not_ok "and is taken out of that, too: $(live --store="$root/none")"
no_files none
is exec 1 "process $executing runs another program now"
grep -q "taken out again\|not mapped" "$root/exec.told" && not_ok "which has nothing to be taken out" || ok "which has nothing to be taken out"
kill -9 $executing $(pgrep -P $forking) $forking

# A trial that is killed while its process has a generation.
start "$root/left.out" "$root/perl" "$root/loop.pl"
left=$pid
TMPDIR=$root/tmp "$B/morphctl" try --store="$root/left" --burst=0 --pid=$left --time=20 >"$root/left.said" 2>"$root/left.told" </dev/null 9>&- &
trial=$!
begun left "in turns"
ls "$root/left/live" | grep -qvx lock && ok "in its turns there is a file" || not_ok "in its turns there is a file"
kill -9 $trial
wait $trial 2>/dev/null
check "of a trial that is killed no samples are left" within 10 eval '[ -z "$(ls "$root/tmp")" ]'
run after --pid=$left --time=0.1 --store="$root/left"
wait
ls "$root/left/live" | grep -qvx lock && ok "the file stays as long as a process has it mapped" || not_ok "the file stays as long as a process has it mapped"
kill -9 $left
within 5 eval '! kill -0 $left 2>/dev/null'
live --store="$root/left" --off 4194303 >/dev/null 2>&1
no_files left

# --- whole trials ---

# NAME ARGUMENT...: where the machine is too busy for the time, as much of it as it asks for
whole() {
	local time=10 asked
	while try --burst=0.5 --pid="$pid" --time=$time "${@:2}" >"$root/$1.said" 2>"$root/$1.told" </dev/null 9>&-
		echo $? >"$root/$1.code"
		grep -q "too few\|no moment for it" "$root/$1.said" "$root/$1.told" && [ "$time" -lt 200 ]; do
		asked=$(sed -n 's/.*too few: --time=\([0-9]*\).*/\1/p;T;q' "$root/$1.said")
		time=${asked:-$((time * 3))}
	done
}
start "$root/keep.out" "$root/perl" "$root/loop.pl"
kept=$pid
whole keep --keep &
start "$root/count.out" "$root/perl" "$root/loop.pl"
counted=$pid
json=--json whole count --count="wc -l <$root/count.out" --turn=0.4
wait
is keep "0 1" "^perl (process $kept): [0-9.]* ([0-9.]* to [0-9.]*), proven"
is keep "0 1" "^CPU time for each .*, in [0-9]* pairs of turns of [0-9.]* s; [0-9]* swaps"
is keep "0 1" "^$root/perl  *[0-9.]*  *[1-9]"
if [ "$(cat "$root/keep.code")" = 0 ]; then
	is keep 0 "left in"
	[ "$(listed $kept)" = 1 ] && ok "it was faster, and stays" || not_ok "it was faster, and stays"
	run again --pid=$kept
	wait
	is again 3 "has generations already; .*live --off $kept"
	live --off "$kept" >/dev/null
else
	is keep 1 "taken out again"
	[ "$(listed $kept)" = 0 ] && ok "it was not faster, and does not stay" || not_ok "it was not faster, and does not stay"
	skip "it has one already" "it was not kept"
fi
is count "0 1" '"work": "unit of --count"'
check "its verdict is JSON" perl -MJSON::PP -0777 -e '
	my $v = decode_json(<STDIN>)->{verdict}[0];
	die "pairs" unless $v->{pairs} >= 6 && $v->{swaps} >= $v->{pairs} && $v->{low} > 0 && $v->{low} <= $v->{ratio};
	die "faster" unless !!$v->{faster} == ($v->{low} > 1) && $ARGV[0] == ($v->{faster} ? 0 : 1) && !$v->{kept};
	die "pause" unless $v->{pause_ms} > 0 && $v->{pause_max_ms} >= $v->{pause_ms}' "$(cat "$root/count.code")" <"$root/count.said"
[ "$(listed $counted)" = 0 ] && ok "and it is taken out" || not_ok "and it is taken out"
for name in keep count stopped killed forks; do
	check "every answer of $name was the same" same_answers "$root/$name.out"
done
kill -9 "${pids[@]}" 2>/dev/null
within 5 eval '! kill -0 $kept $counted 2>/dev/null'
live --off 4194303 >/dev/null 2>&1
no_files store
[ -z "$(ls "$root/tmp")" ] && ok "no samples are left" || not_ok "no samples are left: $(ls "$root/tmp")"
done_testing
