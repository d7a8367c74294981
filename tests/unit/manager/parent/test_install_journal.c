/* test_install_journal.c - journals as files: what is written is read, and nothing else is
 *
 * Texts that nobody wrote have a right checksum here: it tells damage, not who made it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/sumtext.h"

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define HEAD "morph-journal 2\nfrom " DIGEST "\nto " DIGEST "\n"
#define TAIL "directory 7 18446744073709551615\ntemporary .morph-0a9vbk\npath /usr/bin/x\n"

static int originals;

static int into_a_folder(void **state)
{
	char path[] = "/tmp/morph-journal-XXXXXX";

	(void)state;
	originals = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return originals < 0;
}

static int out_of_it(void **state)
{
	char link[32], path[64];
	ssize_t n;

	(void)state;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", originals);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	close(originals);
	return rmdir(path);	/* nothing is left in it */
}

static void put(const char *name, const char *text)
{
	struct sumtext s = { .n = 0 };

	sumtext_add(&s, "%s", text);
	sumtext_close(&s);
	assert_int_equal(sumtext_write(originals, name, "new", &s, NULL), 0);
}

static struct install_journal example(void)
{
	struct install_journal j = { .owner = 4294967294, .dev = 7, .inode = UINT64_MAX,
				     .temporary = ".morph-0a9vbk" };

	assert_int_equal(digest_from_hex(DIGEST, &j.from), 0);
	assert_int_equal(digest_from_hex(DIGEST, &j.to), 0);
	j.to.b[31] ^= 1;
	(void)snprintf(j.path, sizeof(j.path), "/usr/bin/a name\xff with blanks ");
	return j;
}

static void assert_same(const struct install_journal *x, const struct install_journal *y)
{
	assert_memory_equal(&x->from, &y->from, sizeof(x->from));
	assert_memory_equal(&x->to, &y->to, sizeof(x->to));
	assert_int_equal(x->owner, y->owner);
	assert_int_equal(x->dev, y->dev);
	assert_int_equal(x->inode, y->inode);
	assert_string_equal(x->temporary, y->temporary);
	assert_string_equal(x->path, y->path);
}

static void what_is_written_is_read(void **state)
{
	struct install_journal j = example(), k = { .owner = 1 };
	struct err err;
	struct stat st;

	(void)state;
	assert_int_equal(install_journal_read(originals, "journal-0a9vbk", &k, &err), 0);
	assert_int_equal(k.owner, 1);		/* untouched */
	assert_int_equal(install_journal_write(originals, &j, &err), 0);
	assert_int_equal(fstatat(originals, "journal-0a9vbk", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(install_journal_read(originals, "journal-0a9vbk", &k, &err), 1);
	assert_same(&j, &k);
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbk", &err), 0);
	assert_int_equal(faccessat(originals, "journal-0a9vbk", F_OK, 0), -1);
	/* who is interrupted removes it again */
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbk", &err), 0);
	assert_int_equal(install_journal_remove(-1, "journal-0a9vbk", &err), -1);
	assert_int_equal(install_journal_read(-1, "journal-0a9vbk", &k, &err), -1);
}

static void a_path_is_one_line_of_any_length(void **state)
{
	struct install_journal j = example(), k;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(j.path) - 1; i++)
		j.path[i] = i % 200 ? 'x' : '/';
	j.path[sizeof(j.path) - 1] = '\0';
	assert_int_equal(install_journal_write(originals, &j, &err), 0);
	assert_int_equal(install_journal_read(originals, "journal-0a9vbk", &k, &err), 1);
	assert_same(&j, &k);
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbk", &err), 0);
	j.path[9] = '\n';
	assert_int_equal(install_journal_write(originals, &j, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(faccessat(originals, "journal-0a9vbk", F_OK, 0), -1);
}

static void what_nobody_wrote_is_damaged(void **state)
{
	static const char *const text[] = {
		"",
		"morph-journal 3\nfrom " DIGEST "\nto " DIGEST "\nowner 5\n" TAIL,
		"morph-journal 1\nfrom " DIGEST "\nto " DIGEST "\nowner 5\n" TAIL,
		"morph-journal 2\nto " DIGEST "\nfrom " DIGEST "\nowner 5\n" TAIL,
		"morph-journal 2\nfrom 0" DIGEST "\nto " DIGEST "\nowner 5\n" TAIL,
		"morph-journal 2\nfrom " DIGEST "\nto 0123\nowner 5\n" TAIL,
		HEAD,
		HEAD TAIL,
		HEAD "owner \n" TAIL,
		HEAD "owner x\n" TAIL,
		HEAD "owner 05\n" TAIL,
		HEAD "owner 4294967296\n" TAIL,
		HEAD "owner -1\n" TAIL,
		HEAD "owner 5 \n" TAIL,
		HEAD "owner 5\n",
		HEAD "owner 5\ndirectory 7\ntemporary .morph-0a9vbk\npath /x\n",
		HEAD "owner 5\ndirectory 7 +8\ntemporary .morph-0a9vbk\npath /x\n",
		HEAD "owner 5\ndirectory 7 8 9\ntemporary .morph-0a9vbk\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vb\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbkk\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .Morph-0a9vbk\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbw\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-/a9vbk\npath /x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbk\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbk\npath x\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbk\npath /x/../y\n",
		HEAD "owner 5\ndirectory 7 8\ntemporary .morph-0a9vbk\npath /x\nmore\n",
	};
	struct install_journal j = { .owner = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct err err = { 0 };

		put("journal-0a9vbk", text[i]);
		if (install_journal_read(originals, "journal-0a9vbk", &j, &err) != -1)
			fail_msg("read: %s", text[i]);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(j.owner, 1);
	}
	put("journal-0a9vbk", HEAD "owner 5\n" TAIL);
	assert_int_equal(install_journal_read(originals, "journal-0a9vbk", &j, NULL), 1);
	assert_int_equal(j.owner, 5);
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbk", NULL), 0);
}

/* Or one journal, copied, would be two operations. */
static void each_has_its_own_name(void **state)
{
	struct install_journal j;
	struct err err = { 0 };

	(void)state;
	put("journal-0a9vbj", HEAD "owner 5\n" TAIL);
	assert_int_equal(install_journal_read(originals, "journal-0a9vbj", &j, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	put("journal", HEAD "owner 5\n" TAIL);
	assert_int_equal(install_journal_read(originals, "journal", &j, &err), -1);
	put("journal", "morph-journal 1\nfrom " DIGEST "\nto " DIGEST "\n" TAIL);
	assert_int_equal(install_journal_read(originals, "journal", &j, &err), 1);
	assert_int_equal(j.owner, JOURNAL_ANYBODY);
	put("journal-0a9vbk", "morph-journal 1\nfrom " DIGEST "\nto " DIGEST "\n" TAIL);
	assert_int_equal(install_journal_read(originals, "journal-0a9vbk", &j, &err), -1);
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbk", NULL), 0);
	assert_int_equal(install_journal_remove(originals, "journal-0a9vbj", NULL), 0);
	assert_int_equal(install_journal_remove(originals, "journal", NULL), 0);
}

static void all_are_listed_in_order(void **state)
{
	static const char *const is[] = { "journal", "journal-000000", "journal-zzzzzz" };
	static const char *const is_not[] = { "journal-00000", "journal-0000000",
					      "Journal-000000", "journal.new", "0" };
	char **name;

	(void)state;
	assert_int_equal(install_journal_list(originals, &name, NULL), 0);
	free(name);
	for (int i = 0; i < 5; i++)
		put(is_not[i], "");
	for (int i = 2; i >= 0; i--)
		put(is[i], "");
	assert_int_equal(install_journal_list(originals, &name, NULL), 3);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(name[i], is[i]);
		free(name[i]);
		assert_int_equal(unlinkat(originals, is[i], 0), 0);
	}
	free(name);
	for (int i = 0; i < 5; i++)
		assert_int_equal(unlinkat(originals, is_not[i], 0), 0);
	assert_int_equal(install_journal_list(-1, &name, &(struct err){ 0 }), -1);
}

/* The first eight stay, the ninth is the last one's. */
static void nine_are_kept_aside(void **state)
{
	char kept[JOURNAL_KEPT_LEN + 1], name[] = "journal.damaged-1";
	struct err err = { 0 };

	(void)state;
	assert_int_equal(install_journal_set_aside(originals, "journal", kept, &err), -1);
	for (int i = 1; i <= 11; i++) {
		char text[16];
		struct sumtext s;

		(void)snprintf(text, sizeof(text), "%d\n", i);
		put("journal", text);
		assert_int_equal(install_journal_set_aside(originals, "journal", kept, &err),
				 0);
		name[16] = (char)('0' + (i < 9 ? i : 9));
		assert_string_equal(kept, name);
		assert_int_equal(sumtext_read(originals, kept, &s, &err), 1);
		assert_memory_equal(s.text, text, strlen(text));
		assert_int_equal(sumtext_read(originals, "journal", &s, &err), 0);
	}
	for (char n = '1'; n <= '9'; n++) {
		name[16] = n;
		assert_int_equal(unlinkat(originals, name, 0), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_path_is_one_line_of_any_length),
		cmocka_unit_test(what_nobody_wrote_is_damaged),
		cmocka_unit_test(each_has_its_own_name),
		cmocka_unit_test(all_are_listed_in_order),
		cmocka_unit_test(nine_are_kept_aside),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, into_a_folder, out_of_it);
}
