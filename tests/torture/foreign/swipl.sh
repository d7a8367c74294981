# swipl.sh - SWI-Prolog: its boot state, a state saved with the program in front of it, threads, constraints, signals
packages=swi-prolog-nox
files() { elves_of swi-prolog-core-packages swi-prolog-nox swi-prolog-core 2>/dev/null; with_libraries "$(program swipl)"; }
run() {
	cat >p.pl <<-'END'
	:- use_module(library(clpfd)). :- use_module(library(dcg/basics)).
	queens(N, Qs) :- length(Qs, N), Qs ins 1..N, safe(Qs), labeling([ff], Qs).
	safe([]). safe([Q|Qs]) :- no(Q, Qs, 1), safe(Qs).
	no(_, [], _). no(Q, [R|Rs], D) :- Q #\= R, abs(Q - R) #\= D, D1 is D + 1, no(Q, Rs, D1).
	nrev([], []). nrev([H|T], R) :- nrev(T, S), append(S, [H], R).
	main :- queens(12, Q), writeln(Q), numlist(1, 400, L), nrev(L, R), R = [X|_], writeln(X),
	  catch(atom_length(_, _), E, (print_message(error, E), E = error(F, _), writeln(F))),
	  findall(T, (between(1, 4, I), thread_create((numlist(1, 300, M), nrev(M, _), thread_exit(I)), T)), Ts), maplist(thread_join, Ts, S), writeln(S),
	  atom_to_term('foo(X, Y, X)', T2, B), print(T2-B), nl, Z is 7 ** 300 mod 1000007, writeln(Z), format("~e ~a ~q~n", [1.5, x, 'A b']),
	  phrase(integer(V), `123`), writeln(V), catch(call_with_depth_limit(deep(1), 100, D), _, D = x), writeln(D), tab(3), writeln(done),
	  catch(call_with_time_limit(0.2, (repeat, fail)), TE, (writeln(TE))), catch(grow(1, _), error(Re, _), (Re =.. [Rn|_], writeln(Rn))), garbage_collect, halt(3).
	deep(N) :- M is N + 1, deep(M).
	grow(N, f(A, A)) :- M is N + 1, grow(M, A), true.
	END
	swipl --stack-limit=32m -g main p.pl 2>&1; echo $?
	swipl -o saved --goal=main -c p.pl 2>&1; ./saved --stack-limit=32m 2>&1; echo $?
	swipl -g 'X = "a", string_concat(X, "b", Y), writeln(Y), sort(0, @>=, [1,3,2], L), print(L), nl' -t 'halt(2)' 2>&1; echo $?
	echo 'member(X, [a,b]). X = f(Y), Y = 1.' | swipl 2>&1 | tail -n 12
}
