# jsc.sh - WebKit's JavaScript engine: an interpreter in assembler whose labels are offsets, three compilers, WebAssembly
packages=libjavascriptcoregtk-4.0-bin
files() { elves_of libjavascriptcoregtk-4.0-bin libjavascriptcoregtk-4.0-18; }
run() {
	local j o
	j=$(dpkg -L libjavascriptcoregtk-4.0-bin | grep -m 1 -E '/jsc$')
	cat >p.js <<-'END'
	function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } print(fib(25));
	function* gen(n) { try { for (let i = 0; i < n; i++) yield i * i; } finally { print("fin"); } } print([...gen(5)]); for (const x of gen(9)) { if (x > 9) break; }
	function deep(n) { return deep(n + 1) + 1; } try { deep(1); } catch (e) { print(e instanceof RangeError); }
	try { null.x; } catch (e) { print(e.message, e.stack.split("\n").length > 0); } let m = new Map(); for (let i = 0; i < 100000; i++) m.set("" + i * 7919 % 5003, i); print(m.size);
	let s = 0; for (let i = 0; i < 5e6; i++) s = (s * 31 + i) | 0; print(s); print("a12b345".replace(/\d+/g, x => `<${x}>`), [3, 1, 2].sort((a, b) => a - b), 7n ** 100n, Math.sin(1e6), JSON.stringify({ a: [1, { b: null }] }));
	class A { #x = 5; get x() { return this.#x; } static s = 3; } class B extends A { constructor() { super(); this.y = super.x * 2; } } print(new B().y, A.s); (async () => { try { await Promise.reject(new Error("rej")); } catch (e) { print(e.message); } })(); drainMicrotasks();
	switch (fib(7)) { case 1: case 2: print("no"); break; case 13: print("13"); default: print("through"); } label: for (let i = 0; i < 5; i++) for (let j = 0; j < 5; j++) { if (i * j == 6) { print(i, j); break label; } } print(new Proxy({}, { get: (t, k) => k + "!" }).abc, typeof Symbol.iterator, [..."añ😀"].length, new Float32Array([1.1, 2.2]).map(x => x * 2)); with ({ q: 5 }) print(q); print(eval("1 + 2"), new Function("a", "return a * 2")(4)); try { (function f() { "use strict"; undefinedvar = 1; })(); } catch (e) { print(e.name); } throw new Error("last");
	END
	for o in '' --useJIT=0 --useLLInt=0 --useDFGJIT=0 --useFTLJIT=0 --useConcurrentJIT=0 --useConcurrentGC=0; do "$j" $o p.js 2>&1; echo "$o $?"; done
}
