/* test_dropins.c - a file and what is in the folder beside it become one text, and parts */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/arena.h"
#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/io.h"

enum { MOST = 1 << 16 };

static char root[64];

static void put(const char *name, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static int make(void **state)
{
	char path[128];

	(void)state;
	(void)snprintf(root, sizeof(root), "/tmp/morph-dropins.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("c.yaml", "main\n");
	(void)snprintf(path, sizeof(path), "%s/c.yaml.d", root);
	return mkdir(path, 0755);
}

static int clean(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* NULL: an error. */
static const char *text_of(const char *name, size_t max, struct arena *a, struct err *err)
{
	char path[256];
	struct bytes b;

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	int fd = dropins_open(path, max, err);
	if (fd < 0)
		return NULL;
	assert_int_equal(io_read_all(fd, MOST, a, &b, err), 0);
	close(fd);
	char *text = arena_alloc(a, b.n + 1);
	memcpy(text, b.p, b.n);
	text[b.n] = '\0';
	return text;
}

static void alone_it_is_what_it_is(void **state)
{
	struct arena *a = arena_new();
	struct err err;

	(void)state;
	assert_string_equal(text_of("c.yaml", MOST, a, &err), "main\n");
	put("c.yaml.d/README", "other\n");
	put("c.yaml.d/.hidden.yaml", "other\n");
	put("c.yaml.d/a.yaml.bak", "other\n");
	assert_string_equal(text_of("c.yaml", MOST, a, &err), "main\n");
	assert_null(text_of("none.yaml", MOST, a, &err));
	assert_non_null(strstr(err.text, "none.yaml': open: No such file"));
	arena_free(a);
}

static void parts_come_by_name_and_are_found_again(void **state)
{
	static const char *const name[] = { "c.yaml", "c.yaml.d/10-b.yaml",
					    "c.yaml.d/9-a.yaml" };
	static const char *const want[] = { "main\n", "", "no end\n" };
	struct arena *a = arena_new();
	char got[DROPINS_NAME_MAX], path[256];
	struct err err;

	(void)state;
	put("c.yaml.d/9-a.yaml", "no end");
	put("c.yaml.d/10-b.yaml", "");
	const char *text = text_of("c.yaml", MOST, a, &err);
	struct bytes rest = { (const uint8_t *)text, strlen(text) };
	for (int i = 0; i < 3; i++) {
		struct bytes part = dropins_part(&rest, got);

		(void)snprintf(path, sizeof(path), "%s/%s", root, name[i]);
		assert_string_equal(got, path);
		assert_int_equal(part.n, strlen(want[i]));
		assert_memory_equal(part.p, want[i], part.n);
	}
	assert_int_equal(rest.n, 0);
	arena_free(a);
}

static void a_text_without_parts_is_one(void **state)
{
	static const char plain[] = "---\n# file: x\na: 1\n";
	struct bytes rest = { (const uint8_t *)plain, strlen(plain) };
	char name[DROPINS_NAME_MAX] = "mine";

	(void)state;
	assert_int_equal(dropins_part(&rest, name).n, strlen(plain));
	assert_int_equal(rest.n, 0);
	assert_string_equal(name, "mine");
}

static void what_cannot_be_read_is_named(void **state)
{
	struct arena *a = arena_new();
	char path[256];
	struct err err;

	(void)state;
	put("c.yaml.d/a.yaml", "0123456789");
	assert_null(text_of("c.yaml", 60, a, &err));
	assert_non_null(strstr(err.text, "a.yaml'"));
	put("c.yaml.d/a.yaml", "x\n--- # file: /etc/other\n");
	assert_null(text_of("c.yaml", MOST, a, &err));
	assert_non_null(strstr(err.text, "a.yaml': a line begins with '--- # file: '"));
	put("c.yaml.d/a.yaml", "");
	(void)snprintf(path, sizeof(path), "%s/c.yaml.d/b.yaml", root);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_null(text_of("c.yaml", MOST, a, &err));
	assert_non_null(strstr(err.text, "b.yaml': not a regular file"));
	for (int i = 0; i < DROPINS_MAX; i++) {
		char one[64];

		(void)snprintf(one, sizeof(one), "c.yaml.d/n%d.yaml", i);
		put(one, "");
	}
	assert_null(text_of("c.yaml", MOST, a, &err));
	assert_non_null(strstr(err.text, "more than 64 files"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone_it_is_what_it_is, make, clean),
		cmocka_unit_test_setup_teardown(parts_come_by_name_and_are_found_again, make,
						clean),
		cmocka_unit_test(a_text_without_parts_is_one),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, make, clean),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
