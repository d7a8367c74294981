# looks.sh - programs that look into programs: elfutils, strace with stacks, uftrace, gdb, libunwind, sanitizers
packages="elfutils strace gdb uftrace libunwind-dev gcc-12 g++-12 binutils libasan8 libtsan2 libubsan1 patchelf"
build() {
	cat >moved.cc <<-'END'
	#define UNW_LOCAL_ONLY
	#include <libunwind.h>
	#include <execinfo.h>
	#include <signal.h>
	#include <cstdio>
	#include <cstring>
	#include <cstdlib>
	#include <stdexcept>
	#include <thread>
	#include <dlfcn.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <ucontext.h>
	#include <setjmp.h>
	static sigjmp_buf back; static volatile int frames; static int *volatile nowhere;
	__attribute__((noinline)) static int walk() { unw_context_t c; unw_cursor_t k; unw_getcontext(&c); unw_init_local(&k, &c); int n = 0; while (unw_step(&k) > 0) n++; return n; }
	static void handler(int, siginfo_t *, void *u) { void *b[99]; int n = backtrace(b, 99); unw_cursor_t k; unw_init_local2(&k, (unw_context_t *)u, UNW_INIT_SIGNAL_FRAME); int m = 0; while (unw_step(&k) > 0) m++; frames = n * 100 + m; siglongjmp(back, 1); }
	__attribute__((noinline)) int deep(int n) { if (n == 0) { if (nowhere == nullptr) return *nowhere; } int r = deep(n - 1); asm volatile(""); return r + 1; }
	struct G { ~G() { std::printf("gone %d\n", walk()); } };
	__attribute__((noinline)) void thrower(int n) { G g; if (n) thrower(n - 1); else throw std::runtime_error("x"); asm volatile(""); }
	int compare(const void *a, const void *b) { if (*(int *)a == 7) throw *(int *)b; return *(int *)a - *(int *)b; }
	int main(int c, char **v) {
		struct sigaction s = {}; s.sa_sigaction = handler; s.sa_flags = SA_SIGINFO | SA_NODEFER; sigaction(SIGSEGV, &s, nullptr); sigaction(SIGFPE, &s, nullptr);
		for (int i = 0; i < 20; i += 6) if (!sigsetjmp(back, 1)) deep(i); else std::printf("%d\n", frames);
		try { thrower(3); } catch (std::exception &e) { std::printf("%s %d\n", e.what(), walk()); }
		std::thread([] { try { thrower(1); } catch (...) { std::printf("thread %d\n", walk() > 1); } }).join();
		int a[9] = {3, 1, 7, 2}; try { qsort(a, 9, 4, compare); } catch (int x) { std::printf("through qsort\n"); }
		void *h = dlopen("libz.so.1", RTLD_NOW); auto f = (const char *(*)())dlsym(h, "zlibVersion"); std::printf("%s\n", f()); dlclose(h); for (int i = 0; i < 200; i++) { h = dlopen("libm.so.6", RTLD_LAZY); dlclose(h); }
		std::fflush(stdout); pid_t p = fork(); if (!p) { signal(SIGSEGV, SIG_DFL); if (c > 1) execl("/bin/sh", "sh", "-c", "exit 9", nullptr); deep(3); } int w; waitpid(p, &w, 0); std::printf("%d %d\n", WTERMSIG(w), WEXITSTATUS(w)); return 4; }
	END
	g++ -O2 -g moved.cc -o moved -lunwind -pthread && g++ -O2 -fno-omit-frame-pointer -rdynamic moved.cc -o moved_fp -lunwind -pthread && g++ -O1 -static-libgcc -static-libstdc++ moved.cc -o moved_static -lunwind -pthread || return
	cat >bad.c <<-'END'
	#include <stdlib.h>
	#include <stdio.h>
	#include <limits.h>
	#include <pthread.h>
	int shared; void *inc(void *x) { for (int i = 0; i < 1000; i++) shared++; return x; }
	__attribute__((noinline)) int over(int *a, int n) { return a[n]; }
	__attribute__((noinline)) int after(int *a) { free(a); return a[1]; }
	int main(int c, char **v) { int *a = calloc(4, 4), k = INT_MAX; pthread_t t; switch (v[1][0]) { case 'o': printf("%d\n", over(a, 4)); break; case 'f': after(a); break; case 'u': k += c; printf("%d %d\n", k, 1 << (c + 30 + c)); break; case 'l': a = malloc(50); a = 0; break; case 't': pthread_create(&t, 0, inc, 0); inc(0); pthread_join(t, 0); break; case 'd': free(a); free(a); } return 0; }
	END
	gcc -g -O1 -fsanitize=address,undefined bad.c -o bad_a && gcc -g -O1 -fsanitize=thread bad.c -o bad_t -pthread && gcc -g -O2 -pg -fpatchable-function-entry=5 bad.c -o bad_pg
}
files() {
	built looks build || return
	with_libraries "$SOURCES"/foreign/looks/moved{,_fp,_static} "$SOURCES"/foreign/looks/bad_{a,t,pg} "$(program eu-readelf)" "$(program eu-stack)" "$(program strace)" "$(program uftrace)" "$(program objdump)" "$(program patchelf)"
	elves_of libelf1 libdw1 uftrace libunwind8 elfutils
}
# What they look at is not moved.
prepare() { cp /bin/bash "$(program eu-readelf)" "$(realpath /usr/lib/x86_64-linux-gnu/libm.so.6)" "$SOURCES"/foreign/looks/bad_{a,t} .; }
run() {
	local p d=$SOURCES/foreign/looks
	for p in moved moved_fp moved_static; do "$d/$p" 2>&1; echo $?; "$d/$p" exec 2>&1 | tail -n 1; done
	for p in o f u l d; do "$d/bad_a" $p 2>&1 | grep -a -e ERROR: -e runtime | sed -E 's/==[0-9]+==//; s/0x[0-9a-f]+//g; s/\(BuildId.*//; s/\(pid.*//'; echo "${PIPESTATUS[0]}"; done
	TSAN_OPTIONS=exitcode=66 "$d/bad_t" t 2>&1 | grep -a -c -e 'data race'; "$d/bad_pg" u; ls gmon.out
	for p in bash eu-readelf libm.so.6; do cp "$p" here.elf; eu-readelf -a here.elf 2>&1 | sha256sum; eu-readelf -wframe here.elf 2>&1 | sha256sum; objdump -d --no-show-raw-insn here.elf | sha256sum; eu-elflint --gnu-ld here.elf 2>&1 | head -n 3; eu-size here.elf; eu-nm -D here.elf 2>&1 | sha256sum; done
	eu-addr2line -f -e bad_a main over 2>&1 | grep -v '^/'; eu-strip -o s.elf -f s.dbg bad_t 2>&1 && eu-unstrip s.elf s.dbg -o u.elf && eu-elfcmp u.elf bad_t 2>&1 | head -n 2 | wc -l; eu-stack -p $$ 2>&1 | grep -c '^#' | awk '{ print $1 > 3 }'
	strace -k -e trace=exit_group true 2>&1 | grep -c -e libc; strace -f -c -o c sh -c 'true; true' ; echo $?; strace -e trace=write -o w sh -c 'echo hi'; cat w; strace -e inject=openat:error=ENOENT:when=3 ls / 2>&1 | tail -n 1
	(cd "$HOME" && uftrace record -d u "$d/bad_pg" l >/dev/null 2>&1; echo $?; uftrace replay -d u -f none 2>/dev/null | grep -v -e '^#' | head -n 20; uftrace record -P . -d v "$d/bad_pg" u 2>&1 | head -n 2; uftrace report -d v 2>/dev/null | awk 'NR > 2 { print $NF }' | sort)
	cp "$d/moved_fp" pe; patchelf --set-rpath /x --add-needed libm.so.6 pe 2>&1; ./pe 2>&1 | tail -n 1; patchelf --print-rpath pe; gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'handle SIGSEGV nostop noprint pass' -ex 'break abort' -ex 'run' "$d/bad_a" 2>/dev/null | grep -c xyz; (ulimit -c unlimited; exec "$d/moved" exec >/dev/null 2>&1); echo $?
}
