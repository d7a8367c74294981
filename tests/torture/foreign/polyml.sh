# polyml.sh - Poly/ML, and an object file of its heap linked as a program
packages="polyml libpolyml-dev"
build() {
	cat >moved.sml <<-'END'
	fun fib n = if n < 2 then n else fib (n - 1) + fib (n - 2);
	exception Mine of int; fun deep 0 = raise Mine 7 | deep n = deep (n - 1) + 1; fun endless n = endless (n + 1) + 1;
	fun main () = (print (Int.toString (fib 28) ^ "\n");
	  (deep 50; ()) handle Mine n => print (Int.toString n ^ "\n");
	  (print (Int.toString (5 div (fib 1 - 1)))) handle Div => print "div\n"; (hd []; ()) handle Empty => print "empty\n";
	  print (IntInf.toString (IntInf.pow (7, 100)) ^ "\n"); PolyML.fullGC (); print (Real.toString (Math.sqrt 2.0) ^ "\n");
	  print (Int.toString (foldl op+ 0 (List.tabulate (100000, fn i => i * 7919 mod 5003))) ^ "\n");
	  let val m = Thread.Mutex.mutex () val r = ref 0 val ts = List.tabulate (4, fn i => Thread.Thread.fork (fn () => (fib 20; Thread.Mutex.lock m; r := !r + i; Thread.Mutex.unlock m), []))
	    fun wait () = if List.exists Thread.Thread.isActive ts then (OS.Process.sleep (Time.fromMilliseconds 10); wait ()) else () in wait (); print (Int.toString (!r) ^ "\n") end;
	  ignore (deep 3); ());
	END
	polyc moved.sml -o moved
}
files() { built polyml build || return; with_libraries "$SOURCES/foreign/polyml/moved" "$(program poly)"; }
run() {
	"$SOURCES/foreign/polyml/moved" 2>&1; echo $?
	poly -q <"$SOURCES/foreign/polyml/moved.sml" 2>&1; echo $?
}
