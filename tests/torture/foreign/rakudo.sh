# rakudo.sh - Rakudo over MoarVM with its JIT, Chez Scheme, Gambit: boot files, labels, code made at run time
packages="chezscheme gambc rakudo moarvm"
build() { echo '(define (fib n) (if (< n 2) 1 (+ (fib (- n 1)) (fib (- n 2))))) (write (fib 22)) (newline) (define k #f) (define n 0) (write (+ 1 (call/cc (lambda (c) (set! k c) 1)))) (newline) (set! n (+ n 1)) (if (< n 5) (k n)) (write (with-exception-catcher (lambda (e) 7) (lambda () (car 5)))) (newline) (let loop ((i 0) (l (list))) (if (< i 200000) (loop (+ i 1) (if (= 0 (modulo i 5000)) (list) (cons (number->string i) l))) (write (length l)))) (write (expt 3 200)) (thread-join! (thread-start! (make-thread (lambda () (write 99))))) (exit 3)' >g.scm && gsc -exe -o g g.scm; }
files() { built rakudo build; with_libraries "$(program chezscheme)" "$(program gsi)" "$(program gsc)" "$(program rakudo)" "$(program moar)" $([ -e "$SOURCES/foreign/rakudo/g" ] && echo "$SOURCES/foreign/rakudo/g"); }
run() {
	echo '(define (fib n) (if (< n 2) 1 (+ (fib (- n 1)) (fib (- n 2))))) (fib 25) (let ([k #f] [n 0]) (display (+ 1 (call/cc (lambda (c) (set! k c) 1)))) (set! n (+ n 1)) (if (< n 5) (k n))) (guard (e [#t (condition-message e)]) (car 5)) (collect 4 4) (vector-length (make-vector 100000 1)) (expt 3 200) (string-length (with-output-to-string (lambda () (write (iota 5000))))) (compile (quote (lambda (x) (* x 3)))) ((foreign-procedure "(cs)s_fltofx" (double) int) 3.0) (error (quote x) "last")' >c.ss
	chezscheme -q <c.ss 2>&1; echo $?; chezscheme --optimize-level 3 -q <c.ss 2>&1 | sha256sum
	[ -e "$SOURCES/foreign/rakudo/g" ] && { "$SOURCES/foreign/rakudo/g" 2>&1; echo $?; "$SOURCES/foreign/rakudo/g" -:m1000,t4 2>&1; }
	gsi -e '(pp (let loop ((i 0) (s 0)) (if (< i 300000) (loop (+ i 1) (modulo (+ (* s 31) i) 1000003)) s))) (pp (with-exception-catcher (lambda (e) (error-exception? e)) (lambda () (error "x")))) (car 1)' 2>&1
	cat >p.raku <<-'X'
	sub fib($n) { $n < 2 ?? 1 !! fib($n - 1) + fib($n - 2) }; say fib(17); my %h; %h{$_ * 7919 % 503} += $_ for ^5000; say %h.values.sum; try { die "x" }; say $!.message; say (1..*).grep(*.is-prime)[100]; my @p = (^4).map({ start { ($_ .. 20000).sum } }); say await(@p).sum;
	say "abc123" ~~ / (\w+?) (\d+) /; my $s = 0; for ^300000 { $s = ($s * 31 + $_) % 1000003 }; say $s; grammar G { token TOP { <n>+ % ',' }; token n { \d+ } }; say G.parse("1,2,3")<n>.elems; sub deep($n) { $n ?? 1 + deep($n - 1) !! 0 }; say deep(5000); die "last";
	X
	rakudo p.raku 2>&1; echo $?; MVM_JIT_DISABLE=1 rakudo p.raku 2>&1 | sha256sum; MVM_SPESH_BLOCKING=1 MVM_SPESH_NODELAY=1 rakudo -e 'my $s = 0; for ^20000 { $s = ($s * 31 + $_) % 10007 }; say $s' 2>&1
}
