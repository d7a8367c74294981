/* statespool.c - holds samples with states in a nameless spool file in memory (memfd)
 *
 * Tested by tests/unit/manager/samples/test_statefeed.c.
 */
#include "monitor/statespool.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct statespool {
	const char *clock;
	uint64_t period_ns, max_bytes;
	struct spool_writer *writer;	/* into fd; NULL: nothing held */
	int fd;
	uint64_t states, dropped;
};

struct statespool *statespool_new(const char *clock, uint64_t period_ns, uint64_t max_bytes)
{
	struct statespool *s = calloc(1, sizeof(*s));

	if (s)
		*s = (struct statespool){ clock, period_ns, max_bytes, NULL, -1, 0, 0 };
	return s;
}

static void forget(struct statespool *s)
{
	spool_writer_free(s->writer);
	s->writer = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void statespool_free(struct statespool *s)
{
	if (!s)
		return;
	forget(s);
	free(s);
}

static bool begin(struct statespool *s)
{
	s->fd = memfd_create("morph-states", MFD_CLOEXEC);
	if (s->fd >= 0)
		s->writer = spool_writer_new_file(s->fd, s->clock, s->period_ns, NULL);
	if (s->writer)
		return true;
	forget(s);
	return false;
}

bool statespool_put(struct statespool *s, const struct spool_event *ev)
{
	struct spool_event kept = *ev;
	struct spool_counts c = { 0 };

	if (s->writer)
		spool_writer_counts(s->writer, &c);
	if (c.bytes >= s->max_bytes / 4 * 3)
		kept.sample.state.memory_bytes = 0;
	if (c.bytes < s->max_bytes && (s->writer || begin(s)) &&
	    spool_write(s->writer, &kept, NULL) == 0) {
		s->states++;
		return true;
	}
	s->dropped++;
	return false;
}

int statespool_take(struct statespool *s)
{
	int fd = s->fd;

	if (!s->writer)
		return -1;
	/* a block that is lost is states that are */
	(void)spool_flush(s->writer, true, NULL);
	s->fd = -1;
	forget(s);
	return fd;
}

uint64_t statespool_states(const struct statespool *s)
{
	return s->states;
}

uint64_t statespool_dropped(const struct statespool *s)
{
	return s->dropped;
}
