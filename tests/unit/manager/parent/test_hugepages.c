/* test_hugepages.c - whether text gets huge pages is found out by trying, on file systems
 * made for it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/hugepages.h"

/* The kernel has huge pages for tmpfs, if the mount wants them. */
static bool has_huge_tmpfs(void)
{
	char text[128] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");

	if (f) {
		(void)fgets(text, sizeof(text), f);
		(void)fclose(f);
	}
	return f && !strstr(text, "[deny]") && !strstr(text, "[force]");
}

static int count_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

/* On a tmpfs mounted with `options`, with a program of `mode` in it. */
static int try_on(const char *options, mode_t mode, struct err *err)
{
	char root[] = "/var/tmp/morph-huge-XXXXXX", path[64];

	*err = (struct err){ 0 };
	assert_non_null(mkdtemp(root));
	if (geteuid() != 0 || !has_huge_tmpfs() ||
	    mount("tmpfs", root, "tmpfs", 0, options) < 0) {
		print_message("needs to mount a tmpfs with huge pages\n");
		assert_int_equal(rmdir(root), 0);
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/program", root);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	int before = count_entries("/proc/self/fd"),
	    mapped = count_entries("/proc/self/map_files");
	int rc = hugepages_try(path, err);

	assert_int_equal(count_entries("/proc/self/fd"), before);
	assert_int_equal(count_entries("/proc/self/map_files"), mapped);
	assert_int_equal(count_entries(root), 3);
	assert_int_equal(umount(root), 0);
	assert_int_equal(rmdir(root), 0);
	return rc;
}

static void a_file_system_of_huge_pages_has_them(void **state)
{
	struct err err;

	(void)state;
	if (try_on("huge=always,mode=755,size=16m", 0755, &err) < 0)
		fail_msg("%s", err.text);
}

static void one_of_small_pages_has_none(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(try_on("huge=never,mode=755,size=16m", 0755, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "has no huge pages for text"));
}

static void no_room_for_the_try_is_told(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(try_on("huge=never,mode=755,size=1m", 0755, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_non_null(strstr(err.text, "No space left"));
}

/* As before a swap: who could not have that file swapped cannot have one made beside it. */
static void nothing_is_tried_where_nothing_would_be_swapped(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(try_on("huge=always,mode=777,size=16m", 0755, &err), -1);
	assert_non_null(strstr(err.text, "others can write its directory"));
	assert_int_equal(try_on("huge=always,mode=755,size=16m", 04755, &err), -1);
	assert_non_null(strstr(err.text, "set-id"));
	assert_int_equal(hugepages_try("/var/tmp/no such file", &err), -1);
	assert_int_equal(hugepages_try("relative", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_system_of_huge_pages_has_them),
		cmocka_unit_test(one_of_small_pages_has_none),
		cmocka_unit_test(no_room_for_the_try_is_told),
		cmocka_unit_test(nothing_is_tried_where_nothing_would_be_swapped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
