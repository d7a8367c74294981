# sbcl.sh - SBCL: its core, conditions by signals, an image saved with the program in front of it
packages=sbcl
files() { with_libraries "$(program sbcl)"; }
run() {
	cat >p.lisp <<-'END'
	(defun fib (n) (declare (optimize speed)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(print (fib 28))
	(print (handler-case (car (the t 5)) (type-error (e) (type-error-datum e))))
	(print (handler-case (/ 1 (- (fib 2) 1)) (division-by-zero () :zero)))
	(defun deep (n) (+ 1 (deep (+ n 1))))
	(print (handler-case (deep 1) (storage-condition () :deep)))
	(print (handler-case (sb-sys:sap-ref-8 (sb-sys:int-sap 8) 0) (sb-sys:memory-fault-error () :fault)))
	(dotimes (i 5) (gc :full t) (make-array 1000000))
	(print (reduce #'+ (mapcar #'sb-thread:join-thread (loop for i below 4 collect (let ((i i)) (sb-thread:make-thread (lambda () (fib (+ 15 i)))))))))
	(print (sb-ext:with-timeout 5 (length (format nil "~r" (expt 3 50)))))
	(print (sb-alien:alien-funcall (sb-alien:extern-alien "qsort" (function sb-alien:void sb-sys:system-area-pointer sb-alien:long sb-alien:long sb-sys:system-area-pointer)) (sb-sys:int-sap 0) 0 0 (sb-sys:int-sap 0)))
	(sb-ext:save-lisp-and-die "saved" :executable t :toplevel (lambda () (print (fib 20)) (print (handler-case (sb-sys:sap-ref-8 (sb-sys:int-sap 8) 0) (error () :again))) (gc :full t) (sb-ext:exit :code 7)))
	END
	sbcl --noinform --non-interactive --load p.lisp 2>&1 | grep -av '^\['
	./saved; echo $?
	sbcl --noinform --non-interactive --eval '(require :sb-posix)' --eval '(print (sb-posix:getenv "LC_ALL"))' --eval '(compile nil (quote (lambda (x) (* x 2))))' --eval '(error "x")' 2>&1 | head -n 3
}
