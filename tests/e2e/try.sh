#!/bin/bash
# try.sh - morphctl try: what it says is true of commands that are the same and of some that are not;
# nothing is left of it, whoever calls it
. tests/tap.sh
B=$(realpath "${B:-build}")
T=$(mktemp -d "${TMPDIR:-/var/tmp}/morph-try-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
mkdir -m 1777 "$T/tmp" "$T/here"
cd "$T/here" || exit 1
if [ "$(id -u)" = 0 ]; then users="root nobody"; else users=$(id -un); fi

# Perl that has something to do for a fifth of a second.
cat >"$T/work.pl" <<'END'
my (%h, $s);
for my $i (1 .. 150000) { my $k = "k" . ($i * 7919 % 10007); $h{$k} += $i; $s += length($k) if $k =~ /9(\d)/ }
print "$s ", scalar(keys %h), "\n";
END
chmod 644 "$T/work.pl"

as_user() {		# USER COMMAND...
	local user=$1
	shift
	if [ "$user" = "$(id -un)" ]; then "$@"; else setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"; fi
}
try() {			# USER OPTION... -- COMMAND: out, err, code
	local user=$1
	shift
	as_user "$user" env TMPDIR="$T/tmp" timeout 300 "$B/morphctl" try --time=4 "$@" >"$T/out" 2>"$T/err" </dev/null
	code=$?
}
said() { grep -q -- "$1" "$T/out" "$T/err"; }
nothing_left() {	# NAME
	if [ -z "$(ls -A "$T/tmp" "$T/here" | grep -v :$)" ] && ! grep -q "$T/tmp" /proc/self/mountinfo; then ok "$1: nothing is left"
	else not_ok "$1: nothing is left"; note "$(ls -lA "$T/tmp" "$T/here")"; fi
}

for user in $users; do
	try "$user" -- perl "$T/work.pl"
	if said "gives this user no private files\|no sampling clock"; then skip "$user" "$(tail -n 1 "$T/err")"; continue; fi
	{ [ $code = 0 ] || [ $code = 1 ]; } && said "perl.*same output, proven\|too few" && said "^/usr/bin/perl .* counted" &&
		ok "$user: perl is laid out, proven and the same" ||
		{ not_ok "$user: perl is laid out, proven and the same"; note "$code: $(cat "$T/out" "$T/err")"; }
	nothing_left "$user, perl"
	try "$user" -- sh -c "echo new >$T/here/file; cat $T/here/file; perl $T/work.pl"
	said "same output, proven\|too few" && ok "$user: what it writes, it sees itself" ||
		{ not_ok "$user: what it writes, it sees itself"; note "$code: $(cat "$T/out" "$T/err")"; }
	nothing_left "$user, a command that writes"
done
done_testing
