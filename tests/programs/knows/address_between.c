/* address_between.c - is it a pointer to one of these functions?  By labels in front of them
 * and behind, as they are or rounded to pages, or by the first of them and the last */
#include <stdint.h>
#include <stdio.h>

/* Nothing else is in their pages. */
#define FUNCTION(name, n) \
	"\t.type " name ", @function\n" \
	name ":\n" \
	"\t.cfi_startproc\n" \
	"\tleal " n "(%rdi), %eax\n" \
	"\tnopl 0(%rax)\n" \
	"\tret\n" \
	"\t.cfi_endproc\n" \
	"\t.size " name ", . - " name "\n"
__asm__(".text\n"
	"\t.p2align 4\n"
	"\t.skip 8192, 0xcc\n"
	"row_start:\n"
	"\tud2\n"
	FUNCTION("row_first", "1")
	FUNCTION("row_middle", "2")
	FUNCTION("row_last", "3")
	"row_end:\n"
	"\t.skip 8192, 0xcc\n"
	FUNCTION("few_first", "4")
	FUNCTION("few_middle", "5")
	FUNCTION("few_last", "6")
	"\t.p2align 4");

#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const char row_start[], row_end[];
HIDDEN int row_first(int), row_middle(int), row_last(int);
HIDDEN int few_first(int), few_middle(int), few_last(int);

int (*volatile inside)(int) = row_middle;
int (*volatile others[])(int) = { row_first, row_last };
int (*volatile among)(int) = few_middle;
int (*volatile outside)(const char *) = puts;

enum { PAGE = 4096 };

__attribute__((noinline, noclone)) int is_in_row(uintptr_t p)
{
	return p >= (uintptr_t)row_start && p < (uintptr_t)row_end;
}

__attribute__((noinline, noclone)) int is_in_pages(uintptr_t p)
{
	uintptr_t from = (uintptr_t)row_start & -(uintptr_t)PAGE;
	uintptr_t to = ((uintptr_t)row_end + PAGE - 1) & -(uintptr_t)PAGE;

	return p >= from && p < to;
}

__attribute__((noinline, noclone)) int is_among(uintptr_t p)
{
	return p - (uintptr_t)few_first < (uintptr_t)few_last - (uintptr_t)few_first;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++) {
		uintptr_t p = (uintptr_t)inside, q = (uintptr_t)among;

		sum += is_in_row(p) + is_in_pages(p) + is_among(q);
		sum += inside(i & 3) + among(i & 7) + others[i & 1](i & 7);
	}
	printf("%d %d %d %d\n", sum, is_in_row((uintptr_t)outside),
	       is_in_pages((uintptr_t)outside), is_among((uintptr_t)outside));
	return 0;
}
