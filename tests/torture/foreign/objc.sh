# objc.sh - a program in Objective-C: exceptions, classes replaced at run time, methods compared, blocks of C++
packages="gobjc++-12"
build() {
	cat >moved.mm <<-'END'
	#include <objc/runtime.h>
	#include <objc/Object.h>
	#include <objc/objc-exception.h>
	#include <stdio.h>
	#include <stdexcept>
	@interface A : Object { int n; } + (id)make:(int)k; - (int)value; - (int)other:(double)d; @end
	@implementation A + (id)make:(int)k { A *a = class_createInstance(self, 0); a->n = k; return a; } - (int)value { return n; } - (int)other:(double)d { return (int)(d * n); } @end
	@interface B : A @end @implementation B - (int)value { return [super value] * 2; } @end
	static int swapped(id s, SEL c) { return 77; }
	static void deep(int n) { @try { if (n == 0) @throw [A make:7]; deep(n - 1); } @finally { printf("f%d ", n); } }
	int main() { A *a = [A make:5]; B *b = [B make:6]; printf("%d %d %d\n", [a value], [b value], [b other:1.5]);
	@try { deep(4); } @catch (B *e) { printf("wrong\n"); } @catch (A *e) { printf("caught %d\n", [e value]); } try { @try { throw std::runtime_error("cxx"); } @finally { printf("fin "); } } catch (std::exception &e) { printf("%s\n", e.what()); }
	Method m = class_getInstanceMethod([A class], @selector(value)); IMP o = method_getImplementation(m); printf("%d\n", o == class_getMethodImplementation([A class], @selector(value))); IMP q = method_setImplementation(m, (IMP)swapped); printf("%d %d %d\n", q == o, [a value], [b value]); method_setImplementation(m, o); printf("%d\n", [a value]);
	method_exchangeImplementations(m, class_getInstanceMethod([B class], @selector(value))); printf("%d\n", [a value]); unsigned n; Method *l = class_copyMethodList([A class], &n); printf("%u %s\n", n, sel_getName(method_getName(l[0])) ? "named" : ""); int s = 0; for (int i = 0; i < 1000000; i++) s += [a other:i]; printf("%d\n", s); @throw a; }
	END
	g++-12 -x objective-c++ -O2 -fobjc-exceptions moved.mm -o moved -lobjc && g++-12 -x objective-c++ -O0 -fobjc-exceptions moved.mm -o moved_0 -lobjc
}
files() { built objc build || return; with_libraries "$SOURCES"/foreign/objc/moved{,_0}; }
run() {
	local p i
	for p in moved moved_0; do for i in 1 2 3 4 5; do "$SOURCES/foreign/objc/$p" 2>&1; echo "$p $?"; done; done
}
