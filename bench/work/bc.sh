#!/bin/sh
# bc.sh prepare DIGITS SEED | run BIN - pi, roots, primes, factorials, functions, to many digits
case $1 in
prepare)
	cat >work.bc <<-END
	scale = $2
	4 * a(1)
	e($3 / 10)
	sqrt($3 * 12345)
	s($3)
	define f(n) { if (n < 2) return (1); return (n * f(n - 1)); }
	define g(a, b) { auto t; while (b != 0) { t = a % b; a = b; b = t; }; return (a); }
	scale = 0
	f($2 / 3)
	f($2 / 4) / f($2 / 5) % (10 ^ 50)
	for (i = 1; i < $2 * 4; i++) { x = g(i * 7919 + $3, i * 104729 + 17); if (x > 50) y = y + x; z[i % 100] = z[i % 100] + x }
	y
	for (i = 2; i < $2; i++) { p = 1; for (j = 2; j * j <= i; j++) { if (i % j == 0) { p = 0; break } }; if (p) n = n + 1 }
	n
	obase = 16
	2 ^ ($2 * 3) / 3 ^ $2
	END
	;;
run) BC_LINE_LENGTH=0 exec "$2" -l -q work.bc </dev/null ;;
esac
