/* statefeed.c - matches two spools, one with samples and one with states; see statefeed.h
 *
 * Both are in the order of time and are read once, side by side.  A state whose time has passed
 * without a sample belongs to none.
 */
#include "manager/samples/statefeed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/secret.h"

enum { BOOT_SIZE = 16 };

struct statefeed {
	int fd;
	struct spool_reader *reader;	/* NULL: no states */
	struct spool_event next;	/* the oldest that is not yet matched */
	bool have;
	bool this_boot;
	uint64_t unmatched;
};

/* To the next state.  The memory of the one before stays valid until then: its stack is the
 * reader's. */
static void advance(struct statefeed *f)
{
	f->have = false;
	while (!f->have && f->reader && spool_read(f->reader, &f->next) == 1)
		f->have = f->next.kind == SPOOL_SAMPLE && f->next.sample.has_state;
}

struct statefeed *statefeed_new(int fd)
{
	struct statefeed *f = secret_new(sizeof(*f));
	struct stat st;

	f->fd = fd;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= SPOOL_FILE_MAX)
		f->reader = spool_reader_open(fd, NULL);
	f->this_boot = true;
	return f;
}

void statefeed_boot(struct statefeed *f, const uint8_t *boot_id)
{
	f->this_boot = f->reader &&
		       memcmp(spool_reader_boot_id(f->reader), boot_id, BOOT_SIZE) == 0;
}

void statefeed_match(struct statefeed *f, struct spool_event *ev)
{
	if (!f->this_boot || !f->reader)
		return;
	if (!f->have)
		advance(f);
	for (; f->have && f->next.time_ns < ev->time_ns; advance(f))
		f->unmatched++;
	if (!f->have || f->next.time_ns != ev->time_ns || f->next.pid != ev->pid ||
	    f->next.tid != ev->tid || f->next.sample.pc != ev->sample.pc || ev->sample.kernel)
		return;
	ev->sample.has_state = true;
	ev->sample.state = f->next.sample.state;
	f->have = false;
}

uint64_t statefeed_free(struct statefeed *f)
{
	if (!f)
		return 0;
	uint64_t unmatched = f->unmatched + f->have;
	for (advance(f); f->have; advance(f))
		unmatched++;
	spool_reader_free(f->reader);
	if (f->fd >= 0)
		close(f->fd);
	secret_free(f, sizeof(*f));
	return unmatched;
}
