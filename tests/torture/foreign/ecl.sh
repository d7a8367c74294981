# ecl.sh - ECL: interpreter, compiler by way of C, what it made is loaded
packages="ecl libffi-dev"
files() { with_libraries "$(program ecl)"; elves_of libecl21.2; }
run() {
	cat >p.lisp <<-'END'
	(defun fib (n) (declare (fixnum n) (optimize speed)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(print (fib 22))
	(print (handler-case (car 5) (type-error (e) (type-error-datum e))))
	(defun deep (n) (+ 1 (deep (+ n 1))))
	(print (handler-case (deep 1) (ext:stack-overflow () :deep)))
	(print (handler-case (/ 1 0) (division-by-zero () :zero)))
	(print (block a (unwind-protect (funcall (lambda () (return-from a 1))) (print :cleanup))))
	(print (catch 'x (mapc (lambda (i) (when (> i 2) (throw 'x i))) '(1 2 3 4))))
	(defclass a () ((x :initarg :x))) (defmethod f ((a a)) (slot-value a 'x)) (print (f (make-instance 'a :x 5)))
	(ext:gc t) (print (expt 7 300)) (format t "~r ~e ~b" 12345 1.5d0 77)
	END
	ecl --norc --shell p.lisp 2>&1; echo $?
	ecl --norc --eval '(compile-file "p.lisp")' --eval '(load "p.fas")' --eval '(ext:quit 3)' 2>&1 | grep -v -e '^;' ; echo "${PIPESTATUS[0]}"
}
