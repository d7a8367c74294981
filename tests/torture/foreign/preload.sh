# preload.sh - libraries that come before libc: allocators with unwinders, fakeroot, faketime, eatmydata, wrappers
packages="libgoogle-perftools4 google-perftools libjemalloc2 libmimalloc2.0 fakeroot faketime eatmydata libsocket-wrapper libnss-wrapper libuid-wrapper fakechroot libtcmalloc-minimal4 electric-fence cpio"
files() {
	elves_of libgoogle-perftools4 libjemalloc2 libmimalloc2.0 libfakeroot fakeroot libfaketime libeatmydata1 libsocket-wrapper libnss-wrapper libuid-wrapper libtcmalloc-minimal4 libfakechroot electric-fence
	with_libraries "$(program perl)" "$(program python3)"
	built preload build && realpath "$SOURCES/foreign/preload/leaks"
}
build() {
	cat >leaks.cc <<-'END'
	#include <vector>
	#include <string>
	#include <thread>
	#include <cstdio>
	#include <stdexcept>
	#include <cstdlib>
	struct A { char *p; A() : p(new char[100]) {} }; static A *kept;
	__attribute__((noinline)) void leak(int n) { if (n) { leak(n - 1); asm(""); } else { A *volatile a = new A; a = nullptr; } }
	int main() { std::vector<std::thread> t; for (int i = 0; i < 4; i++) t.emplace_back([i] { for (int k = 0; k < 20000; k++) { std::string s(k % 977, 'x'); if (k % 5000 == 0) try { throw std::runtime_error(s); } catch (std::exception &e) { std::printf("%s", k ? "" : "caught\n"); } } for (int k = 0; k < 7; k++) leak(5); });
	for (auto &x : t) x.join(); kept = new A; std::vector<double> v; for (int i = 0; i < 2000000; i++) v.push_back(i * .5); double s = 0; for (double d : v) s += d; std::printf("%g\n", s);
	void *p = aligned_alloc(4096, 8192); std::printf("%d\n", (int)((unsigned long)p & 4095)); p = realloc(p, 1 << 20); free(p); try { std::vector<char> big(1UL << 62); } catch (std::exception &e) { std::printf("%s\n", e.what()); } return 3; }
	END
	g++ -O2 -g leaks.cc -o leaks -pthread
}
run() {
	local l d=/usr/lib/x86_64-linux-gnu p=$SOURCES/foreign/preload/leaks
	for l in libtcmalloc.so.4 libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0 libtcmalloc_and_profiler.so.4; do
		echo $l; LD_PRELOAD=$d/$l "$p" 2>&1 | grep -v 0x; LD_PRELOAD=$d/$l perl -e '@a = map { "x" x $_ } 1 .. 3000; %h = map { $_ => [@a[0 .. $_ % 9]] } 1 .. 3000; print scalar(keys %h), "\n"; fork // die; wait; exit 5'; echo $?
	done
	HEAPCHECK=normal LD_PRELOAD=$d/libtcmalloc.so.4 "$p" 2>&1 | grep -a -c -i -e leak; HEAPPROFILE=$PWD/hp LD_PRELOAD=$d/libtcmalloc.so.4 "$p" >/dev/null 2>&1; ls hp* | wc -l
	CPUPROFILE=cp CPUPROFILE_FREQUENCY=1000 LD_PRELOAD=$d/libprofiler.so.0 "$p" >/dev/null 2>&1; echo $?; [ -s cp ] && echo profile
	MALLOC_CONF=stats_print:true,prof:false,junk:true LD_PRELOAD=$d/libjemalloc.so.2 "$p" 2>&1 | grep -a -c narenas; MIMALLOC_SHOW_STATS=1 LD_PRELOAD=$d/libmimalloc.so.2.0 "$p" 2>&1 | grep -a -c -e segments -e commit
	EF_PROTECT_BELOW=1 LD_PRELOAD=$d/libefence.so.0 perl -e 'print "ef\n"' 2>&1 | tail -n 1; LD_PRELOAD=/usr/lib/libefence.so.0.0 perl -e 'print "ef\n"' 2>&1 | tail -n 1
	fakeroot sh -c 'touch f; chown 5:6 f; mknod n c 1 3; stat -c "%u %g %F %t" f n; id -u; find . -name n | cpio -o --quiet | cpio -tv --quiet | cut -c 1-30; perl -e "exec qw(stat -c %u f)"'; stat -c %u f
	faketime '2020-02-29 12:00:00' date; faketime -f '@2021-01-01 00:00:00 x1000' perl -e '$t = time; sleep 1; print time - $t > 400 ? "fast\n" : "slow\n"'; faketime '2001-01-01' python3 -c 'import datetime; print(datetime.date.today())'; eatmydata perl -e 'open F, ">x"; print F "y"; close F; use IO::Handle; open F, "x"; F->sync; print <F>, "\n"'
	mkdir sw; LD_PRELOAD=libsocket_wrapper.so SOCKET_WRAPPER_DIR=$PWD/sw python3 -c 'import socket, threading
s = socket.create_server(("127.0.0.10", 80)); t = threading.Thread(target=lambda: s.accept()[0].send(b"hello")); t.start(); c = socket.create_connection(("127.0.0.10", 80)); print(c.recv(9), c.getpeername()); t.join()'; ls sw | wc -l
	echo 'joe:x:77:77::/:/bin/sh' >pw; echo 'joe:x:77:' >gr; LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD=pw NSS_WRAPPER_GROUP=gr python3 -c 'import pwd; print(pwd.getpwuid(77), len(pwd.getpwall()))'; LD_PRELOAD=libuid_wrapper.so UID_WRAPPER=1 UID_WRAPPER_ROOT=1 python3 -c 'import os; os.setuid(55); print(os.getuid(), os.geteuid())'; LD_PRELOAD=$d/libstdbuf.so perl -e 'print "x\n"'; fakechroot -- sh -c 'echo in' 2>&1
}
