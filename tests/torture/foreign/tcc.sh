# tcc.sh - compilers that run what they make: tcc, libgccjit, lli of LLVM, algol68g, sdcc's and yasm's assembler
packages="tcc libgccjit-12-dev llvm-14 algol68g yasm nasm bison flex"
build() {
	cat >jit.c <<-'END'
	#include <libgccjit.h>
	#include <stdio.h>
	int main(void) { gcc_jit_context *c = gcc_jit_context_acquire(); gcc_jit_context_set_int_option(c, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
	gcc_jit_type *i = gcc_jit_context_get_type(c, GCC_JIT_TYPE_INT); gcc_jit_param *p = gcc_jit_context_new_param(c, 0, i, "n"); gcc_jit_function *f = gcc_jit_context_new_function(c, 0, GCC_JIT_FUNCTION_EXPORTED, i, "sq", 1, &p, 0);
	gcc_jit_block *b = gcc_jit_function_new_block(f, "b"); gcc_jit_rvalue *r = gcc_jit_param_as_rvalue(p); gcc_jit_block_end_with_return(b, 0, gcc_jit_context_new_binary_op(c, 0, GCC_JIT_BINARY_OP_MULT, i, r, r));
	gcc_jit_result *x = gcc_jit_context_compile(c); if (!x) return 9; int (*q)(int) = (int (*)(int))gcc_jit_result_get_code(x, "sq"); printf("%d\n", q(12)); gcc_jit_result_release(x); gcc_jit_context_release(c); return 0; }
	END
	gcc-12 -O1 jit.c -o jit -I/usr/lib/gcc/x86_64-linux-gnu/12/include -lgccjit || gcc-12 -O1 jit.c -o jit -lgccjit
}
files() { built tcc build || return; with_libraries "$(program tcc)" "$SOURCES/foreign/tcc/jit" "$(program lli-14)" "$(program a68g)" "$(program yasm)" "$(program nasm)" "$(program bison)" "$(program flex)"; }
run() {
	cat >p.c <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <setjmp.h>
	#include <signal.h>
	jmp_buf j; void h(int s) { longjmp(j, s); } int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
	int main(int c, char **v) { int a[50], i; for (i = 0; i < 50; i++) a[i] = i * 37 % 53; qsort(a, 50, 4, cmp); printf("%d %d %d\n", fib(24), a[0], a[49]); signal(SIGSEGV, h); if ((i = setjmp(j))) printf("signal %d\n", i); else *(volatile int *)0 = 1; printf("%g %Lg\n", 1.5e3, 2.5L); return 3; }
	END
	tcc -run p.c; echo $?; tcc -b -run p.c 2>&1 | tail -n 3; tcc -o p p.c && ./p; echo $?; tcc -c p.c -o p.o && sha256sum p.o; echo 'int f( {' | tcc -c - -o x.o 2>&1; echo $?; "$SOURCES/foreign/tcc/jit"; echo $?
	cat >p.ll <<-'END'
	declare i32 @printf(ptr, ...) declare i32 @__gxx_personality_v0(...) @s = constant [4 x i8] c"%d\0A\00"
	define i32 @fib(i32 %n) { %c = icmp slt i32 %n, 2 br i1 %c, label %a, label %b
	a: ret i32 %n
	b: %x = sub i32 %n, 1 %y = call i32 @fib(i32 %x) %z = sub i32 %n, 2 %w = call i32 @fib(i32 %z) %r = add i32 %y, %w ret i32 %r }
	define i32 @main() { %f = call i32 @fib(i32 25) %p = call i32 (ptr, ...) @printf(ptr @s, i32 %f) ret i32 4 }
	END
	for o in '' -jit-kind=mcjit -jit-kind=orc-lazy -force-interpreter -O0; do lli-14 -opaque-pointers $o p.ll 2>&1; echo "$o $?"; done
	printf 'BEGIN PROC fib = (INT n) INT: (n < 2 | n | fib(n - 1) + fib(n - 2)); print((fib(18), new line, sqrt(2), new line)); [1:9]INT a; FOR i TO 9 DO a[i] := i * 7 MOD 11 OD; print((a, new line)); LONG LONG INT b := 7; print((b ** 40, new line)); SEMA s = LEVEL 0; PAR (BEGIN print("a"); UP s END, BEGIN DOWN s; print("b") END); print(a[12]) END\n' >p.a68; a68g p.a68 2>&1 | grep -v '^a68g: run'; echo "${PIPESTATUS[0]}"
	printf 'section .text\nglobal f\nf: mov rax, [rdi+rsi*8+4]\n %%rep 200\n add rax, 5\n %%endrep\n vfmadd231ps ymm1, ymm2, [rax]\n ret\n' >p.asm; nasm -f elf64 p.asm -o n.o && sha256sum n.o; yasm -f elf64 p.asm -o y.o && sha256sum y.o; nasm -f bin bad 2>&1; echo 'mov' | yasm - -o z 2>&1; echo $?
	printf '%%token N\n%%%%\ne: e "+" e | N;\n%%%%\n' >p.y; bison -v p.y 2>&1; sha256sum p.output p.tab.c; printf '%%%%\n[0-9]+ return 1;\n[a-z]* ;\n%%%%\n' >p.l; flex -o l.c p.l && sha256sum l.c
}
