/* sameprogram.c - does a process still run what it ran?
 *
 * exec() changes its program, or only all of its mappings, if it is the same one: then what the
 * kernel wrote into its auxiliary vector is another, for that has addresses that are chance.
 *
 * Tested by tests/unit/manager/try/test_sameprogram.c and tests/e2e/trypid.sh.
 */
#include "manager/try/sameprogram.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sameprogram_note(struct sameprogram *p, pid_t pid)
{
	char path[64];
	struct stat st;

	*p = (struct sameprogram){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st) == 0) {
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, p->auxv, sizeof(p->auxv));
	p->n = n < 0 ? 0 : (size_t)n;
	if (fd >= 0)
		close(fd);
}

const char *sameprogram_else(const struct sameprogram *p, pid_t pid)
{
	struct sameprogram now;

	sameprogram_note(&now, pid);
	if (p->ino && now.ino && (p->ino != now.ino || p->dev != now.dev))
		return "runs another program now";
	if (p->n && now.n && (p->n != now.n || memcmp(p->auxv, now.auxv, p->n) != 0))
		return "has executed its program anew";
	return NULL;
}
