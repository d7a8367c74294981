# perl.pl N SEED - a workload of many small functions: regular expressions, hashes, sorting, string
# building, numbers, closures, eval and die, local, pack, formats.  Output depends on N and SEED only.
use strict;
use warnings;

my ($n, $seed) = @ARGV;
my $state = $seed * 2654435761 % 4294967296;
our $depth = 0;

sub next_random { $state = ($state * 1103515245 + 12345) % 2147483648; return $state >> 8 }

sub make_word {
	my $w = '';
	$w .= chr(97 + next_random() % (4 + next_random() % 20)) for 0 .. next_random() % 7;
	return $w;
}

sub make_text { return join ' ', map { next_random() % 11 ? make_word() : next_random() % 1000 } 1 .. $_[0] }

sub count_words {
	my ($text, $count) = @_;
	$count->{lc $1}++ while $text =~ /\b([a-z]+)\b/gi;
	return scalar keys %$count;
}

sub edit_text {
	my ($t) = @_;
	$t =~ s/(\d+)/<$1>/g;
	$t =~ s/\b(\w)(\w*)\b/\U$1\E$2/g;
	$t =~ s/([aeiou])\1+/$1/g;
	$t =~ tr/a-m/n-z/;
	return $t;
}

sub top { my ($count, $k) = @_; return (sort { $count->{$b} <=> $count->{$a} || $a cmp $b } keys %$count)[0 .. $k - 1] }

sub fib { my $k = shift; return $k < 2 ? $k : fib($k - 1) + fib($k - 2) }

sub careful {
	my ($v) = @_;
	local $depth = $depth + 1;
	return eval {
		die { code => $v, depth => $depth } if $v % 3 == 0;
		die "odd $v\n" if $v % 2;
		careful($v / 2) . '+';
	} // (ref $@ ? "code $@->{code} at $@->{depth}" : "text $@" =~ s/\n//r);
}

sub make_counter { my $c = shift; return { add => sub { $c += $_[0] }, get => sub { $c } } }

sub pack_numbers {
	my $packed = pack 'w/a* N* n C', 'x' x ($_[0] % 50), map { $_ * $_[0] } 1 .. 20;
	my ($s, @v) = unpack 'w/a* N*', $packed;
	return length($s) + unpack('%32C*', $packed) + $v[0];
}

sub matrix {
	my $k = shift;
	my @m = map { my $r = $_; [ map { ($r * $_) % 7 - 3 } 1 .. $k ] } 1 .. $k;
	my $trace = 0;
	for my $i (0 .. $k - 1) {
		for my $j (0 .. $k - 1) { $trace += $m[$i][$j] * $m[$j][$i] / ($i + $j + 1) }
	}
	return sprintf '%.6f %5.2e %x', $trace, $trace * 1e9, abs int $trace;
}

sub parse_records {
	my ($lines) = @_;
	my %by;
	for (split /\n/, $lines) {
		next unless /^(?<name>\w+)\s*=\s*(?<value>[-+]?\d+(?:\.\d+)?)\s*(?:[#].*)?$/x;
		push @{ $by{ substr $+{name}, 0, 1 } }, $+{value};
	}
	return join ';', map { my $s = 0; $s += $_ for @{ $by{$_} }; "$_:" . @{ $by{$_} } . ":$s" } sort keys %by;
}

my (%count, $lines);
my $counter = make_counter($seed);
for my $round (1 .. $n) {
	my $text = make_text(120);
	count_words($text, \%count);
	my $edited = edit_text($text);
	$counter->{add}->(length $edited);
	$lines .= make_word() . ' = ' . (next_random() % 100 - 50) . ($round % 2 ? '.5' : '') . " # $round\n" for 1 .. 8;
	if ($round % 10 == 0) {
		printf "%4d %-12s|%8s|%s\n", $round, substr($edited, 0, 12), $counter->{get}->(), careful($round);
		print parse_records($lines), "\n", pack_numbers($round), ' ', matrix(8 + $round % 5), "\n";
		$lines = '';
	}
}
print "$_ $count{$_}\n" for top(\%count, 20);
print join(',', map { fib($_) } 1 .. 15), "\n", join(' ', sort { $b <=> $a } map { next_random() % 997 } 1 .. 50), "\n";
my $magic = 'Az'; $magic++ for 1 .. 100;
print "$magic ", scalar reverse($magic), ' ', ucfirst(lc $magic x 3), ' ', "\x{263a}" =~ /\w/ ? 1 : 0, "\n";
warn "done $n\n";
exit 3;
