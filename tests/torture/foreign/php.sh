# php.sh - PHP with its JIT in all its forms: an interpreter that keeps labels in registers, code made of its handlers, fibers
packages="php8.2-cli php8.2-opcache php8.2-mbstring php8.2-xml"
files() { with_libraries "$(program php8.2)"; elves_of php8.2-common php8.2-opcache php8.2-mbstring php8.2-xml; }
run() {
	cat >p.php <<-'X'
	<?php
	function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); } echo fib(24), "\n";
	function gen($n) { for ($i = 0; $i < $n; $i++) { $x = yield $i; if ($x) echo "got $x\n"; } return 7; }
	$g = gen(5); foreach ($g as $v) echo $v; echo $g->getReturn(), "\n";
	class A implements ArrayAccess { private $d = []; function __get($n) { return "magic $n"; } function __call($n, $a) { return $n . count($a); }
	 function offsetExists($o): bool { return isset($this->d[$o]); } function offsetGet($o): mixed { return $this->d[$o] ?? throw new OutOfRangeException("no $o"); }
	 function offsetSet($o, $v): void { $this->d[$o] = $v; } function offsetUnset($o): void { unset($this->d[$o]); } function __destruct() { echo "gone\n"; } }
	$a = new A; $a[3] = 4; echo $a->foo, $a->bar(1, 2), $a[3], "\n"; try { echo $a[9]; } catch (OutOfRangeException $e) { echo get_class($e), $e->getLine(), "\n"; } finally { echo "finally\n"; }
	$f = new Fiber(function ($x) { for ($i = 0; $i < 5; $i++) { $x = Fiber::suspend($x * 2); } throw new Exception("from fiber $x"); });
	$r = $f->start(1); try { while (true) { $r = $f->resume($r + 1); } } catch (Exception $e) { echo $e->getMessage(), "\n"; }
	$s = 0; for ($i = 0; $i < 300000; $i++) { $s = ($s * 31 + $i) & 0xffffff; if ($i % 1000 == 0) $s ^= strlen(str_repeat("x", $i % 77)); } echo $s, "\n";
	$m = []; for ($i = 0; $i < 20000; $i++) $m["k" . $i * 7919 % 5003] = $i; ksort($m); echo crc32(json_encode($m)), "\n"; usort($m, fn($x, $y) => $y <=> $x); echo $m[0], "\n";
	echo preg_replace_callback('/(\w)(\d+)/', fn($x) => strtoupper($x[1]) . ($x[2] * 2), "a1 b22 c333"), "\n"; echo match(true) { $s > 5 => "big", default => "small" }, "\n";
	try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo $e->getMessage(), "\n"; } set_error_handler(fn($n, $m) => print("handler $m\n")); echo $undefined; echo 1.5 + "3abc", "\n";
	function deep($n) { return $n ? deep($n - 1) + 1 : 0; } echo deep(20000), "\n"; $x = new SimpleXMLElement("<a><b c='1'>t</b></a>"); echo $x->b['c'], mb_strtoupper("äöü"), "\n";
	echo md5(serialize(array_map(fn($i) => sin($i), range(0, 2000)))), "\n"; function &refs(array &$z) { $z[] = 1; return $z; } $z = []; $y = &refs($z); $y[] = 2; var_dump($z); exit(3);
	X
	local j
	for j in off interp tracing function 1205 1235 1255 1105; do
		case $j in off) set -- ;; interp) set -- -d opcache.enable_cli=1 ;; *) set -- -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=$j -d opcache.jit_hot_loop=20 -d opcache.jit_hot_func=20 ;; esac
		php8.2 "$@" p.php; echo "$j $?"
	done
	php8.2 -r 'pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { echo "alarm\n"; }); pcntl_alarm(1); sleep(2); echo ini_get("memory_limit"), "\n"; ini_set("memory_limit", "4M"); $a = []; while (true) $a[] = str_repeat("x", 10000);' 2>&1
	php8.2 -d pcre.jit=0 -r 'var_dump(preg_match("/(a+)+$/", str_repeat("a", 30) . "b")); function f() { f(); } echo substr(print_r(debug_backtrace(), true), 0, 10);'
}
