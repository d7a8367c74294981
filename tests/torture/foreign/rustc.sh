# rustc.sh - the compiler itself, over LLVM
packages=rustc
files() { with_libraries "$(program rustc)"; realpath /usr/lib/x86_64-linux-gnu/librustc_driver-*.so; }
run() {
	cat >p.rs <<-'END'
	use std::collections::HashMap;
	trait Shape { fn area(&self) -> f64; }
	impl Shape for f64 { fn area(&self) -> f64 { self * self } }
	pub fn all(v: &[Box<dyn Shape>]) -> HashMap<usize, f64> { v.iter().map(|s| s.area()).enumerate().filter(|(i, _)| i % 2 == 0).collect() }
	END
	rustc -O --crate-type=lib --emit=asm,mir p.rs && sha256sum p.s p.mir
	echo 'fn main() { let s = String::new(); let t = s; println!("{}", s); }' >e.rs; rustc e.rs 2>&1
	rustc --explain E0382 | sha256sum; rustc --print cfg
}
