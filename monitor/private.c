/* private.c - who owns the files of a process in /proc, and who the process is
 *
 * Tested by tests/unit/monitor/test_private.c.
 */
#include "monitor/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/memory.h"

enum { KEPT = 256 };		/* a power of two; of more, some are asked for again */

struct private {
	uint64_t found;
	struct {
		uint32_t pid;	/* 0: none */
		bool is;
	} kept[KEPT];
};

struct private *private_new(void)
{
	return memory_new(1, sizeof(struct private));
}

void private_free(struct private *p)
{
	free(p);
}

static bool ask(uint32_t pid)
{
	char path[64];
	struct stat self, file;

	/* The folder is the process's own, its files only if it can be dumped. */
	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (stat(path, &self) < 0)
		return true;
	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/environ", pid);
	return stat(path, &file) < 0 || self.st_uid == 0 || file.st_uid != self.st_uid;
}

bool private_is(struct private *p, uint32_t pid)
{
	if (!p)
		return false;
	unsigned i = pid % KEPT;
	if (p->kept[i].pid != pid) {
		p->kept[i].is = ask(pid);
		p->kept[i].pid = pid;
	}
	p->found += p->kept[i].is;
	return p->kept[i].is;
}

uint64_t private_found(const struct private *p)
{
	return p ? p->found : 0;
}

void private_forget(struct private *p)
{
	if (p)
		memset(p->kept, 0, sizeof(p->kept));
}
