# php.sh - the tests of the language in php's own source, by the installed php
packages="php8.2-cli dpkg-dev"
sources=php8.2
files() { with_libraries "$(program php8.2)"; }
prepare() {
	cp -a "$SOURCES/php8.2/Zend/tests" tests && cp "$SOURCES/php8.2/run-tests.php" .
}
run() {
	NO_INTERACTION=1 TEST_PHP_EXECUTABLE=/usr/bin/php8.2 php8.2 -n run-tests.php -q -n --no-color tests |
		sed -nE 's/^(PASS|FAIL|SKIP|XFAIL|BORK|WARN|LEAK) .*\[([^]]*)\].*/unit \2 \1/p' | sort -u
}
