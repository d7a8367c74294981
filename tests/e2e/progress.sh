#!/bin/bash
# progress.sh - what a long command is at, on a terminal; that it leaves no job behind when it is interrupted;
# reoptimize --all, and restore --dry-run
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root perl gzip sort
cp "$root/bin/sort" "$root/bin/setid"
chmod 4755 "$root/bin/setid"
export TERM=xterm LC_ALL=C.UTF-8
unset PAGER MORPH_PAGER
seq 300000 | shuf >"$root/data"
work() {
	LC_ALL=C "$root/bin/sort" "$root/data"
	LC_ALL=C "$root/bin/setid" "$root/data"
	"$root/bin/gzip" -9 -n -c <"$root/data"
	"$root/bin/perl" -e 'my %h; for my $i (1 .. 900000) { $h{($i * 7919) % 1009} .= chr(97 + $i % 26) if $i % 3 }'
}
on() {			# [-i INPUT]... [ARGUMENT...] of morphctl, on a terminal of 100 columns
	local inputs=()
	while [ "$1" = -i ]; do inputs+=("$1" "$2"); shift 2; done
	"$B/tests/e2e/pty" 100 50 "${inputs[@]}" "$B/morphctl" --socket "$root/sock" "$@" >"$root/raw"
	local rc=$?
	sed 's/\x1b\[K/\n/g; s/\x1b\[[0-9;]*m//g' "$root/raw" | tr '\r' '\n' >"$root/out"
	return $rc
}
has() { grep -qE -- "$1" "$root/out" || { cat "$root/out"; return 1; }; }
generations() { ctl --json list | grep -c '"state": "optimized"'; }

check_here "the daemon starts and answers" start_daemon
check "reoptimize --all, before there are samples" grep -q "no module has as many samples" <<<"$(ctl reoptimize --all 2>&1)"
check "perl has samples" sampled perl 60 work
check "sort has" sampled sort 30 work
check "gzip has" sampled gzip 30 work
check "a set-id program has" sampled setid 30 work
usage() { ctl "$@" >/dev/null 2>&1; [ $? = 2 ]; }
check "reoptimize of nothing" usage reoptimize
check "of all and one" usage reoptimize --all "$root/bin/perl"
check "a dry run of all" on reoptimize --all --dry-run
check "swaps nothing in" [ "$(generations)" = 0 ]
check "which takes samples in once" [ "$(ctl reoptimize --all --dry-run 2>&1 | grep -c "^taking in the newest samples")" = 1 ]
check "reoptimize --all" on reoptimize --all
check "of three" [ "$(generations)" = 3 ]
check "and not of the one that is refused" eval 'not has "setid" && ! ctl history | grep -q refused'
check "says which of how many" has '^2 of 3, [0-9]+ s(, about [1-9].* left)?: .*(bin/|^)[a-z]*: (analysing|optimizing|verifying)'
check "and does not know at first how long it takes" has "^1 of 3, [0-9]+ s: $root/bin/[a-z]+: analysing"
check "no time is said to be left where it is none" not has 'about 0 s'
"$B/tests/e2e/pty" 40 50 "$B/morphctl" --socket "$root/sock" reoptimize --dry-run "$root/bin/perl" >"$root/raw40"
check "what is cut off in front is told" eval 'tr "\r" "\n" <"$root/raw40" | grep -qE "s: …[^ ]*/perl: analysing"'
check "nothing of it stays" not grep -aq 'installing[^\x1b]*$' "$root/raw"
ctl verify --all >"$root/out" 2>"$root/err"
check "in a pipe they are lines" grep -qx "$root/bin/perl: verifying" "$root/err"
check "verify --all says how far it is" on verify --all
check "on a terminal" has "^3 of 3, .*: .*: verifying"

# What it would do.
check "restore --dry-run" on restore --all --dry-run
check "says what it would do" has "bin/perl: would get its original back"
check "and how many" has "^3 would be restored"
check "and has not done it" [ "$(generations)" = 3 ]
check "of one" grep -q "bin/gzip: would get its original back" <<<"$(ctl undo --dry-run "$root/bin/gzip" 2>&1)"
check "nor that" not same_file "$root/bin/gzip" "$root/orig/gzip"
check "without the daemon" grep -q "^3 would be restored" \
	<<<"$("$B/morphctl" --socket "$root/none" undo --store="$root/store" --all --dry-run 2>&1)"
check "nor that" not same_file "$root/bin/gzip" "$root/orig/gzip"
install -m 755 "$B/morphctl" "$root/morphctl"
as_another() {		# again while it is too much
	local out rc
	for _ in $(seq 30); do
		out=$(setpriv --reuid 64001 --regid 64001 --clear-groups "$root/morphctl" --socket "$root/sock" "$@" 2>&1)
		rc=$?
		[[ $out == *"too many requests"* ]] || break
		sleep 1
	done
	echo "$out"
	return $rc
}
check "he is told so of layouts" grep -q "no module of yours has as many samples" <<<"$(as_another reoptimize --all 2>&1)"
check "he may not have folders searched" \
	eval 'said=$(as_another undo --all --search 2>&1); [ $? = 3 ] && grep -q "only root may search" <<<"$said"'
check "a user who owns nothing is told so" grep -q "no module of yours has a generation" <<<"$(as_another restore --all 2>&1)"
chown 64001 "$root/bin/gzip"
ctl look >/dev/null
as_another restore --dry-run "$root/bin/gzip" >"$root/promised" 2>&1
rc=$?
as_another restore "$root/bin/gzip" >"$root/said" 2>&1
check "one who has owned it since only, that it is refused ($rc)" [ $rc = $? -a $rc != 0 ]
check "in the words of who asks for it in truth" cmp <(tail -n 1 "$root/promised") <(tail -n 1 "$root/said")
check "with who can" grep -q "root's .morphctl undo. puts its original back" "$root/promised"
chown 0 "$root/bin/gzip"
ctl look >/dev/null
check "restore --all" on restore --all
check "says how far it is" has "^2 of 3, .*: putting its original back"
check "all are back" eval 'for p in perl gzip sort; do same_file "$root/bin/$p" "$root/orig/$p" || exit 1; done'

# Interrupted.  The job is stopped, so that it is still there when nobody waits for it any more.
stop_job() {
	local i
	for i in $(seq 2000); do
		finds_job optimize && kill -STOP "$job" && return 0
		sleep 0.003
	done
	return 1
}
gone() { [ ! -e "/proc/$job" ]; }
stop_job & stopper=$!
"$B/morphctl" --socket "$root/sock" reoptimize "$root/bin/perl" >/dev/null 2>&1 & client=$!
if wait $stopper; then
	job=$(pgrep -P "$daemon" -x morph-edit)
	kill -INT $client 2>/dev/null || kill $client
	kill $client 2>/dev/null
	wait $client
	check "an interrupted command leaves no job ($job)" within 10 gone
else
	skip "an interrupted command leaves no job" "it was too fast"
	wait $client
fi
check "the daemon goes on" ctl list
check "nothing was swapped" same_file "$root/bin/perl" "$root/orig/perl"
check "and lays it out when asked again" ctl reoptimize "$root/bin/perl"
done_testing
