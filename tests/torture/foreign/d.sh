# d.sh - programs by gdc and ldc: exceptions with their chain, fibers, threads, the collector, null pointers, its own trace
packages="gdc-12 ldc"
build() {
	cat >moved.d <<-'END'
	import std.stdio, std.algorithm, std.range, std.conv, std.array, core.thread, std.exception, core.memory, std.parallelism;
	class Mine : Exception { int n; this(int n, string m) { super(m); this.n = n; } }
	int deep(int n) { scope (exit) total += n; scope (failure) failures++;
		if (n == 0) throw new Mine(7, "deep"); return deep(n - 1) + 1; }
	int total, failures;
	struct Guard { int n; ~this() { writeln("gone ", n); } }
	shared static this() { writeln("module begins"); }
	shared static ~this() { writeln("module ends"); }
	void main(string[] args) {
		try { auto g = Guard(1); deep(20); } catch (Mine e) { writeln(e.msg, e.n, " ", total, " ", failures); }
		try { try { deep(3); } finally { throw new Exception("second"); } }
		catch (Exception e) { for (Throwable t = e; t; t = t.next) writeln(t.msg); }
		auto fibers = iota(50).map!(i => new Fiber({ foreach (k; 0 .. 5) { total += i * k; try deep(i % 4); catch (Mine) {} Fiber.yield(); } })).array;
		foreach (r; 0 .. 6) foreach (f; fibers) if (f.state != Fiber.State.TERM) f.call();
		writeln(total, " ", failures);
		auto bad = new Fiber({ deep(2); }); try bad.call(); catch (Mine e) writeln("out of a fiber ", e.n);
		int[string] words; foreach (i; 0 .. 20000) words[to!string(i * 7919 % 5003)] += i;
		GC.collect(); writeln(words.length, " ", words.byValue.map!(a => cast(long) a).sum);
		writeln(taskPool.reduce!"a + b"(iota(1000000L)));
		auto t = new Thread({ throw new Mine(3, "thread"); }); t.start(); try t.join(); catch (Exception e) writeln("joined ", e.msg);
		try { int[] a = [1, 2, 3]; writeln(a[args.length + 5]); } catch (Error e) writeln(typeid(e).name);
		writeln([3, 1, 2].sort!((a, b) => a < b).map!(a => a * a).filter!(a => a > 1).to!string);
		deep(2);
	}
	END
	gdc-12 -O2 moved.d -o gdc && gdc-12 -g -O0 moved.d -o gdc_0 && ldc2 -O2 moved.d -of=ldc && ldc2 -g moved.d -of=ldc_0
}
files() {
	built d build || return
	with_libraries "$SOURCES"/foreign/d/{gdc,gdc_0,ldc,ldc_0} "$(program ldc2)" "$(gcc-12 -print-prog-name=d21)" | grep -v libLLVM
}
run() {
	local p
	for p in gdc gdc_0 ldc ldc_0; do
		"$SOURCES/foreign/d/$p" 2>err; echo "$p $?"; grep -a Mine err
	done
	cp "$SOURCES/foreign/d/moved.d" . && gdc-12 -O1 -S moved.d -o moved.s && sha256sum moved.s
	ldc2 -O3 -output-ll moved.d && sha256sum moved.ll
}
