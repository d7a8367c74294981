# nodejs.sh - Node: its own code on large pages, workers, WebAssembly with traps by signals, contexts, async hooks, the inspector's profile
packages="nodejs"
files() { with_libraries "$(program node)"; }
run() {
	cat >n.js <<-'X'
	const { Worker, isMainThread, parentPort, workerData } = require('worker_threads'); const vm = require('vm');
	if (!isMainThread) { let s = 0; for (let i = 0; i < 1e6; i++) s = (s * 31 + i * workerData) | 0; parentPort.postMessage(s); } else {
	const w = (n) => new Promise((r, e) => { const k = new Worker(__filename, { workerData: n }); k.on('message', r); k.on('error', e); });
	const bytes = Uint8Array.from([0,97,115,109,1,0,0,0,1,11,2,96,1,127,1,127,96,2,127,127,1,127,3,4,3,0,1,0,5,3,1,0,1,7,20,3,3,102,105,98,0,0,3,100,105,118,0,1,4,112,101,101,107,0,2,10,45,3,30,0,32,0,65,2,72,4,127,32,0,5,32,0,65,1,107,16,0,32,0,65,2,107,16,0,106,11,11,7,0,32,0,32,1,109,11,7,0,32,0,40,2,0,11]);
	(async () => { console.log(await Promise.all([1, 2, 3, 4].map(w)));
	try { const m = await WebAssembly.instantiate(bytes); const x = m.instance.exports; console.log(x.fib(22), x.div(7, 2)); let n = 0; for (let i = 0; i < 2000; i++) { try { x.peek(i % 2 ? 0 : 1 << 30); } catch (e) { n++; } } console.log('traps', n); try { x.div(1, 0); } catch (e) { console.log(e.message); } } catch (e) { console.log(e.message); }
	console.log(vm.runInNewContext('let s=0; for (let i=0;i<1e5;i++) s+=i; s')); try { vm.runInNewContext('while(true);', {}, { timeout: 50 }); } catch (e) { console.log(e.code); }
	function deep(n) { return deep(n + 1) + 1; } try { deep(0); } catch (e) { console.log(e instanceof RangeError); }
	function* g() { for (let i = 0; i < 3; i++) yield i ** 2; } console.log([...g()], 'x'.repeat(5).replace(/x/g, (c, i) => i), 2n ** 100n, JSON.stringify({ a: [1, { b: null }] }));
	const o = []; for (let i = 0; i < 50000; i++) o.push({ k: 'k' + i * 7919 % 5003, i }); o.sort((a, b) => a.k < b.k ? -1 : a.k > b.k ? 1 : a.i - b.i); console.log(require('crypto').createHash('sha256').update(JSON.stringify(o)).digest('hex'));
	const z = require('zlib'); console.log(z.gunzipSync(z.gzipSync(Buffer.alloc(100000, 'ab'))).length, z.brotliDecompressSync(z.brotliCompressSync('hello')).toString(), Intl.DateTimeFormat('de').format(0), 'ÄÖ'.toLowerCase());
	process.on('exit', (c) => console.log('exit', c)); setTimeout(() => { throw new Error('last'); }, 10); })(); }
	X
	local o
	for o in "" --use-largepages=on --use-largepages=silent --jitless --no-opt --always-sparkplug "--stress-compaction --gc-interval=500" --interpreted-frames-native-stack --wasm-tier-up --no-wasm-tier-up; do
		node $o n.js 2>err; echo "$o $?"; grep -a -c -e 'Error: last' -e illegal err
	done
	node --cpu-prof --cpu-prof-dir=. -e 'let s = 0; for (let i = 0; i < 3e7; i++) s += i; console.log(s)'; ls *.cpuprofile | wc -l
	node --abort-on-uncaught-exception -e 'process.abort()' 2>err; echo $?; grep -ac 'node::' err
	node -e 'process.report.reportOnSignal = true; const r = JSON.parse(JSON.stringify(process.report.getReport())); console.log(r.nativeStack.length > 3, r.javascriptStack.message)'
}
