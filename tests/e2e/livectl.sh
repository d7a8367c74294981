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
trap 'kill -9 $pid $other 2>/dev/null; rm -rf "$root"' EXIT
cp "$(readlink -f /usr/bin/perl)" "$root/perl" || skip_all "there is no perl"
mkdir "$root/store"
cat >"$root/loop.pl" <<'END'
$| = 1;
while (1) {
	my %h; $h{"k$_"} = $_ * 3 for 1 .. 500;
	my $s = 0; $s += $h{$_} for sort keys %h;
	print "$s\n";
}
END
start() {		# OUTPUT
	"$root/perl" "$root/loop.pl" >"$1" 2>&1 </dev/null 9>&- &
}
live() { "$ctl" live --store="$root/store" "$@"; }
listed() { live | awk -v p="$1" '$1 == p { n++ } END { print n + 0 }'; }
start "$root/out"
pid=$!
start "$root/out2"
other=$!
disown -a
sleep 0.3

# What `record` sees of a process that ran before it, and of nobody else.
check "record --pid samples a process that runs" "$ctl" record -o "$root/log" --rate=997 --pid=$pid -- sleep 2
check "and what it has mapped is known" "$ctl" profile "$root/log" -o "$root/profiles"
set -- "$root/profiles"/perl.*.profile
profile=$1
[ -s "$1" ] && ok "so there is a profile of its program" || not_ok "so there is a profile of its program"
check "record --pid of a process that is not there fails" eval '! "$ctl" record -o "$root/log2" --pid=4194303 -- true 2>/dev/null'

check "a process gets a generation by samples of its own" live $pid --time=2 --module="$root/perl"
[ "$(listed $pid)" = 1 ] && [ "$(listed $other)" = 0 ] && ok "it is listed, and no other" || not_ok "it is listed, and no other"
f=$(live | awk -v p=$pid '$1 == p { print $3 }')
check "the file that is mapped is proven, and root's alone" eval '
	[ "$(stat -c %U%a "$f")" = root600 ] && [ "$(basename "$f")" = "$(sha256sum <"$f" | cut -c1-64)" ] &&
	"$B/morph-verify" --live "$root/perl" "$f"'
check "it is laid out: fewer branches are taken, by the samples of before" eval '
	"$B/morph-edit" report "$root/perl" --profile "$profile" --compare "$f" >"$root/report" &&
	awk "/^taken branches/ { exit !(\$4 < 0.9 * \$3) }" "$root/report"'
check "it is taken back" live --off $pid
[ "$(listed $pid)" = 0 ] && ok "and is listed no more" || not_ok "and is listed no more"
check "taking back twice is nothing" live --off $pid
check "with profiles nothing is sampled" live $pid $other --profiles="$root/profiles"
[ "$(listed $pid)$(listed $other)" = 11 ] && ok "and several processes get it" || not_ok "and several processes get it"

# The original is gone from its path: it comes back all the same.
rm "$root/perl"
check "the original comes back from the process itself" live --off $pid $other
[ "$(listed $pid)$(listed $other)" = 00 ] && ok "in both" || not_ok "in both"
sleep 0.5
[ "$(sed '$d' "$root/out" "$root/out2" | sort -u | wc -l)" = 1 ] && [ "$(wc -l <"$root/out")" -gt 50 ] &&
	ok "every answer of both was the same" || not_ok "every answer of both was the same"

code() {		# WANTED ARGUMENT...
	local want=$1 said rc
	shift
	said=$(live "$@" 2>&1)
	rc=$?
	[ $rc = "$want" ] && grep -q -e "${why:-.}" <<<"$said" || { echo "$rc: $said"; return 1; }
}
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
	check "others than root may not" eval 'said=$(setpriv --reuid=65534 --clear-groups "$ctl" live $other 2>&1); [ $? = 1 ] && grep -q "only root" <<<"$said"'
fi
done_testing
