/* branches.c - a small program without libc that takes branches of all kinds, some thousand
 * times; tests/e2e/branches.sh traces it */
typedef unsigned long word;

static volatile word sink;

__attribute__((noinline)) static word leaf(word x)
{
	return x % 3 ? x * 2654435761u : x + 17;
}

__attribute__((noinline)) static word other(word x)
{
	word n = 0;

	while (x) {
		n += x & 1;
		x >>= 1;
	}
	return n;
}

__attribute__((noinline)) static word chosen(word x)
{
	switch (x % 7) {
	case 0: return leaf(x);
	case 1: return other(x);
	case 2: return x ^ 0x5555;
	case 3: return leaf(x) + other(x);
	case 4: return x << 3;
	case 5: return ~x;
	default: return 1;
	}
}

/* Part of the time only: moved by a profile, and partly left. */
__attribute__((noinline)) static word rarely(word x)
{
	return x > 5 ? chosen(x / 2) : 0;
}

int run(void)
{
	static word (*const pointed[])(word) = { leaf, other, chosen };
	word x = 1;

	for (word i = 0; i < 300; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		sink += pointed[x >> 60 & 1 ? 2 : i % 2](x >> 33);
		if (x >> 56 < 9)
			sink += rarely(i);
	}
	return sink == 12345;
}

__attribute__((naked, noreturn)) void _start(void)
{
	__asm__("xor %ebp, %ebp\n\t"
		"and $-16, %rsp\n\t"
		"call run\n\t"
		"mov %eax, %edi\n\t"
		"mov $60, %eax\n\t"
		"syscall\n\t"
		"hlt");
}
