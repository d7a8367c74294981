/* test_install_file.c - attributes of a file are copied, or it is told that they are not */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/xattr.h>

#define PLACE_ROOT "/dev/shm"

#include "tests/unit/inject.h"
#include "tests/unit/place.h"

enum { NOBODY = 65534 };

static const struct {
	const char *name, *value;
} attribute[] = { { "trusted.one", "yes" }, { "trusted.two", "" }, { "trusted.three", "3" } };
enum { N = sizeof(attribute) / sizeof(attribute[0]) };

struct copy {
	int from, to;
	struct stat st;
};

static int do_copy(void *ctx)
{
	const struct copy *c = ctx;
	struct err err = { 0 };

	if (install_copy_attributes(c->from, &c->st, c->to, &err) == 0)
		return 0;
	return err.text[0] ? -1 : 0;
}

static void check_copy(const struct copy *c)
{
	struct stat st;
	char value[4];

	assert_int_equal(fstat(c->to, &st), 0);
	assert_int_equal(st.st_mode, c->st.st_mode);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, NOBODY);
	assert_int_equal(st.st_mtim.tv_sec, c->st.st_mtim.tv_sec);
	assert_int_equal(st.st_mtim.tv_nsec, c->st.st_mtim.tv_nsec);
	for (int i = 0; i < N; i++) {
		size_t n = strlen(attribute[i].value);

		assert_int_equal(fgetxattr(c->to, attribute[i].name, value, sizeof(value)), n);
		assert_memory_equal(value, attribute[i].value, n);
	}
}

/* A file of somebody else's, with attributes; false: only root may, and not everywhere. */
static bool give_attributes(int fd)
{
	for (int i = 0; i < N; i++)
		if (fsetxattr(fd, attribute[i].name, attribute[i].value,
			      strlen(attribute[i].value), 0) < 0)
			return false;
	return fchown(fd, NOBODY, NOBODY) == 0;
}

/* None is lost without a word. */
static void attributes_are_copied_or_that_fails(void **state)
{
	unsigned failed = 0;
	bool can;

	(void)state;
	for (int fault = FAULT_ENOSPC; fault <= FAULT_EINTR; fault++) {
		struct injected i = { 0 };

		do {
			struct place p = place_new();
			struct copy c = { .from = open(p.path, O_RDONLY),
					  .to = open(p.gen, O_RDWR) };

			assert_true(c.from >= 0 && c.to >= 0);
			can = give_attributes(c.from);
			assert_int_equal(fstat(c.from, &c.st), 0);
			if (can)
				i = inject((enum fault)fault, i.n + 1, do_copy, &c);
			failed += i.exit_code != 0;
			if (can && i.exit_code == 0)
				check_copy(&c);
			close(c.from);
			close(c.to);
			place_free(&p);
		} while (i.reached);
		if (!can)
			skip();
		assert_int_equal(i.exit_code, 0);
	}
	assert_true(failed > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_copied_or_that_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
