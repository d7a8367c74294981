#!/bin/bash
# livectl.sh - `morphctl live`: one command samples a running process, makes, proves and maps a generation, and one
# takes it back
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
ctl=$B/morphctl
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-live.XXXXXX") || exit 1
pid=
other=
thrower=
replaced=
trap 'kill -9 $pid $other $thrower $replaced 2>/dev/null; umount "$root/noexec" 2>/dev/null; rm -rf "$root"' EXIT
cp "$(readlink -f /usr/bin/perl)" "$root/perl" || skip_all "there is no perl"
# $root/store is not there: the first one makes it
cat >"$root/loop.pl" <<'END'
$| = 1;
my $n = 0;
while (1) {
	my %h; $h{"k$_"} = $_ * 3 for 1 .. 500;
	my $s = 0; $s += $h{$_} for sort keys %h;
	print "$s\n";
	select undef, undef, undef, $ENV{REST} || 0.01 if $ENV{REST} || ++$n % 8 == 0;	# a third of the time is enough
}
END
start() {		# OUTPUT
	"$root/perl" "$root/loop.pl" >"$1" 2>&1 </dev/null 9>&- &
}
live() { "$ctl" live --store="$root/store" "$@"; }
# Seconds in which process PID has a second of CPU time, if it goes on having what it has now: beside others it gets less.
second_of() {		# PID
	local before=$(cpu_ticks "$1")
	sleep 0.5
	awk -v had=$(($(cpu_ticks "$1") - before)) 'BEGIN { s = had ? 50 / had : 20; printf "%.1f", (s < 1 ? 1 : s > 20 ? 20 : s) }'
}
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }	# of 10 ms
listed() { live | awk -v p="$1" '$1 == p { n++ } END { print n + 0 }'; }
start "$root/out"
pid=$!
REST=0.1 start "$root/out2"
other=$!
disown -a
sleep 0.3

# What `record` sees of a process that ran before it, and of nobody else.
check "record --pid samples a process that runs" "$ctl" record -o "$root/log" --rate=997 --pid=$pid -- sleep "$(second_of $pid)"
check "and what it has mapped is known" "$ctl" profile "$root/log" -o "$root/profiles"
set -- "$root/profiles"/perl.*.profile
profile=$1
[ -s "$1" ] && ok "so there is a profile of its program" || not_ok "so there is a profile of its program"
check "record --pid of a process that is not there fails" eval '! "$ctl" record -o "$root/log2" --pid=4194303 -- true 2>/dev/null'

mkdir "$root/noexec"
if mount -t tmpfs -o noexec none "$root/noexec" 2>/dev/null; then
	check "a store from which nothing can be mapped is refused at once" eval '
		SECONDS=0; fails 3 "mounted noexec" "$ctl" live --store="$root/noexec" $pid --time=20 && [ $SECONDS -lt 10 ]'
	check "so it is where a process is tried" fails 3 "mounted noexec" "$ctl" try --store="$root/noexec" --pid=$pid
	umount "$root/noexec"
else
	skip "a store from which nothing can be mapped" "nothing can be mounted here"
fi
cp "$root/perl" "$root/replaced"
"$root/replaced" "$root/loop.pl" >/dev/null 2>&1 </dev/null 9>&- &
replaced=$!
disown -a
sleep 0.3
cp "$root/perl" "$root/new" && mv "$root/new" "$root/replaced"
check "that a program was replaced while it ran is said" fails 3 "no samples of its files: that of its program was deleted or replaced" \
	"$ctl" live --store="$root/store" $replaced --time=1 --burst=0
kill -9 $replaced
check "a process gets a generation by samples of its own" live $pid --time="$(second_of $pid)" --burst=0 --module="$root/perl"
[ "$(listed $pid)" = 1 ] && [ "$(listed $other)" = 0 ] && ok "it is listed, and no other" || not_ok "it is listed, and no other"
f=$(live | awk -v p=$pid '$1 == p { print $3 }')
check "the file that is mapped is proven, and root's alone" eval '
	[ "$(stat -c %U%a "$f")" = root600 ] && [ "$(basename "$f")" = "$(sha256sum <"$f" | cut -c1-64)" ] &&
	"$B/morph-verify" --live "$root/perl" "$f"'
check "it is laid out: fewer branches are taken, by the samples of before" eval '
	"$B/morph-edit" report "$root/perl" --profile "$profile" --compare "$f" >"$root/report" &&
	grep "^taken branches" "$root/report" && awk "/^taken branches/ { exit !(\$4 < 0.9 * \$3) }" "$root/report"'
check "it is taken back" live --off $pid
[ "$(listed $pid)" = 0 ] && ok "and is listed no more" || not_ok "and is listed no more"
check "taking back twice is nothing" live --off $pid
check "it counts for a while, and is laid out by that" eval '
	live $pid --time="$(second_of $pid)" --burst=0.5 --module="$root/perl" >"$root/said" 2>&1 && grep -q "counted for 500 ms" "$root/said" &&
	[ "$(listed $pid)" = 1 ]'
# by all that the program does, counted from its start to its end
sampled=$root/sampled
"$B/morph-edit" optimize --keep-pointers --profile "$profile" "$root/perl" -o "$sampled" &&
	"$B/morph-edit" instrument "$root/perl" -o "$root/counting" 2>/dev/null || not_ok "what is compared can be made"
timeout 2 "$root/counting" "$root/loop.pl" >/dev/null
f=$(live | awk -v p=$pid '$1 == p { print $3 }')
taken() {		# GENERATION: branches
	"$B/morph-edit" report "$root/perl" --profile "$root/exact.profile" --compare "$1" | awk '/^taken branches/ { print $NF }'
}
check "which tells more than samples do" eval '
	"$B/morph-edit" counts "$root/perl" "$root/counting.counts" -o "$root/exact.profile" &&
	awk -v a="$(taken "$f")" -v b="$(taken "$sampled")" "BEGIN { print a, b; exit !(a > 0 && a < b) }"'
check "that is taken back, too" live --off $pid
check "what counted is no file any more, and mapped still" eval '
	grep -q " rw-s .*zero" /proc/$pid/maps && grep -q "$root/store/live/.* (deleted)" /proc/$pid/maps'
cp "$B/tests/e2e/steady" "$root/steady" && { "$root/steady" count >/dev/null 2>&1 </dev/null 9>&- & thrower=$!; }
sleep 0.2
# what is uncertain need not run within a fifth of a second, nor need a second have samples of the program itself
live $thrower --time="$(second_of $thrower)" --burst=0.2 --module="$root/steady" >"$root/said" 2>&1
check "what was counted goes with samples, or was nothing" eval 'cat "$root/said"; grep "steady" "$root/said" && ! grep "goes with samples" "$root/said"'
kill $thrower
check "a burst that is no number" eval '! live $pid --burst=long 2>/dev/null'
check "with profiles nothing is sampled" live $pid $other --profiles="$root/profiles"
[ "$(listed $pid)$(listed $other)" = 11 ] && ok "and several processes get it" || not_ok "and several processes get it"
check "undo --all takes it out of all, also where there was never a daemon" eval '
	"$ctl" --socket="$root/sock" undo --all --store="$root/store" >"$root/said" 2>&1 &&
	grep -q "out of process $pid: done" "$root/said" && grep -q "out of process $other: done" "$root/said"'
[ "$(listed $pid)$(listed $other)" = 00 ] && live $pid $other --profiles="$root/profiles" >/dev/null 2>&1 &&
	[ "$(listed $pid)$(listed $other)" = 11 ] && ok "and they get it again" || not_ok "and they get it again"

code() {		# WANTED ARGUMENT...
	local want=$1 said rc
	shift
	said=$(live "$@" 2>&1)
	rc=$?
	[ $rc = "$want" ] && grep -q -e "${why:-.}" <<<"$said" || { echo "$rc: $said"; return 1; }
}
# An unwinder is loaded: that matters only where somebody catches what it throws.
lib=$root/catches.so
echo 'void __cxa_begin_catch(void *); void never(void); void never(void) { __cxa_begin_catch(0); }' >"$root/catches.c"
thrower() {		# LIBRARIES: a process that has them, in $thrower
	LD_PRELOAD=$1 "$root/perl" "$root/loop.pl" >"$root/out3" 2>&1 </dev/null 9>&- &
	thrower=$!
	disown
	sleep 0.3
}
thrower libgcc_s.so.1
check "an unwinder for which nobody catches does not matter" live $thrower --profiles="$root/profiles" --module="$root/perl"
[ "$(listed $thrower)" = 1 ] && ok "and it is mapped" || not_ok "and it is mapped"
kill -9 $thrower
if ${CC:-cc} -shared -fPIC -o "$lib" "$root/catches.c" 2>/dev/null; then
	thrower "libgcc_s.so.1 $lib"
	why="may unwind its stack: '$lib': it may catch exceptions (__cxa_begin_catch)" \
		check "one for which somebody does is refused" code 3 $thrower --profiles="$root/profiles"
	kill -9 $thrower
	# what cancelling a thread would have to run
	printf 'void f(int *); void g(void); void f(int *x) { (void)x; } void h(void); void h(void) { int x __attribute__((cleanup(f))) = 0; g(); }
		void g(void) { }' >"$root/cleans.c"
	${CC:-cc} -shared -fPIC -O0 -fexceptions -Wl,-z,lazy -o "$root/cleans.so" "$root/cleans.c"
	thrower "$root/cleans.so"
	why="may unwind its stack: '$root/cleans.so': it may catch exceptions (__gcc_personality_v0)" \
		check "and one for which somebody cleans up when a thread is cancelled" code 3 $thrower --profiles="$root/profiles"
	kill -9 $thrower
else
	skip "one for which somebody does is refused" "no library can be made here"
fi

"$root/perl" -e '$SIG{USR1} = sub { exec "sleep", 1000 }; 1 while 1' >/dev/null 2>&1 </dev/null 9>&- &
thrower=$!
disown
{ sleep 1.5; kill -USR1 $thrower; } &
why="process $thrower runs another program now" check "one that executes something meanwhile is said to" code 1 $thrower --time=3 --burst=0
kill -9 $thrower

# The original is gone from its path: it comes back all the same.
rm "$root/perl"
check "the original comes back from the process itself" live --off $pid $other
[ "$(listed $pid)$(listed $other)" = 00 ] && ok "in both" || not_ok "in both"
sleep 0.5
[ "$(sed '$d' "$root/out" "$root/out2" | sort -u | wc -l)" = 1 ] && [ "$(wc -l <"$root/out")" -gt 50 ] &&
	ok "every answer of both was the same" || not_ok "every answer of both was the same"

mkdir "$root/nothing"
for i in 1 2; do
	check "where there is nothing that is said" grep -qx "no process has a generation" <<<"$("$ctl" live --store="$root/nothing" 2>&1)"
done
check "a file without samples is said, and refused" code 3 $pid --profiles="$root/store"
why="process 4194303: No such process" check "no process is a failure" code 1 4194303 --profiles="$root/profiles"
why="process 4194303: No such process" check "and is not sampled first" code 1 4194303
for what in perl 0 4294967297 99999999999999999999; do
	why="'$what' is not the number" check "$what is wrong usage" code 2 $what
done
check "so is --off of nothing" code 2 --off
chmod 777 "$root/store/live"
check "a folder that others can write is refused" code 3 $pid --profiles="$root/profiles"
chmod 700 "$root/store/live"
if command -v setpriv >/dev/null; then
	chmod 755 "$root" "$root/store"
	check "others than root may not" eval 'said=$(setpriv --reuid=65534 --clear-groups "$ctl" live $other 2>&1); [ $? = 3 ] && grep -q "only root" <<<"$said"'
fi
done_testing
