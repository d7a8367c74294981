# python.sh - extensions of python3.11: greenlet and gevent, which switch stacks by assembler, numpy over OpenBLAS, ctypes
packages="python3-greenlet python3-gevent python3-numpy libopenblas0-pthread python3-lxml python3-cffi"
files() { elves_of python3-greenlet python3-gevent python3-numpy libopenblas0-pthread python3-lxml python3-cffi-backend libgfortran5 libffi8 libxml2 libxslt1.1 libev4; program python3; }
run() {
	cat >p.py <<-'END'
	import ctypes, faulthandler, gevent, gevent.queue, numpy as np, traceback, sys
	from greenlet import greenlet
	from lxml import etree
	c = ctypes.CDLL(None); a = (ctypes.c_int * 50)(*[i * 37 % 53 for i in range(50)])
	T = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
	c.qsort(a, 50, 4, T(lambda x, y: x[0] - y[0])); print(list(a)[:9])
	def tree(n): 
	    if n: yield from tree(n - 1); greenlet.getcurrent().parent.switch(n); yield n
	def run(): 
	    for _ in tree(6): pass
	    raise KeyError('end')
	g = greenlet(run); r = []
	try:
	    while True: r.append(g.switch())
	except KeyError as e: print(r, e)
	q = gevent.queue.Queue()
	def put(i): gevent.sleep(.01 * i); q.put(i)
	def bad(): raise ValueError('b')
	j = [gevent.spawn(put, i) for i in range(5)] + [gevent.spawn(bad)]; gevent.joinall(j); print([q.get() for _ in range(5)], j[-1].exception)
	with gevent.Timeout(.1, False): gevent.sleep(5)
	m = np.array([[1 / (i + j + 1) for j in range(80)] for i in range(80)]); print(np.linalg.matrix_rank(m), '%.9g' % np.linalg.norm(m @ m), ['%.6g' % x for x in np.linalg.svd(m)[1][:5]])
	x = np.linalg.solve(m + np.eye(80), np.arange(80.)); print('%.9g' % x.sum(), '%.9g' % np.linalg.eigvalsh(m)[-1])
	try: np.linalg.inv(np.zeros((3, 3)))
	except np.linalg.LinAlgError as e: print(e)
	b = np.random.default_rng(3); f = b.standard_normal(4096).astype('f4'); print('%.6g' % np.abs(np.fft.fft(f)).sum(), np.sort(f)[:3], np.argsort(f, kind='stable')[:5], f.cumsum()[-1])
	for d in 'f4', 'f8', 'c16', 'i8', 'u1': k = np.arange(1000).astype(d); print(d, (k * k + k).sum(), np.dot(k, k), k.max() if d != 'c16' else '')
	with np.errstate(all='raise'):
	    try: np.float64(1) / np.array([0.])
	    except FloatingPointError as e: print(e)
	t = etree.XML('<a><b x="1">t</b><b x="2"/></a>'); print(t.xpath('//b[@x=2]'), len(etree.tostring(t)))
	s = etree.XSLT(etree.XML('<s:stylesheet version="1.0" xmlns:s="http://www.w3.org/1999/XSL/Transform"><s:template match="b"><s:value-of select="@x"/></s:template></s:stylesheet>')); print(str(s(t)))
	try: etree.XML('<a>')
	except etree.XMLSyntaxError as e: print(e)
	END
	sed -i 's/print(t.xpath(.*), len/print(len/' p.py
	local core
	for core in '' Haswell Nehalem Zen SkylakeX; do OPENBLAS_CORETYPE=$core OPENBLAS_NUM_THREADS=2 python3 p.py 2>&1; echo $?; done | grep -v 0x
	python3 -c 'import numpy; numpy.show_config(); print(numpy.core._multiarray_umath.__cpu_features__["AVX2"])' | tail -n 1
	python3 -c 'import ctypes, faulthandler; faulthandler.enable(); ctypes.string_at(8)' 2>&1 | head -n 1
}
