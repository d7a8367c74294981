# perl_uses.pl SIZE SEED USE... - text: a log matched, rewritten and counted; numbers: orbits, primes, matrices;
# objects: classes, closures, a heap, deep structures copied and written out
use strict;
use warnings;
my ($size, $seed, @uses) = @ARGV;
my $state = $seed * 7919 + 1;
sub rnd { $state = $state * 16807 % 2147483647; $state % $_[0] }

sub text {
	my (%host, %term, $bytes, @wrong);
	open my $in, '<', 'log' or die;
	while (<$in>) {
		next unless /^(\S+) - (\S+) \[(\d+)\/(\w+)\/[^\]]*\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)/;
		my ($h, $url, $query, $status, $n) = ($1, $6, $7, $8, $9);
		$host{$h}++;
		$bytes += $n;
		if (defined $query) { $term{lc $_}++ for split /[&=]|%20/, $query }
		(my $short = $url) =~ s{/([^/]+)\.(html|php|json|png)$}{<$2:\u$1>};
		$short =~ tr/a-m/A-M/;
		push @wrong, sprintf '%s %-30s %6.1f', $status, $short, $n / 1024 if $status >= 400;
	}
	print "$_ $host{$_}\n" for (sort { $host{$b} <=> $host{$a} || $a cmp $b } keys %host)[0 .. 9];
	print join(' ', scalar(keys %term), $bytes, scalar @wrong, (sort @wrong)[0]), "\n";
	my $all = join '|', @wrong;
	my $n = () = $all =~ /(?<!\d)4\d\d (?=\S*<p)/g;
	print "$n ", length($all =~ s/([aeiou])(\w)/$2$1/gr), "\n";
}

sub numbers {
	my @b = map { { x => rnd(100) / 10, y => rnd(100) / 10, u => rnd(10) / 10, v => 0, m => 1 + rnd(9) } } 1 .. 5;
	for (1 .. $size / 4) {
		for my $i (0 .. 4) {
			for my $j ($i + 1 .. 4) {
				my ($p, $q) = @b[$i, $j];
				my ($dx, $dy) = ($p->{x} - $q->{x}, $p->{y} - $q->{y});
				my $d = $dx * $dx + $dy * $dy + 0.1;
				my $f = 0.01 / ($d * sqrt $d);
				$p->{u} -= $dx * $q->{m} * $f; $p->{v} -= $dy * $q->{m} * $f;
				$q->{u} += $dx * $p->{m} * $f; $q->{v} += $dy * $p->{m} * $f;
			}
		}
		$_->{x} += 0.01 * $_->{u}, $_->{y} += 0.01 * $_->{v} for @b;
	}
	printf "%.6f %.6f\n", $b[0]{x}, $b[4]{y};
	my $bits = '';
	my $count = 0;
	for my $i (2 .. $size * 2) {
		next if vec($bits, $i, 1);
		$count++;
		for (my $j = $i * $i; $j <= $size * 2; $j += $i) { vec($bits, $j, 1) = 1 }
	}
	my $k = int(sqrt($size) / 4) + 2;
	my @m = map { [map { rnd(10) } 1 .. $k] } 1 .. $k;
	my @p;
	for my $r (0 .. $k - 1) {
		for my $c (0 .. $k - 1) { my $s = 0; $s += $m[$r][$_] * $m[$_][$c] for 0 .. $k - 1; $p[$r][$c] = $s }
	}
	my $trace = 0;
	$trace += $p[$_][$_] for 0 .. $k - 1;
	print "$count $trace ", ($size << 5 ^ 12345) & 65535, "\n";
}

package Shape { sub new { my ($c, %a) = @_; bless {%a}, $c } sub area { $_[0]{w} } sub name { ref $_[0] } }
package Square { our @ISA = 'Shape'; sub area { $_[0]{w}**2 } use overload '<=>' => sub { $_[0]->area - $_[1]->area }, '""' => sub { "S$_[0]{w}" } }
package main;

sub deep { my $v = shift; ref $v eq 'HASH' ? { map { $_ => deep($v->{$_}) } keys %$v } : ref $v eq 'ARRAY' ? [map { deep($_) } @$v] : $v }
sub dump_of { my $v = shift; ref $v eq 'HASH' ? '{' . join(',', map { "$_:" . dump_of($v->{$_}) } sort keys %$v) . '}' : ref $v eq 'ARRAY' ? '[' . join(',', map { dump_of($_) } @$v) . ']' : $v }

sub objects {
	my @s = map { $_ % 3 ? Square->new(w => rnd(50)) : Shape->new(w => rnd(90)) } 1 .. $size / 2;
	my $sum = 0;
	$sum += $_->area for @s;
	my @sorted = sort { $a <=> $b } grep { $_->isa('Square') } @s;
	my @counter = map { my $c = 0; sub { $c += shift } } 1 .. 20;
	$sum += $counter[$_ % 20]->($_) % 7 for 1 .. $size;
	my @heap;
	for (1 .. $size / 2) {
		push @heap, rnd(100000);
		my $i = $#heap;
		while ($i > 0 && $heap[($i - 1) / 2] > $heap[$i]) { @heap[($i - 1) / 2, $i] = @heap[$i, ($i - 1) / 2]; $i = int(($i - 1) / 2) }
	}
	my $data = [map { { id => $_, list => [rnd(9), rnd(9)], name => "n" . rnd(1000) } } 1 .. $size / 10];
	my $text = dump_of(deep($data));
	my $caught = eval { die { code => 7 } } // $@->{code};
	print "$sum $sorted[0] $sorted[-1] $heap[0] ", length $text, " $caught ", local $_ = wantarray ? 1 : 0, "\n";
}

{ no strict 'refs'; &$_() for @uses; }
