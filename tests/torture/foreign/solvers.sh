# solvers.sh - glpsol, cbc, minizinc, singular, octave's kin: programs of numbers
packages="glpk-utils coinor-cbc singular-ui-emacs"
packages="glpk-utils coinor-cbc"
files() { with_libraries "$(program glpsol)" "$(program cbc)"; }
run() {
	cat >p.mod <<-'END'
	set I := 1..14; param c{i in I} := (i * 37) mod 23 + 1; param w{i in I} := (i * 17) mod 19 + 1; var x{I} binary; var y{I} >= 0, <= 5;
	maximize z: sum{i in I} (c[i] * x[i] + y[i]); s.t. a: sum{i in I} w[i] * x[i] <= 60; s.t. b{i in I}: y[i] + x[i] <= 4 + i mod 3; s.t. d: sum{i in I} y[i] <= 31; solve; display x; printf "%g\n", z; end;
	END
	glpsol -m p.mod --wfreemps p.mps -o sol 2>&1 | grep -v -e Memory -e Time; cat sol; glpsol --freemps p.mps --max --interior --nomip -o sol2 2>&1 | tail -n 3 | head -n 1
	cbc p.mps -max -solve -solu cs 2>&1 | grep -a -e Objective -e Result; sort cs; echo 'x >' >bad.lp; glpsol --lp bad.lp 2>&1 | tail -n 2; echo $?
}
