# racket.sh - Racket CS, which has its boot files in a section of its own file; a program made of it; places, futures, FFI
packages=racket
files() { elves_of racket; with_libraries "$(program racket)"; }
run() {
	cat >p.rkt <<-'END'
	#lang racket
	(require ffi/unsafe racket/future)
	(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(displayln (fib 25)) (displayln (map touch (for/list ([i 4]) (future (lambda () (fib (+ 15 i)))))))
	(displayln (with-handlers ([exn:fail? exn-message]) (car 5)))
	(define qsort (get-ffi-obj "qsort" #f (_fun _pointer _long _long (_fun _pointer _pointer -> _int) -> _void))) (define v (list->cblock '(3 1 2) _int))
	(qsort v 3 4 (lambda (a b) (- (ptr-ref a _int) (ptr-ref b _int)))) (displayln (cblock->list v _int 3))
	(define c (make-channel)) (for ([i 5]) (thread (lambda () (channel-put c (* i i))))) (displayln (sort (for/list ([i 5]) (channel-get c)) <))
	(displayln (regexp-match* #px"\\d+" "a12b345")) (displayln (expt 7 300)) (displayln (let/cc k (dynamic-wind (lambda () (display "in ")) (lambda () (k 5)) (lambda () (display "out ")))))
	(collect-garbage) (displayln (sequence-fold + 0 (in-generator (for ([i 10]) (yield i))))) (error 'last "x")
	END
	sed -i 's|ffi/unsafe|ffi/unsafe racket/generator|' p.rkt
	racket p.rkt 2>&1 | grep -v -e '^ ' ; echo "${PIPESTATUS[0]}"
	raco make p.rkt 2>&1; raco exe -o made p.rkt 2>&1; ./made 2>&1 | grep -v '^ '; echo "${PIPESTATUS[0]}"
	racket -e '(displayln (version))' -e '(parameterize ([current-namespace (make-base-namespace)]) (displayln (eval (quote (let loop ([i 0]) (if (< i 10) (loop (+ i 1)) i))))))' 2>&1
}
