# java.sh - the JVM: null pointers by signals, stack overflow by guard pages, stack walks, all collectors, JNI, crash files
packages="openjdk-17-jdk-headless"
files() { elves_of openjdk-17-jre-headless openjdk-17-jdk-headless; }
run() {
	export JAVA_TOOL_OPTIONS=-XX:-UsePerfData	# which would be in /tmp
	cat >P.java <<-'END'
	import java.util.*; import java.util.concurrent.*; import java.util.stream.*; import java.util.zip.*;
	public class P {
	  static int deep(int n) { return deep(n + 1) + 1; }
	  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	  int f; static int get(P p) { return p.f; }
	  public static void main(String[] a) throws Exception {
	    System.out.println(fib(32));
	    int nulls = 0; P q = new P(); for (int i = 0; i < 200000; i++) try { nulls += get(i % 1000 == 999 ? null : q); } catch (NullPointerException e) { nulls++; } System.out.println(nulls);
	    int deeps = 0; for (int i = 0; i < 5; i++) try { deep(0); } catch (StackOverflowError e) { deeps++; } System.out.println(deeps);
	    try { System.out.println(5 / (nulls - nulls)); } catch (ArithmeticException e) { System.out.println(e.getStackTrace()[0]); }
	    StackWalker.getInstance().forEach(f -> System.out.println(f.getMethodName()));
	    ExecutorService x = Executors.newFixedThreadPool(4); long s = 0; for (Future<Integer> f : x.invokeAll(IntStream.range(10, 26).mapToObj(i -> (Callable<Integer>) () -> fib(i)).collect(Collectors.toList()))) s += f.get(); x.shutdown(); System.out.println(s);
	    Map<String, Integer> m = new TreeMap<>(); for (int i = 0; i < 300000; i++) m.merge("" + i * 7919L % 5003, i, Integer::sum); System.out.println(m.hashCode());
	    List<byte[]> l = new ArrayList<>(); for (int i = 0; i < 2000; i++) { l.add(new byte[50000]); if (i % 10 != 0) l.set(l.size() - 1, null); } System.out.println(l.size());
	    CRC32 c = new CRC32(); c.update("x".repeat(100000).getBytes()); System.out.println(c.getValue()); System.out.println(Math.sin(1e6) + " " + Math.pow(1.1, 99));
	    Thread t = new Thread(() -> { synchronized (m) { try { m.wait(); } catch (InterruptedException e) { System.out.println("interrupted"); } } }); t.start(); Thread.sleep(100); t.interrupt(); t.join();
	    try { Object o = "x"; Integer i = (Integer) o; } catch (ClassCastException e) { System.out.println("cast"); }
	    try { long[][] big = new long[10000][]; for (int i = 0; ; i++) big[i] = new long[1 << 22]; } catch (OutOfMemoryError e) { System.out.println("memory"); }
	    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook"))); throw new IllegalStateException("last");
	  } }
	END
	local o
	javac P.java 2>&1
	for o in -XX:+UseSerialGC -XX:+UseParallelGC -XX:+UseG1GC -XX:+UseZGC -XX:+UseShenandoahGC -XX:TieredStopAtLevel=1 "-XX:+UseSerialGC -Xcomp" "-XX:+UseSerialGC -XX:-UseCompressedOops"; do
		java $o -Xmx256m -Xss1m P 2>&1; echo "$o $?"
	done
	echo 'int x = 5; x * 3; "a".repeat(3); int[] a = {1}; a[3]' | jshell -s - 2>&1
	java -XX:NativeMemoryTracking=summary -XX:+UseSerialGC -version 2>&1; jar cf p.jar P.class && unzip -l p.jar | tail -n 1
	javap -c P | sha256sum
	cat >C.java <<-'END'
	public class C { public static void main(String[] a) throws Exception { var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe"); f.setAccessible(true); ((sun.misc.Unsafe) f.get(null)).putLong(8, 1); } }
	END
	javac -nowarn C.java 2>/dev/null; java -XX:-CreateCoredumpOnCrash -XX:+UseSerialGC C >crash 2>&1; echo $?; sed -n '/SIGSEGV/s/ at pc.*//p; /^# Problematic/,+1{ s/+0x.*//; p }' crash; sed -n '/^Java frames/,/^$/p' hs_err*.log
}
