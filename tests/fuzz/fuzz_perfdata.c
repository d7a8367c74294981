/* fuzz_perfdata.c - a recording of any content, perf.data or text: what is told of is in order
 * and has its bounds
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "manager/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t seen;

struct state {
	uint64_t last_ns, events;
	bool ordered;		/* perf.data is sorted, text is as it stands */
};

static void on_event(void *ctx, const struct spool_event *ev)
{
	struct state *s = ctx;

	if (ev->kind < SPOOL_SAMPLE || ev->kind > SPOOL_BRANCHES ||
	    (s->ordered && ev->time_ns < s->last_ns))
		abort();
	s->last_ns = ev->time_ns;
	s->events++;
	if (ev->kind == SPOOL_MMAP && strlen(ev->mmap.path) > SPOOL_PATH_MAX)
		abort();
	if (ev->kind == SPOOL_EXEC && strnlen(ev->exec.comm, 16) > SPOOL_COMM_MAX)
		abort();
	if (ev->kind == SPOOL_BRANCHES) {
		if (ev->branches.n == 0 || ev->branches.n > SPOOL_BRANCHES_MAX)
			abort();
		for (uint32_t i = 0; i < ev->branches.n; i++)
			/* sanitizers see reads past it */
			seen += spool_branch_at(ev, i).to;
	}
}

static void on_build_id(void *ctx, struct bytes id, const char *path)
{
	(void)ctx;
	if (id.n == 0 || id.n > 20)
		abort();
	for (uint64_t i = 0; i < id.n; i++)
		seen += id.p[i];
	seen += strlen(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = { data, size };
	struct state s = { .ordered = perfdata_is(file) };
	const struct import_sink sink = { on_event, on_build_id, &s };
	struct import_counts counts;
	struct arena *a = arena_new();
	struct err err = { 0 };

	int rc = (s.ordered ? perfdata_read : perftext_read)(file, a, &sink, &counts, &err);
	if (rc < 0 && !err.text[0])
		abort();
	if (counts.samples + counts.stacks > s.events)
		abort();
	arena_free(a);
	return 0;
}
