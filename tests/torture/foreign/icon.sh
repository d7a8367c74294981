# icon.sh - Icon: co-expressions that switch stacks by assembler, programs made of the interpreter itself
packages="icont iconx"
files() { for p in icont iconx; do program $p; done; with_libraries "$(program iconx)"; }
run() {
	cat >p.icn <<-'END'
	procedure main()
	  every write(primes(60))
	  a := create (1 to 5); b := create |(3 | 7)
	  while write(@a, " ", @b, " ", *b)
	  c := create tree(8); n := 0; while n +:= @c; write(n)
	  "x12y345" ? while tab(upto(&digits)) do write(tab(many(&digits)))
	  t := table(0); every i := 1 to 20000 do t[i * 7919 % 5003] +:= i; write(*t, " ", sort(t, 2)[1][1])
	  write(7 ^ 300 % 1000007, " ", 2 ^ 0.5, " ", image([1, "a", 'b']));  collect()
	  &error := 1; write(&fail | "e" || &null); write(1 + "x" | &errornumber); &error := 0
	  deep(1)
	end
	procedure primes(n)
	  every i := 2 to n do { if not (i % (2 to i - 1) = 0) then suspend i }
	end
	procedure tree(n)
	  if n > 0 then { suspend tree(n - 1); suspend n; suspend |tree(n - 1) \ 3 }
	end
	procedure deep(n)
	  if n > 500 then return 1 + "x"
	  return deep(n + 1) + 1
	end
	END
	icont -s p.icn 2>&1; ./p 2>&1 | head -n 60; echo "${PIPESTATUS[0]}"; sha256sum p
	icont -s -x p.icn 2>&1 | tail -n 5
}
