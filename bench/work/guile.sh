#!/bin/sh
# guile.sh prepare SIZE SEED | run BIN - queens, sorting and symbolic derivation in Scheme, without machine
# code made at run time
case $1 in
prepare)
	cat >work.scm <<-END
	(define (queens n)
	  (let place ((row 0) (taken '()))
	    (if (= row n) 1
	        (let loop ((c 0) (sum 0))
	          (if (= c n) sum
	              (loop (+ c 1)
	                    (if (let safe ((t taken) (d 1))
	                          (or (null? t)
	                              (and (not (= (car t) c)) (not (= (abs (- (car t) c)) d))
	                                   (safe (cdr t) (+ d 1)))))
	                        (+ sum (place (+ row 1) (cons c taken)))
	                        sum)))))))
	(define (derive e)
	  (cond ((number? e) 0)
	        ((symbol? e) 1)
	        ((eq? (car e) '+) (list '+ (derive (cadr e)) (derive (caddr e))))
	        (else (list '+ (list '* (cadr e) (derive (caddr e)))
	                    (list '* (derive (cadr e)) (caddr e))))))
	(define seed $3)
	(define (next!) (set! seed (modulo (+ (* seed 16807) 11) 2147483647)) seed)
	(define (random-list n) (if (= n 0) '() (cons (next!) (random-list (- n 1)))))
	(define (size e) (if (pair? e) (+ (size (car e)) (size (cdr e))) 1))
	(do ((i 0 (+ i 1))) ((= i $2))
	  (display (queens 6)) (newline)
	  (display (list-ref (sort (random-list 2000) <) 1000)) (newline)
	  (let loop ((k 0) (e '(* x (+ x 3))))
	    (if (< k 7) (loop (+ k 1) (derive e)) (begin (display (size e)) (newline)))))
	END
	;;
run) GUILE_JIT_THRESHOLD=-1 exec "$2" --no-auto-compile -s work.scm ;;
esac
