# scheme.sh - MIT Scheme: native code of its own over a runtime in C, its band with addresses of primitives, saved bands
packages=mit-scheme
files() { with_libraries "$(program mit-scheme-x86-64 mit-scheme | head -n 1)"; }
run() {
	cat >p.scm <<-'END'
	(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(define (show x) (write x) (newline))
	(show (fib 22)) (show (call/cc (lambda (k) (dynamic-wind (lambda () (show 'in)) (lambda () (k 5)) (lambda () (show 'out))))))
	(show (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (condition/report-string e))) (lambda () (car 5))))))
	(show (call/cc (lambda (k) (with-exception-handler (lambda (e) (k 'zero)) (lambda () (/ 5 0))))))
	(show (exact (floor (sqrt (expt 7 100))))) (show (sort '(3 1 2) <)) (gc-flip) (show (string->number "1e-3")) (show (reduce + 0 (iota 10000)))
	(show (let loop ((i 0) (l '())) (if (< i 1000000) (loop (+ i 1) (cons i '())) (length l))))
	(disk-save "band") (show 'saved) (exit 7)
	END
	mit-scheme --quiet <p.scm 2>&1; echo $?
	mit-scheme --quiet --band band --eval '(begin (show (fib 15)) (exit 3))' </dev/null 2>&1; echo $?
	echo '(define (f x) (* x x))' >f.scm; echo '(begin (sf "f") (compile-file "f") (load "f.com") (display (f 5)) (exit 2))' | mit-scheme --quiet 2>&1 | grep -v -i -e ';' ; echo "${PIPESTATUS[1]}"
}
