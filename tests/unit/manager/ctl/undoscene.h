/* undoscene.h - a program, its generation at the path, its original in originals: for tests of
 * undo without a daemon
 *
 * Generations are made by hand: an ELF header, a section .morph.map and its name.
 */
#ifndef TESTS_UNIT_MANAGER_CTL_UNDOSCENE_H
#define TESTS_UNIT_MANAGER_CTL_UNDOSCENE_H

#include <sys/xattr.h>

#include "manager/ctl/undo_file.h"
#include "manager/parent/ledger.h"
#include "tests/unit/elfnaming.h"
#include "tests/unit/place.h"

enum { ORIGINAL_BYTES = 40000 };

static inline void keep(struct place *p)
{
	char hex[65], path[160];
	uint8_t *text = malloc(ORIGINAL_BYTES);

	memset(text, '#', ORIGINAL_BYTES);
	struct bytes b = { text, ORIGINAL_BYTES };
	p->original = digest_of(b);
	digest_hex(&p->original, hex);
	(void)snprintf(path, sizeof(path), "%s/originals/%s", p->store, hex);
	write_bytes(path, b, 0600);
	free(text);
}

static inline struct place rewritten(void)
{
	const struct timespec times[2] = { { 1000000000, 5 }, { 1111111111, 222222222 } };
	struct place p = place_new();

	keep(&p);
	struct wr w = elf_naming(&p.original, 2);
	write_bytes(p.path, wr_bytes(&w), 0751);
	wr_free(&w);
	assert_int_equal(setxattr(p.path, "user.who", "me", 2, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, p.path, times, 0), 0);
	p.generation = digest_path(p.path);
	return p;
}

static inline struct undo_store store_of(const struct place *p)
{
	return (struct undo_store){ .root = "", .folder = p->store,
				    .originals_fd = p->originals_fd,
				    .ledger_fd = -1 };
}

static inline void enter(const struct place *p, struct undo_store *s, const char *path,
			 uid_t owner)
{
	struct ledger_entry e = { .original = p->original, .generation = p->generation,
				  .owner = owner };
	struct stat dir;

	assert_int_equal(stat(p->dir, &dir), 0);
	e.dir_inode = dir.st_ino;
	(void)snprintf(e.path, sizeof(e.path), "%s", path);
	s->ledger_fd = p->ledger_fd;
	assert_int_equal(ledger_put(s->ledger_fd, &e, NULL), 0);
}

static inline enum undo_result undo(const struct undo_store *s, const char *path,
			     char said[UNDO_SAID])
{
	enum undo_result result;
	struct err err = { 0 };

	if (undo_file(s, path, &result, said, &err) < 0)
		fail_msg("%s", err.text);
	return result;
}

static inline void assert_refused(const struct undo_store *s, const char *path, const char *why)
{
	char said[UNDO_SAID];
	enum undo_result result;
	struct err err = { 0 };

	assert_int_equal(undo_file(s, path, &result, said, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static inline void assert_as_before(const struct place *p)
{
	struct stat st;
	char who[2];

	assert_true(holds(p->path, &p->original));
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0751);
	assert_int_equal(st.st_mtim.tv_sec, 1111111111);
	assert_int_equal(st.st_mtim.tv_nsec, 222222222);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(getxattr(p->path, "user.who", who, 2), 2);
	assert_memory_equal(who, "me", 2);
	assert_int_equal(entries(p->dir), 1);
}

static inline bool is_kept(const struct place *p)
{
	char hex[65];

	digest_hex(&p->original, hex);
	return faccessat(p->originals_fd, hex, F_OK, 0) == 0;
}

#endif
