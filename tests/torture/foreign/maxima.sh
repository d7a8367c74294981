# maxima.sh - Maxima, and ACL2: programs that GCL wrote out of its own memory
packages="maxima acl2 gcl"
files() { elves_of maxima acl2 gcl; libraries_of $(elves_of gcl maxima); }
run() {
	maxima --very-quiet --batch-string='integrate(1/(1+x^3),x); factor(x^12-1); solve(x^3-x-1,x); diff(sin(x)^x,x); float(sum(1/k^2,k,1,200)); errcatch(1/0); bfloat(%pi), fpprec:60; taylor(exp(sin(x)),x,0,8); determinant(genmatrix(lambda([i,j],1/(i+j)),8,8)); ode2('"'"'diff(y,x)=y+x,y,x); error("last");' 2>&1
	echo '(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (compile (quote fib)) (print (fib 20)) (print (expt 7 100)) (print (catch (quote x) (throw (quote x) 5))) (by)' | gcl -batch 2>&1 | tail -n 20
	printf '(defthm a (equal (append (append x y) z) (append x (append y z))))\n(thm (equal x y))\n(+ 1 2)\n' | acl2 2>&1 | grep -v -e seconds -e Time -e ersion | tail -n 30
}
