# pypy.sh - PyPy: its JIT, stackless coroutines, collector, ctypes callbacks, fork
packages="pypy3 pypy3-lib-testsuite"
files() { with_libraries "$(program pypy3)"; elves_of pypy3; }
packages=pypy3
run() {
	cat >p.py <<-'END'
	import ctypes, sys, os, gc, json, re, threading, signal, faulthandler
	from greenlet import greenlet
	def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
	print(fib(27))
	c = ctypes.CDLL(None); a = (ctypes.c_int * 50)(*[i * 37 % 53 for i in range(50)])
	cb = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda x, y: x[0] - y[0])
	c.qsort(a, 50, 4, cb); print(list(a)[:9])
	def g1(): 
	    for i in range(3): print('g1', i); t2.switch()
	def g2():
	    for i in range(3): print('g2', i); t1.switch()
	    raise ValueError('from g2')
	t1 = greenlet(g1); t2 = greenlet(g2); t1.switch()
	try: t2.switch(); t2.switch()
	except ValueError as e: print(e)
	def deep(n): return deep(n + 1)
	try: deep(1)
	except RecursionError: print('deep')
	signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, .1); signal.pause()
	ts = [threading.Thread(target=lambda: fib(18)) for _ in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]
	pid = os.fork()
	if pid == 0: os._exit(fib(10))
	print(os.waitpid(pid, 0)[1] >> 8, json.dumps({'a': [1, 2.5, None]}), re.findall(r'\d+', 'a12b345'), 7 ** 300 % 1000007); gc.collect()
	s = 0
	for i in range(30000000): s = (s * 31 + i) & 0xffffffff
	print(s); {}['x']
	END
	pypy3 p.py 2>&1; echo $?
	pypy3 --jit off p.py 2>&1 | sha256sum
	pypy3 -c 'import ctypes, faulthandler; faulthandler.enable(); ctypes.string_at(8)' 2>&1 | head -n 3; echo "${PIPESTATUS[0]}"
	pypy3 -m timeit -n 1 -r 1 pass >/dev/null; echo $?
}
