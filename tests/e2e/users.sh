#!/bin/bash
# users.sh - users of the machine ask the daemon: about their own programs, and about those of others
#
# Two users have a program each, root has one.  All of it is in the private root.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
one=64001 two=64002
nothing=64004		# owns nothing
quiet=64003		# asks for nothing before it is his turn, so that nothing of his share is used
# Two of them have accounts, in mounts of its own.
if [ $# = 0 ] && unshare --mount true 2>/dev/null; then
	exec unshare --mount tests/e2e/users.sh accounts
fi
make_root gzip
if [ "${1:-}" = accounts ]; then
	{ cat /etc/passwd && printf '%s:x:%d:%d::/:/bin/sh\n' one $one $one two $two $two; } >"$root/passwd"
	mount --bind "$root/passwd" /etc/passwd
fi
cp "$B/morphctl" "$root/morphctl"
for u in $one $two; do
	mkdir "$root/$u"
	cp "$root/bin/gzip" "$root/$u/tool"
	chown -R $u:$u "$root/$u"
done
policy() {		# SEE_OTHERS
	sed "s|include:.*|include: [\"$root/bin/*\", \"$root/$one/*\", \"$root/$two/*\"]|" \
		"$root/policy" >"$root/morph.yaml"
	printf 'users:\n  see_others: %s\n' "$1" >>"$root/morph.yaml"
}
mv "$root/morph.yaml" "$root/policy"
policy false
check_here "the daemon starts" start_daemon

once() {		# UID COMMAND...
	setpriv --reuid "$1" --regid "$1" --clear-groups timeout 120 "$root/morphctl" \
		--socket "$root/sock" "${@:2}"
}
as() {			# UID COMMAND...: again while it is too much
	local out rc
	for _ in $(seq 30); do
		out=$(once "$@" 2>&1)
		rc=$?
		[[ "$out" == *"too many requests"* ]] || break
		sleep 1
	done
	echo "$out"
	return $rc
}
has() { local text=$1; shift; "$@" 2>&1 | grep -qF -- "$text"; }
hasnot() { local text=$1 out; shift; out=$("$@" 2>&1); ! grep -qF -- "$text" <<<"$out"; }
refused() { local out; out=$("$@" 2>&1) && { echo "was done: $out"; return 1; }
	grep -q "that is yours\|only root and the group" <<<"$out" || { echo "$out"; return 1; }; }

head -c 8000000 /dev/urandom >"$root/data"
# Each program stays until its samples are taken in: whose a process was that root started is not known of one that
# has ended.
feeds=()
for u in $one $two; do
	mkfifo "$root/$u.in"
	setpriv --reuid $u --regid $u --clear-groups "$root/$u/tool" -9 <"$root/$u.in" >/dev/null &
	exec {feed}>"$root/$u.in"
	feeds+=("$feed")
	for i in 1 2 3; do cat "$root/data" >&"$feed"; done
done
"$root/bin/gzip" -9 <"$root/data" >/dev/null
check "samples are taken in" taken_in
for feed in "${feeds[@]}"; do exec {feed}>&-; done
p1=$root/$one/tool p2=$root/$two/tool
for p in "$p1" "$p2" "$root/bin/gzip"; do
	check "root sees $p" has "$p" ctl list
done

check "a user sees the machine's state" as $one status
check "and the policy" has see_others as $one policy show
check "a user sees his own program" has "$p1" as $one list
check "and its report" has "" as $one report "$p1"
check "and what analysis says of it" as $one explain "$p1"
for p in "$p2" "$root/bin/gzip"; do
	check "not that of others" hasnot "$p" as $one list
	check "nor in the report of all" hasnot "$p" as $one report
	check "nor by name: report" refused as $one report "$p"
	[ "$p" = "$p2" ] || continue	# the rest is the same for all
	check "annotate" refused as $one annotate "$p" main
	check "explain" refused as $one explain "$p"
	check "verify" refused as $one verify "$p"
	check "policy show" refused as $one policy show "$p"
	check "he cannot have it laid out anew" refused as $one reoptimize "$p"
	check "nor restored" refused as $one restore "$p"
done
if [ "${1:-}" = accounts ]; then
	by_user() { jq -e "$1" <(as "$2" --json report --by=user | grep -v '^taking'); }
	check "by user he sees himself alone" by_user \
		'(.users | map(.user)) == ["one"] and .users[0].samples > 20 and .users[0].share_pct == 100' $one
	check "root sees all" by_user '(.users | map(.user) | contains(["one", "two", "[root and system accounts]"])) and
		(.users | last.cumulative_pct | . > 99.9)' 0
	check "who has no account is nobody" by_user '.users == []' $quiet
else
	skip "report by user" "no mount namespaces"
fi
check "a user is not told of the kernel" hasnot "[kernel]" as $one report --by=machine
check "root is" has "[kernel]" ctl report --by=machine
check "a user sees the program that he owns" has "$p1" as $one report --by=program
check "and no other" hasnot "$p2" as $one report --by=program
check "root sees all" has "$p2" ctl report --by=program
check "half an hour is refused, as it is not known" eval 'ctl report --by=program --since=@1799 2>&1 | grep -q "are kept by 30 days"'
check "what is not known is answered in the same words" refused as $one report "$root/none"
check "nobody has the daemon look at his paths" refused as $one reoptimize /usr/bin/true
for c in sync "pause" "resume" "policy reload" "report-bug $p1"; do
	[ "$c" = sync ] && c="status --sync"
	check "not for users: $c" refused as $one $c
done
check "reoptimize --wait holds up others" hasnot "verifying" as $one reoptimize --wait "$p1"

for c in "" saved status list history report "policy show" "restore --all" "verify --all"; do
	check "who owns nothing hears nothing of others: $c" hasnot "$root/6400" as $nothing $c
	check "nor with --json" hasnot "$root/6400" as $nothing --json $c
done

check "his own he can have laid out anew" as $one reoptimize "$p1"
check "it is a generation" [ "$(sha "$p1")" != "$(sha "$root/orig/gzip")" ]
check "still his" [ "$(stat -c %u "$p1")" = $one ]
check "the history tells him" has installed as $one history "$p1"
check "and nobody else" hasnot installed as $two history "$p1"
check "nor all of the history" hasnot "$p1" as $two history
check "another one cannot restore it" refused as $two restore "$p1"
check "nor with --all" hasnot "$p1" as $two restore --all
check "it is proven to him" as $one verify "$p1"
check "it would be restored" has "$p1: would get its original back" as $one restore --dry-run "$p1"
check "and all that is his" has "$p1: would get its original back" as $one restore --all --dry-run
check "which nobody else is told" refused as $two restore --dry-run "$p1"
check "and it is a generation still" [ "$(sha "$p1")" != "$(sha "$root/orig/gzip")" ]
copy=$root/$one/copy
cp -p "$p1" "$copy"
for i in 1 2 3; do "$copy" -9 <"$root/data"; done >/dev/null
check "a copy of it has samples" eval 'taken_in && has "$copy" as $one list'
for how in --dry-run ""; do
	as $one restore $how "$copy" >"$root/said"
	check "a copy is root's to restore: restore $how ($?)" [ $? = 3 ]
	check "which is said" grep -q "the ledger knows no such generation.*root's .morphctl undo" "$root/said"
done
check "he can restore it" as $one restore "$p1"
check "it is the original" same_file "$p1" "$root/orig/gzip"
check "and still his" [ "$(stat -c %u "$p1")" = $one ]

# A folder that others can write, his or not, is nobody's to ask for.
chmod 777 "$root/$one"
check "not in a folder that all can write" has "others can write" as $one reoptimize "$p1"
chmod 755 "$root/$one"

member() { setpriv --reuid $one --regid $one --groups "$(id -g nobody)" timeout 60 \
	"$root/morphctl" --socket "$root/sock" "$@"; }
check "the group of the daemon's user sees all" has "$p2" member list
check "and may change things" member pause
check "back" member resume

# One after the other, faster than any morphctl.
often() {
	setpriv --reuid $two --regid $two --clear-groups timeout 60 perl -MIO::Socket::UNIX -e '
		my $body = pack("CC", 1, 1) . "list\0";
		for (1 .. 300) {
			my $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $ARGV[0]) or next;
			syswrite $s, pack("V/a*", $body);
			my ($n, $all) = (0, "");
			$all .= $_ while sysread $s, $_, 65536;
			$all =~ /too many requests/ ? $refused++ : $all =~ /modules/ ? $served++ : 0;
		}
		print "$served served, $refused refused\n";
		exit !($served && $refused)' "$root/sock"
}
check "who asks too often is refused" often
check "not so others" once $quiet list
check "nor root, ever" eval 'for _ in $(seq 60); do ctl list >/dev/null || exit 1; done'
# The daemon answers while a user has as many connections open as he can get: they are counted until the
# rest is closed, and held for a while, shorter than the 5 s that the daemon waits for a request.
setpriv --reuid $two --regid $two --clear-groups perl -MIO::Socket::UNIX -e '
	my @s = map { IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $ARGV[0]) } 1 .. 40;
	my ($open, $end) = (scalar @s, time + 4);
	while ($open > 4 && time < $end) {
		select undef, undef, undef, 0.05;
		$open = grep { $_ && !defined($_->blocking(0)) || !defined(sysread $_, my $x, 1) } @s;
	}
	$| = 1;
	print "$open\n";
	sleep 3;' "$root/sock" >"$root/open" &
within 30 test -s "$root/open"
check "root is served while a user holds what he can" ctl list
check "and so is another user" as $one list
wait $!
check "he held four ($(cat "$root/open"))" [ "$(cat "$root/open")" = 4 ]

policy true
check "another policy" ctl policy reload
check "now others are seen" has "$p1" as $two list
check "and reported" as $two report "$p1"
check "but not changed" refused as $two restore "$p1"
policy false
check "the policy is as before" ctl policy reload
# What is another one's by now tells him nothing of what it was before, nor the one before of what it is.
check "it has samples before" eval '[ "$(as $one --json list | jq ".modules[0].samples > 0")" = true ]'
chown $two "$p1"
check "a file is another one's by now" ctl look
check "he sees it" has "$p1" as $two --json list
check "with nothing of what it was used for" eval '[ "$(as $two --json list | jq "[.modules[] | select(.path == \"$p1\") | .samples == 0] | all")" = true ]'
check "nor of what was done" hasnot installed as $two history "$p1"
check "the one before sees nothing" refused as $one report "$p1"
check "root still knows what was done" has installed ctl history "$p1"
check_here "the daemon ends with code 0" stop_daemon
done_testing
