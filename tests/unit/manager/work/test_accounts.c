/* Who has an account, by a file made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "manager/work/accounts.h"

static char host[64];

static const char *in_host(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", host, name);
	return path;
}

static void write_accounts(const char *text)
{
	FILE *f = fopen(in_host("etc/passwd"), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(host, "/tmp/morph-accounts.XXXXXX");
	return mkdtemp(host) && mkdir(in_host("etc"), 0700) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(in_host("etc/passwd"));	/* it may not be there */
	return rmdir(in_host("etc")) == 0 ? rmdir(host) : -1;
}

static void accounts_are_known_and_people_told_apart(void **state)
{
	struct accounts a = { 0 };

	(void)state;
	write_accounts("root:x:0:0:root:/root:/bin/bash\n"
		       "ann:x:1001:1001::/home/ann:/bin/bash\n"
		       "www-data:x:33:33::/var/www:/usr/sbin/nologin\n"
		       "ann2:x:1001:1001::/home/ann:/bin/sh\n"
		       "not a line\n"
		       "bob:x:1000:1000::/home/bob:/bin/bash\n"
		       "nobody:x:65534:65534::/:/usr/sbin/nologin\n");
	accounts_read(&a, host);
	assert_int_equal(a.n, 5);
	for (uint32_t i = 1; i < a.n; i++)
		assert_true(a.uid[i - 1] < a.uid[i]);
	assert_true(accounts_has(&a, 0) && accounts_has(&a, 33) && accounts_has(&a, 65534));
	assert_false(accounts_has(&a, 1) || accounts_has(&a, 1002) ||
		     accounts_has(&a, 100000) || accounts_has(&a, UINT32_MAX));
	assert_int_equal(a.nperson, 2);
	assert_int_equal(a.person[0], 1000);
	assert_int_equal(a.person[1], 1001);
	write_accounts("root:x:0:0:root:/root:/bin/bash\n");
	accounts_read(&a, host);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.nperson, 0);
	write_accounts("ann:x:1001:1001::/home/ann:/bin/bash\n");	/* nobody before her */
	accounts_read(&a, host);
	assert_int_equal(a.nperson, 1);
	assert_int_equal(a.person[0], 1001);
	accounts_free(&a);
}

static void without_a_file_nobody_has_one(void **state)
{
	struct accounts a = { 0 };

	(void)state;
	(void)unlink(in_host("etc/passwd"));
	accounts_read(&a, host);
	assert_int_equal(a.n, 0);
	assert_false(accounts_has(&a, 0));
	accounts_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_are_known_and_people_told_apart),
		cmocka_unit_test(without_a_file_nobody_has_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
