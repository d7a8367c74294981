# chicken.sh - CHICKEN, whose stack is its nursery: interpreter, compiler, a program by it
packages=chicken-bin
build() {
	cat >moved.scm <<-'END'
	(import (chicken condition) (chicken sort) (chicken format) (chicken gc) srfi-4)
	(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(define k #f) (define n 0)
	(print (fib 25))
	(print (+ 1 (call/cc (lambda (c) (set! k c) 1))))
	(set! n (+ n 1))
	(when (< n 5) (k n))
	(define (gen lst) (define return #f)
	  (define (g) (call/cc (lambda (r) (set! return r) (for-each (lambda (x) (call/cc (lambda (next) (set! g (lambda () (next #f))) (return x)))) lst) (return 'end))))
	  (lambda () (call/cc (lambda (r) (set! return r) (g)))))
	(define g (gen '(1 2 3))) (print (g) (g))
	(print (handle-exceptions e (condition-property-accessor e 'exn 'message) (car (vector 1))))
	(dynamic-wind (lambda () (print 'in)) (lambda () (handle-exceptions e (print 'caught) (error "x"))) (lambda () (print 'out)))
	(let loop ((i 0) (l '())) (if (< i 300000) (loop (+ i 1) (cons (* i 1.5) l)) (print (apply + (list-tail l 299990)))))
	(print (sort '(3 1 2) <) (expt 7 300) (exact->inexact (/ 1 3)))
	(gc #t)
	(car 5)
	END
	csc -O3 moved.scm -o moved && csc -O0 -d2 moved.scm -o moved_0
}
files() { built chicken build || return; with_libraries "$SOURCES"/foreign/chicken/moved{,_0} "$(program csi)" "$(program chicken)"; elves_of libchicken11 chicken-bin; }
run() {
	local p
	for p in moved moved_0; do "$SOURCES/foreign/chicken/$p" 2>&1; echo "$p $?"; done
	csi -s "$SOURCES/foreign/chicken/moved.scm" 2>&1; echo $?
	chicken "$SOURCES/foreign/chicken/moved.scm" -optimize-level 2 -output-file m.c && sha256sum m.c
}
