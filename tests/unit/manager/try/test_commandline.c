/* test_commandline.c - which program a command line starts */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/commandline.h"
#include "manager/try/folder.h"

static char *dir;

static void put(const char *name, const char *text, mode_t mode)
{
	char *path = folder_path(dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

/* "PROGRAM: WORDS", or the reason, with the folder's name left out. */
static const char *resolved(const char *first, const char *second)
{
	static char out[4096];
	char a[512], b[] = "arg", *argv[3] = { a, second ? b : NULL, NULL };
	struct commandline c;
	struct err err;

	(void)snprintf(a, sizeof(a), "%s", first);
	if (commandline_resolve(argv, &c, &err) < 0) {
		(void)snprintf(out, sizeof(out), "failed: %s", err.text);
	} else {
		int n = snprintf(out, sizeof(out), "%s:", c.program);

		for (int i = 0; c.argv[i]; i++)
			n += snprintf(out + n, sizeof(out) - (size_t)n, " %s", c.argv[i]);
		commandline_free(&c);
	}
	for (char *p; (p = strstr(out, dir)); )
		memmove(p, p + strlen(dir), strlen(p + strlen(dir)) + 1);
	return out;
}

static int begin(void **state)
{
	struct err err;
	char text[1024];

	(void)state;
	dir = folder_make("morph-try", &err);
	assert_non_null(dir);
	put("program", "\177ELF", 0755);
	put("data", "x", 0644);
	(void)snprintf(text, sizeof(text), "#!%s/program\nrest", dir);
	put("script", text, 0755);
	put("closed", text, 0644);
	(void)snprintf(text, sizeof(text), "#! \t%s/program  -w -x \t\n", dir);
	put("spaced", text, 0755);
	(void)snprintf(text, sizeof(text), "#!%s/script\n", dir);
	put("twice", text, 0755);
	(void)snprintf(text, sizeof(text), "#!%s/loop\n", dir);
	put("loop", text, 0755);
	put("empty", "#!\n", 0755);
	put("unfinished", "#!/bin/sh", 0755);
	put("nowhere", "#!/nowhere/at/all\n", 0755);
	char *link = folder_path(dir, "link");
	assert_int_equal(symlink("program", link), 0);
	free(link);
	return chdir(dir) < 0 || setenv("PATH", dir, 1) < 0 ? -1 : 0;
}

static int end(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(folder_remove(dir, &err), 0);
	assert_int_equal(access(dir, F_OK), -1);
	free(dir);
	return 0;
}

static void programs_are_found(void **state)
{
	(void)state;
	assert_string_equal(resolved("program", "arg"), "/program: program arg");
	assert_string_equal(resolved("./program", NULL), "/program: ./program");
	assert_string_equal(resolved("link", NULL), "/program: link");
}

static void others_are_not(void **state)
{
	(void)state;
	assert_non_null(strstr(resolved("absent", NULL), "'absent': No such file"));
	assert_non_null(strstr(resolved("data", NULL), "failed"));
	assert_non_null(strstr(resolved("./data", NULL), "failed"));
	assert_non_null(strstr(resolved("./closed", NULL), "'./closed': Permission denied"));
	assert_non_null(strstr(resolved(".", NULL), "'.': "));
	assert_non_null(strstr(resolved("nowhere", NULL), "failed"));
	assert_non_null(strstr(resolved("loop", NULL), "failed"));
}

static void scripts_start_their_interpreter(void **state)
{
	(void)state;
	assert_string_equal(resolved("script", "arg"), "/program: /program /script arg");
	assert_string_equal(resolved("./script", NULL), "/program: /program ./script");
	assert_string_equal(resolved("spaced", "arg"),
			    "/program: /program -w -x /spaced arg");
	assert_string_equal(resolved("twice", NULL), "/program: /program /script /twice");
}

static void what_only_looks_like_one_is_a_program(void **state)
{
	(void)state;
	assert_string_equal(resolved("empty", NULL), "/empty: empty");
	assert_string_equal(resolved("unfinished", NULL), "/unfinished: unfinished");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(scripts_start_their_interpreter),
		cmocka_unit_test(what_only_looks_like_one_is_a_program),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
