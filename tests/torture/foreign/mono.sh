# mono.sh - Mono: null pointers by signals, stack overflow, exceptions with stacks, its AOT compiler
packages="mono-mcs mono-runtime libmono-system-core4.0-cil"
files() { elves_of mono-runtime-sgen; with_libraries "$(program mono-sgen)"; elves_of libmono-native0 2>/dev/null; }
packages="mono-mcs mono-runtime"
run() {
	cat >p.cs <<-'END'
	using System; using System.Collections.Generic; using System.Threading; using System.Runtime.InteropServices;
	class P {
	  int f; static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); } static int Deep(int n) { return Deep(n + 1) + 1; }
	  delegate int Compare(IntPtr a, IntPtr b); [DllImport("libc")] static extern void qsort(int[] a, IntPtr n, IntPtr s, Compare c);
	  static int Main() {
	    Console.WriteLine(Fib(30)); int nulls = 0;
	    for (int i = 0; i < 3000; i++) try { P p = i % 3 == 0 ? null : new P(); nulls += p.f; } catch (NullReferenceException) { nulls++; } Console.WriteLine(nulls);
	    try { Console.WriteLine(5 / (nulls - nulls)); } catch (DivideByZeroException e) { Console.WriteLine(e.StackTrace.Contains("Main")); }
	    var a = new int[50]; for (int i = 0; i < 50; i++) a[i] = i * 37 % 53; qsort(a, (IntPtr) 50, (IntPtr) 4, (x, y) => Marshal.ReadInt32(x) - Marshal.ReadInt32(y)); Console.WriteLine(a[0] + " " + a[49]);
	    var d = new Dictionary<string, int>(); for (int i = 0; i < 200000; i++) { int v; var k = "" + i * 7919L % 5003; d.TryGetValue(k, out v); d[k] = v + i; } Console.WriteLine(d.Count);
	    var t = new Thread(() => { try { Thread.Sleep(100000); } catch (ThreadInterruptedException) { Console.WriteLine("interrupted"); } finally { Console.WriteLine("finally"); } }); t.Start(); Thread.Sleep(100); t.Interrupt(); t.Join();
	    var l = new List<byte[]>(); for (int i = 0; i < 3000; i++) l.Add(i % 10 == 0 ? new byte[20000] : null); GC.Collect(); Console.WriteLine(l.Count);
	    try { try { throw new Exception("in"); } finally { Console.WriteLine("fin"); } } catch (Exception e) when (e.Message == "in") { Console.WriteLine(new System.Diagnostics.StackTrace().GetFrame(0).GetMethod().Name); }
	    try { Deep(0); } catch (StackOverflowException) { Console.WriteLine("deep"); } throw new InvalidOperationException("last");
	  } }
	END
	mcs -out:p.exe p.cs 2>&1; mono p.exe 2>err; echo $?; grep -a last err | head -n 1
	mono --interp p.exe 2>/dev/null; echo $?
	mono --aot p.exe >/dev/null 2>&1; mono p.exe 2>/dev/null; echo $?
	mono -O=-all p.exe 2>/dev/null | sha256sum; mono --debug --gc=sgen --stacktrace=x p.exe >/dev/null 2>&1; echo $?
}
