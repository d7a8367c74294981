# wasm.sh - wabt and binaryen, in C++ with exceptions, over the same modules
packages="wabt binaryen"
files() { local p; for p in wat2wasm wasm2wat wasm-interp wasm2c wasm-opt wasm-dis wasm-validate wasm-objdump; do with_libraries "$(program $p)"; done; }
run() {
	cat >p.wat <<-'END'
	(module (import "env" "x" (func $x (param i32))) (memory (export "m") 1) (table 2 funcref) (elem (i32.const 0) $fib $two)
	  (func $fib (export "fib") (param i32) (result i32) (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (local.get 0)) (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
	  (func $two (param i32) (result i32) (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0)))
	  (func (export "loop") (result i64) (local i64 i64) (loop (local.set 0 (i64.xor (i64.mul (local.get 0) (i64.const 31)) (local.get 1))) (local.set 1 (i64.add (local.get 1) (i64.const 1))) (br_if 0 (i64.lt_u (local.get 1) (i64.const 300000)))) (local.get 0))
	  (func (export "call") (result i32) (call $two (i32.const 15))) (func (export "trap") (result i32) (i32.div_s (i32.const 1) (i32.const 0))) (func (export "over") (result i32) (i32.load (i32.const 70000))) (func (export "br") (param i32) (result i32) (block (block (block (br_table 0 1 2 (local.get 0))) (return (i32.const 5))) (return (i32.const 6))) (i32.const 7)))
	END
	sed '/import/s/(import.*(param i32))) //' p.wat >q.wat
	wat2wasm q.wat -o q.wasm && sha256sum q.wasm; wat2wasm --debug-names p.wat -o p.wasm; wasm-interp q.wasm --run-all-exports 2>&1; wasm2wat p.wasm | sha256sum; wasm2c q.wasm -o q.c && sha256sum q.c; wasm-objdump -d -x q.wasm | sha256sum; wasm-validate q.wasm; echo '(module (func (i32.add)))' | wat2wasm - 2>&1; echo $?
	for o in -O1 -O3 -Oz '--flatten --rereloop -O2' '--inlining --coalesce-locals --vacuum' --asyncify; do wasm-opt $o q.wasm -o o.wasm 2>&1; echo "$o $?"; sha256sum o.wasm; done; wasm-dis q.wasm | sha256sum; head -c 90 q.wasm >t.wasm; wasm-opt t.wasm -o o2.wasm 2>&1; echo $?; head -c 9000 /dev/zero | tr '\0' x | wasm-opt -ttf - -o f.wasm 2>&1 | head -n 3; sha256sum f.wasm; wasm-opt --fuzz-exec -O2 q.wasm 2>&1 | head -n 20
}
