/* test_derived.c - a newer version of a program is not a generation of the old one, whatever
 * the block map says, which the manager gives
 *
 * That it is one whatever was done to it is in tests/e2e/undo.sh and upgrade.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "binary/image.h"
#include "editor/cmd/cmd.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"

static int bytes_file(struct bytes b)
{
	int fd = memfd_create("test", 0);

	assert_int_equal(write(fd, b.p, b.n), b.n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* The exit code of the job, in a process that it confines. */
static int derived(struct bytes original, struct bytes file, const struct blockmap *map)
{
	struct wr w = { 0 };
	char text[3][16], name[] = "derived", *argv[5] = { name };
	int fd[3], status;

	blockmap_write(map, &w);
	fd[0] = bytes_file(original);
	fd[1] = bytes_file(file);
	fd[2] = bytes_file(wr_bytes(&w));
	for (int i = 0; i < 3; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "fd:%d", fd[i]);
		argv[i + 1] = text[i];
	}
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(1);
		optind = 0;
		_exit(cmd_derived(4, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	wr_free(&w);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What jumps in both versions is said to be an entry, and where that leads to be new text. */
static void a_newer_version_is_no_generation(void **state)
{
	struct arena *a = arena_new();
	struct bytes old = asm_build("derived", "-static", a);
	struct bytes newer = asm_build("derived", "-static -Wa,--defsym,NEWER=1", a);
	uint32_t entry = 0;
	struct image img;
	struct err err;

	(void)state;
	assert_int_equal(image_parse(old, a, &img, &err), 0);
	const struct section *text = image_section(&img, ".text");
	assert_non_null(text);
	vaddr at = text->h.sh_addr;
	struct blockmap map = { .generation = 1, .original = digest_of(old), .orig_base = at,
				.gen_base = at + 5 + 256, .hot_size = 1, .nentry = 1,
				.entry = &entry };
	assert_int_equal(derived(old, newer, &map), 3);
	map.gen_base = at - 1;			/* beyond it, too */
	map.hot_size = 4096;
	assert_int_equal(derived(old, newer, &map), 3);
	map.gen_base = 0;
	map.hot_size = UINT32_MAX;
	assert_int_equal(derived(old, newer, &map), 3);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_newer_version_is_no_generation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
