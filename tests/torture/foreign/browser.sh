# browser.sh - Firefox without a screen: its JavaScript and WebAssembly compilers, traps by signals, processes in sandboxes; a picture of the page
packages="firefox-esr"
files() { elves_of firefox-esr; libraries_of /usr/lib/firefox-esr/libxul.so /usr/lib/firefox-esr/firefox-esr | grep -v /firefox-esr/; }
run() {
	cat >p.html <<-'X'
	<html><body style="font-family:monospace"><pre id=o></pre><canvas id=c width=200 height=80></canvas><script>
	let out=[]; function fib(n){return n<2?n:fib(n-1)+fib(n-2)} out.push(fib(24));
	const bytes=Uint8Array.from([0,97,115,109,1,0,0,0,1,11,2,96,1,127,1,127,96,2,127,127,1,127,3,4,3,0,1,0,5,3,1,0,1,7,20,3,3,102,105,98,0,0,3,100,105,118,0,1,4,112,101,101,107,0,2,10,45,3,30,0,32,0,65,2,72,4,127,32,0,5,32,0,65,1,107,16,0,32,0,65,2,107,16,0,106,11,11,7,0,32,0,32,1,109,11,7,0,32,0,40,2,0,11]);
	try{const x=new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports; out.push(x.fib(22)); let n=0; for(let i=0;i<2000;i++){try{x.peek(i%2?0:1<<30)}catch(e){n++}} out.push('traps '+n); try{x.div(1,0)}catch(e){out.push(e.message)}}catch(e){out.push(''+e)}
	function deep(n){return deep(n+1)+1} try{deep(0)}catch(e){out.push(e instanceof InternalError)}
	let s=0; for(let i=0;i<3e6;i++) s=(s*31+i)|0; out.push(s); out.push([..."hallo"].sort().join('')+/(\w+?)(\d+)/.exec('abc123')[2]+2n**90n); document.getElementById('o').textContent=out.join('\n');
	let c=document.getElementById('c').getContext('2d'); for(let i=0;i<40;i++){c.fillStyle=`hsl(${i*9},80%,50%)`; c.beginPath(); c.arc(10+i*4,40,20+i/4,0,i); c.fill()}
	</script><svg width=100 height=60><filter id=f><feGaussianBlur stdDeviation=2 /></filter><circle cx=40 cy=30 r=20 fill=teal filter="url(#f)"/></svg><table border=1><tr><td>a<td>b<tr><td colspan=2>ccc</table></body></html>
	X
	local i
	for i in 1 2; do
		timeout 200 firefox-esr --headless --window-size=500,600 --screenshot "$HOME/s$i.png" "file://$HOME/p.html" >/dev/null 2>&1; echo $?
		rm -f piece.*; split -b 500 "s$i.png" piece. && sha256sum piece.*
	done
	sed -i 's/20+i\/4/10+i\/3/' p.html; timeout 200 firefox-esr --headless --window-size=300,400 --screenshot "$HOME/s3.png" "file://$HOME/p.html" >/dev/null 2>&1; rm -f piece.*; split -b 500 s3.png piece. && sha256sum piece.*
}
