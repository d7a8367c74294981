/* own.c - Morph's own processes
 *
 * A short unsorted list: the roles and at most a few jobs at a time.  A process leaves it with
 * the exit of its main thread.  Should exits be lost with a full ring, the list stops growing
 * at MAX_OWN and the last place is given anew.
 */
#include "monitor/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_OWN = 256 };

struct own {
	uint32_t pid[MAX_OWN];
	unsigned n;
};

static unsigned find(const struct own *o, uint32_t pid)
{
	unsigned i = 0;

	while (i < o->n && o->pid[i] != pid)
		i++;
	return i;
}

void own_add(struct own *o, uint32_t pid)
{
	if (find(o, pid) < o->n)
		return;
	if (o->n == MAX_OWN)
		o->n--;
	o->pid[o->n++] = pid;
}

struct own *own_new(const uint32_t *pid, unsigned n)
{
	struct own *o = calloc(1, sizeof(*o));

	for (unsigned i = 0; o && i < n; i++)
		own_add(o, pid[i]);
	return o;
}

void own_add_children(struct own *o)
{
	for (unsigned i = 0; i < o->n; i++) {	/* o->n grows: children of children too */
		char path[64], text[4096];

		(void)snprintf(path, sizeof(path), "/proc/%u/task/%u/children", o->pid[i],
			       o->pid[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		for (char *p = text, *end; ; p = end) {
			unsigned long pid = strtoul(p, &end, 10);

			if (end == p)
				break;
			own_add(o, (uint32_t)pid);
		}
	}
}

void own_free(struct own *o)
{
	free(o);
}

bool own_event(struct own *o, const struct spool_event *ev)
{
	unsigned at = find(o, ev->pid);
	bool own = at < o->n;

	switch (ev->kind) {
	case SPOOL_FORK:
		if (find(o, ev->fork.parent_pid) == o->n) {
			if (own && ev->pid == ev->tid)
				/* a lost exit: the number is used anew */
				o->pid[at] = o->pid[--o->n];
			return false;
		}
		own_add(o, ev->pid);
		return true;
	case SPOOL_EXIT:
		if (own && ev->pid == ev->tid)
			o->pid[at] = o->pid[--o->n];
		return own;
	case SPOOL_LOST:
	case SPOOL_THROTTLE:
	case SPOOL_GAP:
		return false;
	case SPOOL_SAMPLE:
	case SPOOL_EXEC:
	case SPOOL_MMAP:
	case SPOOL_CRASH:
		break;
	}
	return own;
}
