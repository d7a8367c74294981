# php.sh - the tests of the language in php's own source, by the installed php
packages="php8.2-cli dpkg-dev"
sources=php8.2
files() { with_libraries "$(program php8.2)"; }
# Those of the interpreter itself; a thousand, for each is a process or three.
prepare() {
	local d
	mkdir tests && cp "$SOURCES/php8.2/run-tests.php" . || return
	for d in arrow_functions assert attributes closures enum generators list match named_params \
		numeric_strings return_types try traits typehints variadic; do
		cp -a "$SOURCES/php8.2/Zend/tests/$d" tests/ || return
	done
}
run() {
	# Each result is written over the name of its test.
	NO_INTERACTION=1 TEST_PHP_EXECUTABLE=/usr/bin/php8.2 php8.2 -n run-tests.php -q -n --no-color tests |
		tr '\r' '\n' | sed -nE 's/^(PASS|FAIL|SKIP|XFAIL|BORK|WARN|LEAK) .*\[([^]]*)\].*/unit \2 \1/p' | sort -u
}
