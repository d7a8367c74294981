/* flow_string.c - data behind a call, whose return address is popped as that of the data */
#include <stdio.h>
#include <string.h>

/* Steps over the red zone. */
#define BEHIND_CALL(s, p) \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n" \
			 "call 1f\n" \
			 ".asciz \"" s "\"\n" \
			 "1: pop %0\n" \
			 "lea 128(%%rsp), %%rsp\n" : "=r"(p) : : "memory")

#define FUNCTION(name, s) \
	__attribute__((noinline)) static const char *name(unsigned n) \
	{ \
		const char *p = "none"; \
\
		if (n % 3) \
			BEHIND_CALL(s, p); \
		return n % 7 ? p : "seven"; \
	}

FUNCTION(text, "hello")
FUNCTION(longer, "what stands behind a call")
/* these are code as well, with returns in it and nopl (%rax) at the end */
FUNCTION(code, "P\\303Q\\303\\017\\037")
FUNCTION(more_code, "XP\\303\\220\\220QR\\303\\017\\037")

int main(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 20000; i++) {
		const char *s = (i & 1 ? i & 2 ? text : longer : i & 2 ? code : more_code)(i);

		for (size_t k = strlen(s); k > 0; k--)
			sum = sum * 31 + (unsigned char)s[k - 1];
	}
	printf("%u %s %s\n", sum, text(1), longer(1));
	return 0;
}
