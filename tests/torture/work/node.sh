# node.sh - node's interpreter, compilers and libraries under scripts
packages=nodejs
files() { with_libraries "$(program node)"; }
prepare() {
	cat >work.js <<-'END'
	const crypto = require('crypto'), zlib = require('zlib'), util = require('util'), assert = require('assert');
	function* primes(n) { const s = new Uint8Array(n); for (let i = 2; i < n; i++) if (!s[i]) { yield i; for (let j = i * i; j < n; j += i) s[j] = 1; } }
	class Shape { constructor(k) { this.k = k; } area() { return this.k * 2; } get name() { return `s${this.k}`; } }
	class Square extends Shape { area() { return super.area() ** 2; } }
	const list = [...primes(200000)];
	console.log(list.length, list.slice(-5), list.reduce((a, b) => (a * 31 + b) >>> 0, 7));
	let sum = 0;
	for (let i = 0; i < 300000; i++) sum += (i % 3 ? new Shape(i % 97) : new Square(i % 89)).area();
	console.log(sum);
	const map = new Map(), set = new Set();
	for (let i = 0; i < 100000; i++) { const k = `k${(i * 7919) % 10007}`; map.set(k, (map.get(k) || 0) + i); set.add(k.length); }
	console.log(map.size, [...set].sort(), [...map.entries()].sort()[17]);
	const text = Array.from({ length: 20000 }, (_, i) => String.fromCharCode(97 + i * i % 26)).join('');
	console.log(text.match(/(?<=a)[b-y]{2,5}(?!z)/g).length, text.replace(/([aeiou])(.)/g, '$2$1').slice(0, 40));
	console.log(crypto.createHash('sha256').update(text).digest('hex'), zlib.inflateSync(zlib.deflateSync(text)).toString() === text);
	console.log(util.inspect({ a: [1, { b: new Map([[1, 2]]) }], c: Symbol('x'), d: 10n ** 40n }, { depth: 5 }));
	console.log(JSON.stringify(JSON.parse(JSON.stringify({ list: list.slice(0, 50), nested: { deep: { x: 1.5e300 } } }))));
	try { null.f(); } catch (e) { console.log(e.message, e instanceof TypeError); }
	assert.throws(() => { throw new RangeError('r'); }, RangeError);
	console.log(new Intl.NumberFormat('de-DE').format(1234567.891), new Date(0).toISOString());
	console.log([5, 1, 4].toSorted ? 1 : 0, Buffer.from('héllo').toString('base64'), new URL('http://a:1/b?c=d#e').searchParams.get('c'));
	const wasm = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
	WebAssembly.instantiate(wasm).then(m => console.log(m.instance.exports.add(40, 2)));
	(async () => { let t = 0; for await (const x of (async function* () { for (let i = 0; i < 1000; i++) yield i; })()) t += x; console.log(t); })();
	Promise.all([1, 2, 3].map(async x => x * 2)).then(r => console.log(r));
	process.on('exit', c => console.log('exit', c));
	END
}
run() {
	node work.js
	node --jitless -e 'console.log([1, 2, 3].map(x => x * x))'
	node -e 'throw new Error("uncaught")' 2>/dev/null
	echo $?
	node --check work.js && node -p 'process.versions.v8'
}
