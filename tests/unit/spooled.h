/* spooled.h - modules in a test's own folder, and what the kernel says of those who map them */
#ifndef TESTS_UNIT_SPOOLED_H
#define TESTS_UNIT_SPOOLED_H

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "manager/store/ingest.h"
#include "manager/parent/program.h"
#include "monitor/spool.h"

enum { SPOOLED_AT = 0x10000000 };	/* where it is mapped */

static char dir[64];			/* all modules are in there */

static inline int spooled_open(void *ctx, const char *p, struct err *err)
{
	(void)ctx;
	return program_open(p, err);
}

static inline bool spooled_is_ours(void *ctx, const char *p)
{
	(void)ctx;
	return strncmp(p, dir, strlen(dir)) == 0;
}

/* Process `pid` maps `len` bytes of the file from offset `off` on. */
static inline struct spool_event spooled_mmap(uint32_t pid, const char *path, uint64_t off,
					      uint64_t len)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	ev.mmap.addr = SPOOLED_AT;
	ev.mmap.len = len;
	ev.mmap.pgoff = off;
	ev.mmap.dev_major = major(st.st_dev);
	ev.mmap.dev_minor = minor(st.st_dev);
	ev.mmap.inode = st.st_ino;
	ev.mmap.path = path;
	return ev;
}

#endif
