# nginx_client.pl SOCKET PATHS - sends the requests twenty to a connection, prints what comes without dates
use strict;
use warnings;
use Socket;
my ($at, $list) = @ARGV;
open my $in, '<', $list or die;
my @path = <$in>;
chomp @path;
my @agent = ('curl/7.88', 'Mozilla/5.0 (X11)', 'Bot/2.1');
my $k = 0;
while (my @some = splice @path, 0, 20) {
	socket my $s, PF_UNIX, SOCK_STREAM, 0 or die;
	connect $s, pack_sockaddr_un($at) or die "connect: $!";
	my ($ask, $answer) = ('', '');
	for (@some) {
		$k++;
		my $verb = $k % 9 ? 'GET' : 'HEAD';
		$ask .= "$verb $_ HTTP/1.1\r\nHost: example.org\r\nUser-Agent: $agent[$k % 3]\r\nAccept-Encoding: gzip\r\n";
		$ask .= "Referer: http://x.example.org/$k\r\n" if $k % 4 == 0;
		$ask .= "Range: bytes=10-200\r\n" if $k % 7 == 0;
		$ask .= "If-Modified-Since: Sun, 01 Jan 2023 00:00:00 GMT\r\n" if $k % 11 == 0;
		$ask .= "Connection: close\r\n" if \$_ == \$some[-1];
		$ask .= "\r\n";
	}
	syswrite $s, $ask;
	while (sysread $s, my $part, 1 << 18) { $answer .= $part }
	$answer =~ s/^(Date|Expires): .*?\n//mg;
	print $answer;
}
