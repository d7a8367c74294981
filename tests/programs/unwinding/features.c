/* features.c - what moved C code meets: longjmp, thread-local data, IFUNC, computed jumps */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "trail.h"

static jmp_buf out;
static _Thread_local int local = 3;
static _Thread_local char zero[300];

NOINLINE static void jumper(int depth, int n)
{
	volatile char room[64];

	room[0] = (char)depth;
	if (depth == 0)
		longjmp(out, n);
	jumper(depth - 1, n);
	room[1] = room[0];
}

NOINLINE static int jumps(int n)
{
	volatile int kept = n;
	int got = setjmp(out);

	mark_number("set", got);
	kept++;
	if (got < 3)
		jumper(opaque(5), got + 1);
	return kept;
}

static int compare(const void *a, const void *b)
{
	if (*(const int *)a == 3)
		longjmp(out, 1);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void from_callback(void)
{
	int v[] = { 3, 2, 1, 3 };

	if (setjmp(out) == 0)
		qsort(v, 4, sizeof(v[0]), compare);
	else
		mark("left qsort");
}

static int plain(int x) { return x + 1; }
static int special(int x) { return x + 2; }
__attribute__((used)) static int (*choose(void))(int)
{
	 return opaque(1) ? special : plain;
}
int chosen(int x) __attribute__((ifunc("choose")));

static void *thread(void *arg)
{
	local += *(int *)arg;
	zero[opaque(20)] = (char)local;
	return (void *)(long)(local + zero[20]);
}

NOINLINE static int interpret(const unsigned char *code)
{
	static void *const label[] = { &&add, &&twice, &&less, &&skip, &&end };
	int x = 1;

#define NEXT goto *label[*code++]
	NEXT;
add:	x += 5;
	NEXT;
twice:	x *= 2;
	NEXT;
less:	x -= 3;
	NEXT;
skip:	if (x > 20)
		code++;
	NEXT;
end:	return x;
}

NOINLINE static int many_ways(int op, int x)
{
	switch (op) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x ^ 0x55;
	case 3: return jumps(x);
	case 4: return x - 7;
	case 5: return ~x;
	case 6: return chosen(x);
	case 7: abort();
	case 11: return x % 9;
	default: return 0;
	}
}

NOINLINE static long vla(int n)
{
	long v[n], sum = 0;

	for (int i = 0; i < n; i++)
		v[i] = i * n;
	for (int i = 0; i < n; i++)
		sum += v[n - 1 - i] ^ i;
	return sum;
}

struct big { char text[100]; };
NOINLINE static struct big by_value(struct big b, int n)
{
	b.text[n] = 'x';
	return b;
}

int main(void)
{
	static const unsigned char code[] = { 0, 1, 1, 3, 4, 2, 2, 0, 1, 4 };
	struct big b = { "aaaaaaaaaaaaaaa" };
	pthread_t t;
	void *result;
	int n = 4;

	mark_number("=", jumps(opaque(10)));
	expect("longjmp", "set0 set1 set2 set3 =14");
	from_callback();
	expect("longjmp from a callback", "left qsort");
	if (pthread_create(&t, NULL, thread, &n) || pthread_join(t, &result))
		return 2;
	mark_number("thread", (long)result);
	mark_number("main", local + zero[20]);
	expect("thread-local", "thread14 main3");
	mark_number("ifunc", chosen(opaque(5)));
	expect("ifunc", "ifunc7");
	mark_number("=", interpret(code));
	expect("computed goto", "=46");
	for (int op = 0; op < 13; op++)
		if (op != 7)
			mark_number("", many_ways(opaque(op), op * 11 + 1));
	expect("switch", "2 36 66 set0 set1 set2 set3 38 38 -57 69 0 0 0 5 0");
	mark_number("=", vla(opaque(20)));
	mark(by_value(b, opaque(3)).text);
	expect("large values", "=3830 aaaxaaaaaaaaaaa");
	return trail_end();
}
