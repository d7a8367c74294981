#!/bin/bash
# answers.sh - a Manager that was taken over answers root's morphctl: undo does not take its word, and nothing
# that it says harms who asks
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
seq 200000 >"$root/data"
work() { "$root/bin/gzip" -9 -n -c <"$root/data" >/dev/null; }
check_here "a daemon" start_daemon
check "gzip has samples" sampled gzip 100 work
check "it is laid out anew" ctl reoptimize "$root/bin/gzip"
check_here "the daemon ends" stop_daemon
is_original() { cmp "$root/orig/gzip" "$root/bin/gzip"; }
check "it is a generation" not is_original

# Says of everything that it was done, and of its store that it is $1.
cat >"$root/liar" <<'END'
use IO::Socket::UNIX;
$SIG{PIPE} = "IGNORE";
my ($path, $store) = @ARGV;
my $l = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $path, Listen => 16) or die "listen: $!";
sub frame { my ($kind, $body) = @_; pack("VCa*", 1 + length $body, $kind, $body) }
sub table { my ($title, @col) = @_;
	frame(1, "$title\0" . pack("C", scalar @col) . join "", map { pack("C", $$_[0]) . "$$_[1]\0" } @col) }
sub row { frame(2, join "", map { "$_\0" } @_) }
my @bad = ("", "-1", "1e999", "99999999999999999999", "\e[2J\n\r", "\xff\xfe", "%s%n", "x" x 70000);
my @names = qw(path samples generation time event detail store value sentence severity module entry count program);
sub junk { my $all = "";
	for my $title ("", qw(status values problems not_available modules history report samples cpu_time explained
			      checksums procedures roles conditions blocks saved period), "\e]0;x\a") {
		$all .= table($title, map { [$_ % 9, "c$_"] } 1 .. 64) . row(map { $bad[$_ % @bad] } 1 .. 64);
		$all .= table($title, map { [$_ % 9, $names[$_]] } 0 .. $#names) . row(map { $bad[$_ % @bad] } 0 .. $#names);
		$all .= table($title, [0, "path"]) . row("\e[31m");
		$all .= table($title, [0, "x"], [8, "path"]);
	}
	$all . frame(6, pack("VV", 5, 0) . "\e[2J\0") . frame(3, "\e[2J\0") . frame(4, "%n\0") . frame(3, "no end") }
while (my $c = $l->accept) {
	sysread $c, my $request, 1 << 16;
	my ($command) = split /\0/, substr $request, 6;
	print $c $store eq "junk" ? junk() :
		$command eq "status" ? table("status", [0, "what"], [0, "value"]) . row("store", $store) : "";
	print $c frame(5, "\0");
	close $c;
}
END
liar() {		# STORE
	[ -z "${looper:-}" ] || { kill "$looper"; wait "$looper"; }
	rm -f "$root/sock"
	perl "$root/liar" "$root/sock" "$1" &
	looper=$!
	within 10 test -S "$root/sock"
} 2>/dev/null

check_here "a liar that has no store" liar /usr
check "undo --all does not say that it succeeded" not ctl undo --all
check "nothing came back, indeed" not is_original
check "nor of one file" not ctl undo "$root/bin/gzip"
check "of the store that root names all comes back" ctl undo --all --store="$root/store"
check "it is the original" is_original
mkdir "$root/fake" "$root/fake/originals" "$root/fake/ledger"
chown -R nobody "$root/fake"
check_here "a liar whose store is a user's" liar "$root/fake"
check "is not believed" not ctl undo --all

check_here "a liar that answers junk" liar junk
for c in status "status --check" list "list --all" report "report --by=program" saved history overview "stats" \
	"explain /x" "annotate /x f" "verify --all" "verify --packages" "metrics --prometheus" "policy show" \
	"cfg /x f -o $root/cfg" "report --html -o $root/page" "diff -1d"; do
	for json in "" --json; do
		survives() {
			# shellcheck disable=SC2086
			ctl $json $c >"$root/said" 2>&1
			[ $? -lt 124 ] && ! grep -q $'[\033\a\r]' "$root/said"
		}
		check "${json:+with --json: }morphctl $c" survives
	done
done
[ -f "$root/page" ] && check "the page is one" not grep -q $'[\033\a\r]' "$root/page"
done_testing
