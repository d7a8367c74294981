#!/bin/bash
# bad_client.sh - clients that send garbage, half a request or nothing, or do not read
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
{	# an answer larger than a socket takes
	echo "rules:"
	for i in $(seq 250); do printf '  - {name: "%d", paths: ["/%03000d"], refuse: true}\n' "$i" "$i"; done
} >>"$root/morph.yaml"
check_here "the daemon starts" start_daemon
manager=$(role_pid manager)

# A client in Perl: connects, runs the code with $s and $path.
client() {		# CODE
	timeout 60 perl -MSocket -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		our $path = shift;
		sub dial { IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) or die "dial: $!" }
		sub answer { my ($s, $n, $all) = (shift, 0, ""); $all .= $_ while sysread $s, $_, 65536; $all }
		sub request { pack("V/a*", pack("CC", 1, scalar @_) . join("", map { "$_\0" } @_)) }
		'"$1" "$root/sock"
}
alive() { ctl list && [ "$(role_pid manager)" = "$manager" ]; }

check "a good client of this test is understood" client '
	my $s = dial(); syswrite $s, request("list"); exit !(answer($s) =~ /modules/)'
check "garbage is answered with an error" client '
	my $s = dial(); syswrite $s, "\xff" x 100; exit !(answer($s) =~ /a request of \d+ bytes/)'
check "a wrong version is answered with an error" client '
	my $s = dial(); my $r = request("list"); substr($r, 4, 1) = "\x07"; syswrite $s, $r;
	exit !(answer($s) =~ /version 7/)'
check "arguments that do not end are answered with an error" client '
	my $s = dial(); my $r = request("list"); substr($r, -1) = "x"; syswrite $s, $r;
	exit !(answer($s) =~ /damaged/)'
check "an unknown request is answered with an error" client '
	my $s = dial(); syswrite $s, request("no\nsuch"); exit !(answer($s) =~ /unknown request/)'
check "a path that is none is named in the answer" client '
	my $s = dial(); syswrite $s, request("keep", "relative", "a profile");
	exit !(answer($s) =~ /unexpected argument .relative./)'
check "every cut of a request is survived" client '
	my $r = request("history", "/x");
	for my $n (0 .. length($r) - 1) { my $s = dial(); syswrite $s, substr($r, 0, $n); close $s }'
check "random bytes are survived" client '
	srand 7;
	for (1 .. 300) {
		my $s = dial();
		syswrite $s, join "", map { chr rand 256 } 1 .. rand 200;
		shutdown $s, 1;
		answer($s);
	}'
check "the daemon answers, the same as before" alive
check "half a request is closed after a while, and holds up nobody" client '
	my $s = dial(); syswrite $s, substr(request("list"), 0, 5);
	my $t = dial(); syswrite $t, request("list"); answer($t) =~ /modules/ or exit 1;
	exit !(answer($s) eq "")'
check "clients that do not read hold up nobody, and lose their connection" client '
	my @s = map { my $s = dial(); syswrite $s, request("policy"); $s } 1 .. 10;
	my $t = dial(); syswrite $t, request("policy");
	my $whole = length answer($t);
	$t = dial(); syswrite $t, request("list"); answer($t) =~ /modules/ or exit 1;
	sleep 13;
	length(answer($_)) < $whole or exit 2 for @s'
check "more clients than there is room for" client '
	my @idle = map { dial() } 1 .. 60;
	@idle = ();
	for (1 .. 100) {	# those gone are noticed within a turn
		my $t = dial(); syswrite $t, request("list"); exit 0 if answer($t) =~ /modules/;
		select undef, undef, undef, 0.1;
	}
	exit 1'
check "a client that goes away during slow work" client '
	for (1 .. 10) { my $s = dial(); syswrite $s, request("report"); close $s }'
check "as many arguments as fit" client '
	my $s = dial(); syswrite $s, request("verify", map { "/x" x 400 } 1 .. 60);
	exit !(length answer($s) > 1000)'
check "a huge length costs no memory" client '
	my $s = dial(); syswrite $s, pack("V", 0xfffffff0) . "x" x 1000; exit !(answer($s) =~ /bytes/)'
check "the daemon answers, the same as before" alive
rss=$(awk '/^VmRSS:/ { print $2 }' "/proc/$manager/status")
check "the manager has not grown ($rss KiB)" [ "$rss" -lt 20000 ]
check_here "the daemon ends with code 0" stop_daemon
done_testing
