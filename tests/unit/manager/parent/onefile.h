/* onefile.h - the place's file has three names: all are one file, and nothing is beside them */
#ifndef TESTS_UNIT_MANAGER_PARENT_ONEFILE_H
#define TESTS_UNIT_MANAGER_PARENT_ONEFILE_H

#include "tests/unit/place.h"

static inline uint64_t inode(const char *path, nlink_t *links)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	if (links)
		*links = st.st_nlink;
	return st.st_ino;
}

/* All three names are one file with that content, as it was. */
static inline void assert_one_file(const struct place *p, const struct digest *d)
{
	struct stat st;

	assert_true(holds(p->path, d));
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0751);
	assert_int_equal(st.st_mtim.tv_sec, 1111111111);
	assert_int_equal(st.st_nlink, 3);
	assert_int_equal(inode(p->twin, NULL), st.st_ino);
	assert_int_equal(inode(p->third, NULL), st.st_ino);
}

static inline void assert_nothing_beside(const struct place *p)
{
	assert_int_equal(entries(p->dir), 2);
	assert_int_equal(entries(p->other), 1);
}

#endif
