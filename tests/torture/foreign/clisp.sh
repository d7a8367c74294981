# clisp.sh - CLISP: an image with addresses of its code, one that is saved with the program in front of it
packages=clisp
files() { elves_of clisp; }
run() {
	cat >p.lisp <<-'END'
	(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (compile 'fib)
	(print (fib 20))
	(print (handler-case (car 5) (type-error (e) (type-error-datum e))))
	(print (catch 'x (mapc (lambda (i) (when (> i 2) (throw 'x i))) '(1 2 3 4))))
	(dotimes (i 5) (gc) (make-array 100000)) (print (expt 7 300)) (format t "~r ~e ~b~%" 12345 1.5d0 77)
	(print (sort (list 3 1 2) #'<)) (print (read-from-string "(a . #(1 2))"))
	(ext:saveinitmem "saved" :executable t :quiet t :norc t :init-function (lambda () (print (fib 12)) (ext:exit 7)))
	END
	clisp -q -norc p.lisp 2>&1 | grep -av -e '^;' -e Bytes
	./saved 2>&1; echo $?
	clisp -q -norc -x '(print (macroexpand (quote (loop for i below 3 collect i))))' 2>&1 | sed 's/#:G[0-9]*//g; s/[A-Z]*-[0-9]\{4,\}//g'
	clisp -q -norc -c p.lisp -o p.fas >/dev/null 2>&1; sha256sum p.lib
}
