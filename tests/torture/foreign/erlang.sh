# erlang.sh - BEAM with its JIT: processes, exceptions with stacks, compiler, ports, ETS, regular expressions, crypto
packages="erlang-base erlang-crypto"
files() { elves_of erlang-base erlang-crypto; with_libraries "$(ls /usr/lib/erlang/erts-*/bin/beam.smp)"; }
run() {
	cat >p.erl <<-'END'
	-module(p). -export([main/0]).
	fib(N) when N < 2 -> N; fib(N) -> fib(N - 1) + fib(N - 2).
	main() ->
	  io:format("~p~n", [fib(27)]), S = self(),
	  [spawn_link(fun() -> S ! {I, fib(I)} end) || I <- lists:seq(1, 22)],
	  io:format("~p~n", [lists:sum([receive {I, X} -> X end || I <- lists:seq(1, 22)])]),
	  io:format("~p~n", [try hd([]) catch C:E:T -> {C, E, [element(2, F) || F <- T]} end]),
	  T = ets:new(t, [ordered_set]), [ets:insert(T, {I * 7919 rem 5003, I}) || I <- lists:seq(1, 20000)],
	  io:format("~p ~p~n", [ets:info(T, size), ets:select(T, [{{'$1', '$2'}, [{'<', '$1', 5}], ['$2']}])]),
	  io:format("~p~n", [re:run("a12b345", "\\d+", [global, {capture, all, list}])]),
	  io:format("~s~n", [binary:encode_hex(crypto:hash(sha256, "x"))]),
	  io:format("~p~n", [os:cmd("echo sub; exit 3")]), {_, R} = spawn_monitor(fun() -> exit(bad) end),
	  receive {'DOWN', R, _, _, W} -> io:format("~p~n", [W]) end,
	  io:format("~p~n", [binary_to_term(term_to_binary({1.5, <<1:3>>, #{a => [b]}}))]), erlang:garbage_collect(),
	  io:format("~p ~p~n", [math:pow(2, 0.5), 1 bsl 300 rem 1000007]), halt(3).
	END
	erlc p.erl 2>&1; erl -noshell -s p main 2>&1; echo $?
	erlc +to_asm p.erl && sha256sum p.S
	erl -noshell -eval 'io:format("~p~n", [erlang:system_info(emu_flavor)]), halt().' 2>&1
	printf '#!/usr/bin/env escript\nmain(A) -> io:format("~p~n", [A]), X = 1 / length(A), X.\n' >e; chmod +x e; escript e a b; escript e 2>&1; echo $?
}
