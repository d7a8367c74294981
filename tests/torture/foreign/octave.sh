# octave.sh - Octave over OpenBLAS: exceptions in C++, evaluator, files of functions that it loads
packages="octave libopenblas0-pthread"
files() { elves_of octave liboctave9 2>/dev/null || elves_of octave; with_libraries "$(program octave-cli)"; elves_of libopenblas0-pthread; }
run() {
	cat >p.m <<-'END'
	function r = fib (n) if n < 2, r = n; else r = fib (n - 1) + fib (n - 2); end, end
	function r = deep (n) r = deep (n + 1); end
	disp (fib (14)); try, deep (1); catch e, disp (e.identifier), end, try, error ("a:b", "x%d", 5); catch e, disp (e.message), end
	rand ("seed", 7); A = reshape (mod ((1:2500) * 7919, 101), 50, 50) / 50; printf ("%.8g\n", norm (A), det (A(1:9,1:9)), max (abs (eig (A))), cond (A)); [q, r] = qr (A); printf ("%.6g\n", norm (q * r - A) < 1e-9);
	printf ("%.8g\n", fsolve (@(x) x^3 - x - 1, 1), quad (@(x) exp (-x^2), 0, 1), fminsearch (@(x) (x(1) - 1)^2 + x(2)^2, [0, 0])(1)); [t, y] = ode45 (@(t, y) -y, [0, 1], 1); printf ("%.5f\n", y(end));
	disp (regexprep ("a12b3", '\d+', '<$0>')); s = struct ("a", {1, 2}); c = cellfun (@(x) x * 2, {1, 2}, "UniformOutput", false); disp (c); disp (sprintf ("%s", jsonencode (s))); S = sparse (1:50, 1:50, 2) - sparse (2:50, 1:49, 1, 50, 50); printf ("%.8g\n", sum (S \ ones (50, 1)), sum (abs (fft (1:64))), interp1 (1:3, [2 4 8], 2.5, "spline")); disp (containers.Map ({"k"}, {3}).values ()); test_ok = test ("polyfit", "quiet"); disp (test_ok); disp (test ("cellfun", "quiet")); disp (test ("strsplit", "quiet")); exit (3);
	END
	octave-cli --norc --no-history p.m 2>&1; echo $?
	octave-cli --norc --eval 'x = [1, 2' 2>&1; echo $?
	OPENBLAS_CORETYPE=Haswell octave-cli --norc --eval 'printf ("%.8g\n", norm (reshape (mod (1:10000, 97), 100, 100)))'
}
