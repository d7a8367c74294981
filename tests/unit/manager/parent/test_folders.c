/* test_folders.c - which paths the parent touches at all */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/err.h"
#include "manager/parent/folders.h"

static void usual_folders_are_allowed(void **state)
{
	static const char *const path[] = {
		"/usr/bin/perl", "/bin/sh", "/sbin/init", "/lib/x.so", "/lib64/ld.so",
		"/opt/x/y", "/srv/x", "/home/u/bin/x", "/usr/lib/.hidden/..x/x.so", "/lib32/x",
		"/libx32/x", "/snap/x/1/y", "/var/lib/flatpak/x", "/nix/store/x",
		"/gnu/store/x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		assert_int_equal(folders_check("", path[i], NULL), 0);
}

static void others_are_not(void **state)
{
	static const char *const path[] = {
		"/root/x", "/var/lib/x", "/var/tmp/x", "/tmp/x", "/etc/x", "/proc/self/exe",
		"/dev/zero", "/sys/x", "/run/x", "/x", "/usrx/y", "/usr", "/boot/x",
		"/var/lib/flatpakx/x", "/var/lib/morph/x",
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		assert_int_equal(folders_check("", path[i], &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		assert_non_null(strstr(err.text, "not in a folder for programs"));
	}
}

static void a_path_has_one_spelling(void **state)
{
	static const char *const path[] = {
		"", "usr/bin/x", "/", "//usr/x", "/usr//x", "/usr/./x", "/usr/../etc/x",
		"/usr/bin/..", "/usr/bin/.", "/usr/bin/", "/./usr/x", "/../usr/x",
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		assert_int_equal(folders_check("/", path[i], &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
	}
}

static void the_command_line_adds_folders(void **state)
{
	static const struct {
		const char *more, *path;
		int rc;
	} try[] = {
		{ "/a", "/a/x", 0 },	     { "/a/", "/a/x", 0 },    { "/a", "/ab/x", -1 },
		{ "/a:/b", "/b/x", 0 },	     { "/a:/b", "/c/x", -1 }, { "/a::/b", "/b/x", 0 },
		{ "a:/b", "/a/x", -1 },	     { ":", "/a/x", -1 },     { "/a/b", "/a/x", -1 },
		{ "/a/b:", "/a/b/c/x", 0 },  { "/", "/anything", 0 }, { "/a:", "/x", -1 },
		{ "/a", "/a", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(try) / sizeof(try[0]); i++)
		if (folders_check(try[i].more, try[i].path, NULL) != try[i].rc)
			fail_msg("%s: %s", try[i].more, try[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_folders_are_allowed),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(a_path_has_one_spelling),
		cmocka_unit_test(the_command_line_adds_folders),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
