/* told.c - writes what is told as text, so that a test compares all of it */
#include "tests/unit/told.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(struct told *t, const char *fmt, ...)
{
	size_t n = strlen(t->text);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(t->text + n, sizeof(t->text) - n, fmt, ap);	/* or its beginning */
	va_end(ap);
}

static void on_event(void *ctx, const struct spool_event *ev)
{
	struct told *t = ctx;

	say(t, "%llu %u/%u ", (unsigned long long)ev->time_ns, ev->pid, ev->tid);
	switch (ev->kind) {
	case SPOOL_SAMPLE:
		say(t, "sample %llx%s", (unsigned long long)ev->sample.pc,
		    ev->sample.kernel ? " kernel" : "");
		break;
	case SPOOL_BRANCHES:
		say(t, "stack");
		for (uint32_t i = 0; i < ev->branches.n; i++) {
			struct spool_branch b = spool_branch_at(ev, i);

			say(t, " %llx-%llx%s", (unsigned long long)b.from,
			    (unsigned long long)b.to,
			    b.flags & SPOOL_BRANCH_MISPREDICTED ? "m" :
			    b.flags & SPOOL_BRANCH_WRONG_PATH	? "w" :
			    b.flags & SPOOL_BRANCH_ABORTED	? "a" :
			    b.flags & SPOOL_BRANCH_IN_TX	? "x" : "");
		}
		break;
	case SPOOL_MMAP:
		say(t, "mmap %llx+%llx@%llx %u:%u %llu %s", (unsigned long long)ev->mmap.addr,
		    (unsigned long long)ev->mmap.len, (unsigned long long)ev->mmap.pgoff,
		    ev->mmap.dev_major, ev->mmap.dev_minor,
		    (unsigned long long)ev->mmap.inode, ev->mmap.path);
		break;
	case SPOOL_EXEC:
		say(t, "exec %s", ev->exec.comm);
		break;
	case SPOOL_FORK:
		say(t, "fork of %u", ev->fork.parent_pid);
		break;
	default:
		say(t, "kind %d %llu", (int)ev->kind, (unsigned long long)ev->lost);
	}
	say(t, "\n");
}

static void on_build_id(void *ctx, struct bytes id, const char *path)
{
	struct told *t = ctx;

	say(t, "id %u bytes %02x.. %s\n", (unsigned)id.n, id.p[0], path);
}

struct import_sink told_sink(struct told *t)
{
	t->text[0] = '\0';
	return (struct import_sink){ on_event, on_build_id, t };
}
