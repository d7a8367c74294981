# math.sh - GAP, PARI, primesieve, GMP-ECM over GMP's assembler: factors, groups, number fields
packages="gap-core pari-gp primesieve gmp-ecm"
files() { with_libraries "$(program gap)" "$(program gp)" "$(program primesieve)" "$(program ecm)"; }
run() {
	gap -q -A --quitonbreak <<-'END' 2>&1
	Print(Size(MathieuGroup(24)), "\n"); if true then Print(Factors(2^101-1), "\n"); fi; S := SymmetricGroup(8);; Print(Length(ConjugacyClasses(S)), "\n");
	g := Group((1,2,3,4,5),(1,2));; Print(StructureDescription(Centre(g)), Order(g), "\n"); m := List([1..30], i -> List([1..30], j -> (i*j) mod 7 + 1/(i+j)));; Print(RankMat(m), "\n"); GASMAN("collect");
	Print(CALL_WITH_CATCH(function() return 1/0; end, [])[1], "\n"); Error("last");
	END
	echo $?
	gp -q -f <<-'END' 2>&1
	factor(2^128+1); print(%); print(nfinit(x^3-2).disc); print(bnfinit(x^2+23).no); \p 200
	print(zeta(3)); print(ellrank(ellinit([0,0,1,-7,6]))); print(matdet(matrix(40,40,i,j,1/(i+j)))); iferr(1/0, E, print(errname(E))); print(polroots(x^7-x-1)[1]); trap_deep(n)=trap_deep(n+1)+1; iferr(trap_deep(1), E, print(errname(E))); print(sum(k=1,10^6,k^2%7)); print(isprime(10^50+151)); print(qfbclassno(-10^9-3)); error("last")
	END
	echo $?
	primesieve 1000000000 -q -t 2; primesieve 1e12 -d 1e7 -c1 -c2 -q; primesieve -p3 10000 | tail -n 2
	echo '2^137-1' | ecm -q -sigma 7 -one 11000; echo '(10^61-1)/9' | ecm -q -pm1 100000; echo $?
}
