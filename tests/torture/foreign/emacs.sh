# emacs.sh - Emacs: its dump, which holds addresses of its code, threads, regular expressions, byte compiler, modules of Lisp
packages="emacs-nox"
files() { with_libraries "$(program emacs-nox)"; }
run() {
	cat >p.el <<-'END'
	(setq lexical-binding t)
	(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
	(princ (format "%d\n" (fib 20))) (byte-compile 'fib) (princ (format "%d\n" (fib 22)))
	(princ (format "%S\n" (condition-case e (car 5) (error e))))
	(princ (format "%S\n" (let ((max-lisp-eval-depth 900)) (condition-case e (letrec ((f (lambda (n) (+ 1 (funcall f n))))) (funcall f 1)) (error (car e))))))
	(princ (format "%S\n" (catch 'x (unwind-protect (mapc (lambda (i) (when (> i 2) (throw 'x i))) '(1 2 3 4)) (princ "cleanup ")))))
	(let* ((n 0) (ts (mapcar (lambda (i) (make-thread (lambda () (dotimes (_ 100) (setq n (+ n i)) (thread-yield))))) '(1 2 3)))) (mapc #'thread-join ts) (princ (format "%d\n" n)))
	(with-temp-buffer (insert-file-contents "/usr/share/perl/5.36/CPAN.pm") (perl-mode) (font-lock-ensure) (goto-char (point-min))
	  (princ (format "%d %d\n" (how-many "\\(?:sub\\|package\\) +\\([[:alnum:]_]+\\)") (buffer-size)))
	  (sort-lines nil (point-min) (point-max)) (indent-region (point-min) (min 3000 (point-max))) (princ (md5 (current-buffer))) (terpri)
	  (replace-regexp-in-region "\\(a+\\)b" "<\\1>" (point-min)) (princ (secure-hash 'sha256 (current-buffer))) (terpri))
	(garbage-collect) (princ (format "%S\n" (seq-take (sort (number-sequence 1 50) (lambda (a b) (< (% (* a 37) 51) (% (* b 37) 51)))) 9)))
	(require 'calc) (princ (calc-eval "factor(x^2-1)")) (princ (calc-eval "evalv(100!)")) (terpri)
	(princ (json-serialize '((a . [1 2.5 :null])))) (require 'json) (princ (json-encode '(1 2))) (princ (format-time-string "%F" 0 t)) (terpri)
	(princ (format "%S\n" (func-arity 'car))) (princ (subr-name (symbol-function 'car))) (princ (format "%S\n" (list (eq (symbol-function 'car) (indirect-function 'car)) (documentation 'car))))
	(princ (string-trim (shell-command-to-string "echo sub; exit 3"))) (terpri)
	(let ((p (make-process :name "c" :command '("cat") :buffer "c" :sentinel #'ignore))) (process-send-string p "x\n") (process-send-eof p) (while (accept-process-output p)) (with-current-buffer "c" (princ (buffer-string))))
	(bookmark-all-names) (kill-emacs 5)
	END
	emacs-nox -Q --batch -l p.el 2>&1; echo $?
	cp /usr/share/emacs/28.2/lisp/subr.el.gz /usr/share/emacs/28.2/lisp/simple.el.gz . 2>/dev/null; gunzip -f ./*.gz 2>/dev/null
	emacs-nox -Q --batch --eval '(setq byte-compile-warnings nil)' -f batch-byte-compile p.el 2>&1; sha256sum p.elc
	emacs-nox -Q --batch --eval '(progn (require (quote ert)) (ert-deftest a () (should (= 1 1))) (ert-deftest b () (should (= 1 2))) (ert-run-tests-batch))' 2>&1 | sed 's/[0-9-]* [0-9:+-]*\|(.*)//g' | grep -a passed
	emacs-nox -Q --batch --eval '(error "out")' 2>&1; echo $?
	echo 'int main(){if(1){return 2;}}' >c.c; emacs-nox -Q --batch c.c --eval '(progn (c-mode) (indent-region (point-min) (point-max)) (princ (buffer-string)))' 2>&1
	script -qc 'TERM=xterm timeout 20 emacs-nox -Q --eval "(run-at-time 1 nil (function kill-emacs) 4)"' /dev/null >/dev/null </dev/null; echo $?
}
