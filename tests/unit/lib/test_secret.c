/* What secret memory is: not dumped, not inherited, gone with its contents when it is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/secret.h"
#include "lib/wr.h"

/* The kernel's flags of the mapping that holds the address, with a blank on both sides. */
static bool flags_of(const void *p, char out[256])
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long from, to;
	bool here = false, got = false;

	assert_non_null(f);
	while (!got && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			got = snprintf(out, 256, " %.200s", line + 8) > 0;
	}
	(void)fclose(f);
	return got;
}

static void assert_secret(const void *p)
{
	char flags[256];

	assert_true(flags_of(p, flags));
	assert_non_null(strstr(flags, " dd "));	/* MADV_DONTDUMP */
	assert_non_null(strstr(flags, " dc "));	/* MADV_DONTFORK */
}

static bool is_mapped(void *p)
{
	unsigned char in;

	return mincore(p, 4096, &in) == 0;
}

static void it_is_in_no_core_file_and_in_no_child(void **state)
{
	int status;

	(void)state;
	char *p = secret_new(10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(p[i], 0);
	assert_secret(p);
	assert_secret(p + 9999);
	pid_t pid = fork();
	if (pid == 0)
		_exit(is_mapped(p));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	secret_free(p, 10000);
	assert_false(is_mapped(p));
}

static void what_grows_moves_whole_and_stays_secret(void **state)
{
	size_t held = secret_held(), n = 100;

	(void)state;
	unsigned char *p = secret_grow(NULL, 0, n), *first = p;
	memset(p, 7, n);
	/* something behind it, so that it cannot grow in place */
	while (n < (16 << 20)) {
		void *behind = mmap(p + (n + 4095) / 4096 * 4096, 4096, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		p = secret_grow(p, n, 2 * n);
		n *= 2;
		if (behind != MAP_FAILED)
			munmap(behind, 4096);
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], i < 100 ? 7 : 0);
	assert_secret(p);
	assert_secret(p + n - 1);
	assert_ptr_not_equal(p, first);
	assert_false(is_mapped(first));		/* no copy was left where it was */
	assert_true(secret_held() >= held + n);
	secret_free(p, n);
	assert_int_equal(secret_held(), held);
	secret_free(NULL, 0);
	assert_int_equal(secret_held(), held);
}

static void a_buffer_can_be_of_it(void **state)
{
	size_t held = secret_held();
	struct wr w = { .secret = true }, other = { 0 };
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 1000; i++)
		wr_raw(&w, text, sizeof(text));
	assert_int_equal(w.n, sizeof(text) * 1000);
	for (size_t i = 0; i < w.n; i++)
		assert_int_equal(w.p[i], 'x');
	assert_secret(w.p);
	wr_move(&other, &w);
	assert_secret(other.p);
	uint8_t *was = other.p;
	wr_free(&other);
	assert_false(is_mapped(was));
	assert_int_equal(secret_held(), held);
	wr_u8(&other, 1);			/* still a secret one */
	assert_secret(other.p);
	wr_free(&other);
}

static uintptr_t left;

static __attribute__((noinline)) void leave(void)
{
	char local[4096];

	memset(local, 's', sizeof(local));
	left = (uintptr_t)local + 2000;
	__asm__ volatile("" : : "r"(local) : "memory");
}

static __attribute__((noinline)) int looked_at(void)
{
	return *(volatile const char *)left;
}

static void the_stack_below_is_wiped(void **state)
{
	(void)state;
	leave();
	secret_wipe_stack();
	assert_int_not_equal(looked_at(), 's');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_in_no_core_file_and_in_no_child),
		cmocka_unit_test(what_grows_moves_whole_and_stays_secret),
		cmocka_unit_test(a_buffer_can_be_of_it),
		cmocka_unit_test(the_stack_below_is_wiped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
