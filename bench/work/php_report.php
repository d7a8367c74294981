<?php
// php_report.php N SEED - a log parsed into objects, pages made from templates, JSON there and back,
// arrays sorted and folded, a router, a small evaluator, text worked on with regular expressions
declare(strict_types=1);
ini_set('memory_limit', '512M');

interface Countable2 { public function weight(): int; }

final class Request implements Countable2
{
	public function __construct(public readonly string $host, public readonly string $verb,
		public readonly string $url, public readonly array $query, public readonly int $status,
		public readonly int $size) {}
	public function area(): string { return explode('/', $this->url)[1] ?? ''; }
	public function weight(): int { return $this->status >= 400 ? 0 : $this->size; }
}

function requests(string $file): Generator
{
	$form = '~^(\S+) - \S+ \[[^]]+\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)~';
	foreach (file($file) as $line) {
		if (!preg_match($form, $line, $m))
			continue;
		parse_str($m[4], $query);
		yield new Request($m[1], $m[2], $m[3], $query, (int)$m[5], (int)$m[6]);
	}
}

class Router
{
	private array $routes = [];
	public function on(string $pattern, callable $then): static
	{
		$this->routes['~^' . preg_replace('~:(\w+)~', '(?<$1>[^/]+)', $pattern) . '$~'] = $then;
		return $this;
	}
	public function call(string $url): string
	{
		foreach ($this->routes as $pattern => $then)
			if (preg_match($pattern, $url, $m))
				return $then(array_filter($m, 'is_string', ARRAY_FILTER_USE_KEY));
		throw new OutOfBoundsException("no route: $url");
	}
}

function page(string $template, array $values): string
{
	return preg_replace_callback('/\{(\w+)(?::(\w+))?\}/', function (array $m) use ($values): string {
		$v = (string)($values[$m[1]] ?? '?');
		return match ($m[2] ?? '') { 'upper' => strtoupper($v), 'html' => htmlspecialchars($v), default => $v };
	}, $template);
}

function evaluate(array $tree, array $names): int
{
	[$op, $a, $b] = $tree;
	$a = is_array($a) ? evaluate($a, $names) : (is_string($a) ? $names[$a] : $a);
	$b = is_array($b) ? evaluate($b, $names) : (is_string($b) ? $names[$b] : $b);
	switch ($op) {
	case '+': return $a + $b;
	case '-': return $a - $b;
	case '*': return $a * $b % 1000003;
	case '/':
		try { return intdiv($a, $b); } catch (DivisionByZeroError) { return 0; }
	}
	return 0;
}

[, $n, $seed] = array_map('intval', $argv);
$all = iterator_to_array(requests('log'), false);
$hosts = $areas = [];
foreach ($all as $r) {
	$hosts[$r->host] = ($hosts[$r->host] ?? 0) + 1;
	$areas[$r->area()][] = $r;
}
uksort($hosts, fn($a, $b) => $hosts[$b] <=> $hosts[$a] ?: strcmp($a, $b));
foreach (array_slice($hosts, 0, 10, true) as $host => $k)
	printf("%16s %5d %6.2f%%\n", $host, $k, 100 * $k / count($all));
ksort($areas);
foreach ($areas as $area => $rs) {
	$sizes = array_map(fn(Request $r) => $r->weight(), $rs);
	sort($sizes);
	echo str_pad($area, 10), count($rs), ' ', number_format(array_sum($sizes)), ' ', $sizes[count($sizes) >> 1], "\n";
}
$json = json_encode(array_map(fn($r) => ['u' => $r->url, 'q' => $r->query, 'big' => $r->size > 30000], $all), JSON_PRETTY_PRINT);
$back = json_decode($json, true);
echo strlen($json), ' ', count(array_filter(array_column($back, 'big'))), ' ', md5(serialize($back)), "\n";
$router = (new Router)
	->on('/api/:name', fn($m) => "api {$m['name']}")
	->on('/:area/:name', fn($m) => ucfirst($m['area']) . ':' . strrev($m['name']))
	->on('/:area/:group/:name', fn($m) => implode('<', $m));
$seen = [];
foreach ($all as $i => $r) {
	try { $key = $router->call($r->url); } catch (OutOfBoundsException $e) { $key = $e->getMessage(); }
	$seen[substr($key, 0, 4)] = ($seen[substr($key, 0, 4)] ?? 0) + strlen(page('<a href="{url:html}">{verb} {host:upper}</a>',
		['url' => $r->url, 'verb' => $r->verb, 'host' => $r->host]));
}
ksort($seen);
echo implode(' ', array_map(fn($k, $v) => "$k=$v", array_keys($seen), $seen)), "\n";
$tree = ['+', ['*', ['+', 'a', $seed], 'b'], ['-', ['/', 'a', ['-', 'b', 7]], ['*', 'b', 'b']]];
for ($i = $sum = 0; $i < $n; $i++)
	$sum += evaluate($tree, ['a' => $i, 'b' => $i % 31]);
echo $sum, "\n";
$words = array_unique(array_merge(...array_map(fn($r) => preg_split('~[/.]~', $r->url, -1, PREG_SPLIT_NO_EMPTY), $all)));
sort($words);
$near = 0;
foreach (array_slice($words, 0, 80) as $a)
	foreach (array_slice($words, 20, 80) as $b)
		$near += levenshtein($a, $b) < 4 ? 1 : (similar_text($a, $b) > 3 ? 2 : 0);
echo $near, ' ', ucwords(wordwrap(implode(' ', array_slice($words, 0, 30)), 60, "\n")), "\n";
