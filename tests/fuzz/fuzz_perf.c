/* fuzz_perf.c - two perf rings of any content, in several looks
 *
 * Byte 0: which clock's format.  Byte 1: where the first ring is split between them; odd: there
 * are samples of the sampler's.  Bytes 2 and 3: where the rings begin, so that records wrap.
 * The rest is what the kernel has written.
 */
#include <stdlib.h>
#include <string.h>

#include "monitor/merge.h"

enum { RING = 4096, LOOKS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t last_ns;
static volatile uint64_t seen;

static void emit(void *ctx, const struct spool_event *ev)
{
	uint64_t *events = ctx;

	if (ev->time_ns < last_ns || ev->kind < SPOOL_SAMPLE || ev->kind > SPOOL_BRANCHES)
		abort();
	if (ev->kind == SPOOL_MMAP && strlen(ev->mmap.path) > SPOOL_PATH_MAX)
		abort();
	if (ev->kind == SPOOL_SAMPLE && ev->sample.has_state) {
		const struct spool_state *s = &ev->sample.state;

		if (ev->sample.kernel || s->stack_bytes > SPOOL_STACK_MAX)
			abort();
		/* sanitizers see reads past it */
		for (uint32_t i = 0; i < s->stack_bytes; i++)
			seen += s->stack[i];
		for (uint32_t i = 0; i < s->memory_bytes; i++)
			seen += s->memory[i];
	}
	last_ns = ev->time_ns;
	++*events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t start[2], length[2], events = 0;

	if (size < 4)
		return 0;
	struct perf_format format = { .ip = data[0] & 1, .user_cx = data[0] & 2,
				      .state = data[0] & 4, .stack = data[0] & 8,
				      .memory = data[0] & 16, .crashes = data[0] & 32,
				      .guarded = data[0] & 64, .chain = data[0] & 128,
				      .sampler = data[1] & 1,
				      .entry_start = 0x1000, .entry_end = 0x2000 };
	uint64_t n = size - 4 < 2 * RING ? size - 4 : 2 * RING;
	uint8_t *ring = calloc(2, RING);	/* on the heap: sanitizers see reads past it */
	length[0] = n * data[1] / 255 / 8 * 8;
	if (length[0] > RING)
		length[0] = RING;
	length[1] = n - length[0] < RING ? (n - length[0]) / 8 * 8 : RING;
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *from = data + 4 + (i ? length[0] : 0);

		start[i] = (uint64_t)data[2 + i] * 16;
		for (uint64_t k = 0; k < length[i]; k++)
			ring[i * RING + (start[i] + k) % RING] = from[k];
	}
	struct merge *m = merge_new(2, &format);
	last_ns = 0;
	for (unsigned look = 1; look <= LOOKS; look++) {
		for (unsigned i = 0; i < 2; i++) {
			struct perf_ring r = { ring + i * RING, RING, start[i],
					       start[i] + length[i] * look / LOOKS / 8 * 8 };
			merge_look(m, i, &r);
		}
		(void)merge_round(m, look == LOOKS, emit, &events);
	}
	for (unsigned i = 0; i < 2; i++)
		if (merge_tail(m, i) != start[i] + length[i])
			abort();
	if (events > n / 8)
		abort();
	merge_free(m);
	free(ring);
	return 0;
}
