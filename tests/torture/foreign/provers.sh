# provers.sh - z3, cvc5, clasp, gringo, minisat's kin: exceptions, time limits, answers that are always the same
packages="z3 cvc5 clasp gringo"
files() { with_libraries "$(program z3)" "$(program cvc5)" "$(program clasp)" "$(program gringo)"; }
run() {
	cat >p.smt2 <<-'END'
	(set-logic ALL)(declare-const x Int)(declare-const y Int)(declare-fun f (Int) Int)(declare-const b (_ BitVec 32))(declare-const s String)
	(push)(assert (and (> x 2) (< (* 3 x) (+ y 11)) (= (f x) (f y)) (not (= x y))))(check-sat)(pop)
	(push)(assert (= (bvmul b b) #x00000009))(assert (bvugt b #x00000005))(check-sat)(pop)
	(push)(assert (forall ((z Int)) (=> (> z 0) (> (f z) z))))(assert (< (f 5) 3))(check-sat)(pop)
	(push)(assert (= (str.len s) 4))(assert (str.prefixof "ab" s))(check-sat)(pop)(assert (exists ((z Int)) (= (* z z) 17)))(check-sat)
	END
	z3 p.smt2 2>&1; z3 -T:2 p.smt2 2>&1 | head -n 2; cvc5 --incremental p.smt2 2>&1; echo '(assert' | z3 -in 2>&1; echo '(assert x)' | cvc5 --lang=smt2 2>&1; echo $?
	cat >q.lp <<-'END'
	#const n = 9. { q(I, 1..n) } = 1 :- I = 1..n. { q(1..n, J) } = 1 :- J = 1..n.
	:- q(I, J), q(K, L), I < K, I - J == K - L. :- q(I, J), q(K, L), I < K, I + J == K + L.
	END
	gringo q.lp | tee ground | sha256sum; clasp 0 -q ground | grep -e Models -e SAT; clasp -t 2 1 ground | grep -c Answer; echo 'a :- b, .' | gringo 2>&1; echo $?
	awk 'BEGIN { h = 8; print "p cnf " h * (h + 1), h + 1 + h * h * (h + 1) / 2; for (i = 0; i <= h; i++) { for (j = 1; j <= h; j++) printf "%d ", i * h + j; print 0 }
		for (j = 1; j <= h; j++) for (i = 0; i <= h; i++) for (k = i + 1; k <= h; k++) print -(i * h + j), -(k * h + j), 0 }' >hole.cnf; clasp hole.cnf | grep -a ^s; z3 -dimacs hole.cnf
}
