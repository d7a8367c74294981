/* merge.c - merges the records of all CPUs' rings in the order of time
 *
 * Each ring has three positions, tail <= scanned <= head: everything before `tail` has gone
 * out, the newest time is known of everything before `scanned`, and the kernel writes at
 * `head`.  A heap holds the rings that have a record to offer, the oldest on top.
 *
 * INVARIANTS
 *   I1  times that go out never decrease: a record that comes late is given the last time;
 *   I2  of equal times, the ring with the lower number goes first;
 *   I3  a malformed record ends its ring's look: nothing behind it can be found, so the ring is
 *       skipped to its head and that is counted once;
 *   I4  what records hold is copied to secret memory only, and merge_rest() leaves of that no
 *       more than memory whose sample is still to come.
 */
#include "monitor/merge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/secret.h"
#include "lib/statememory.h"

struct source {
	struct perf_ring ring;		/* ring.tail: next record to go out */
	uint64_t scanned;
	uint64_t time_ns;		/* of the record at ring.tail, while in the heap */
	struct bytes record;
	uint8_t *bounce;		/* [PERF_RECORD_BYTES_MAX], secret; NULL: none yet */
	struct waiting *waiting;	/* secret; NULL: none */
	bool sampled;
	uint64_t sample_ns;		/* of the last sample that went out, if there was one */
};

struct waiting {			/* memory of the sample that follows */
	uint32_t tid;			/* of that sample; no more of it is kept than: */
	uint64_t pc, sp;
	uint32_t nbyte;			/* of memory[]; 0: it has been given */
	bool private;			/* the state of that sample is not to be told */
	bool rested;			/* it was there when merge_rest() was called */
	uint8_t memory[STATEMEMORY_MAX];
};

enum { GPR_SP = 4 };

struct merge {
	struct perf_format format;
	struct source *src;
	unsigned nsrc;
	unsigned *heap, nheap;		/* indices of src[] */
	uint64_t newest_ns;		/* over everything scanned so far */
	uint64_t last_ns;		/* newest that went out */
	struct merge_counts counts;
	uint8_t *scratch;		/* as `bounce` */
};

static void *must(void *p)
{
	if (!p) {
		(void)fputs("out of memory\n", stderr);	/* nothing else left to do */
		exit(1);
	}
	return p;
}

struct merge *merge_new(unsigned nring, const struct perf_format *format)
{
	struct merge *m = must(calloc(1, sizeof(*m)));

	m->format = *format;
	m->nsrc = nring;
	m->src = must(calloc(nring ? nring : 1, sizeof(*m->src)));
	m->heap = must(calloc(nring ? nring : 1, sizeof(*m->heap)));
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->nsrc; i++) {
		secret_free(m->src[i].bounce, PERF_RECORD_BYTES_MAX);
		secret_free(m->src[i].waiting, sizeof(struct waiting));
	}
	secret_free(m->scratch, PERF_RECORD_BYTES_MAX);
	free(m->src);
	free(m->heap);
	free(m);
}

static void forget(uint8_t **record)
{
	secret_free(*record, PERF_RECORD_BYTES_MAX);
	*record = NULL;
}

void merge_rest(struct merge *m)
{
	forget(&m->scratch);
	for (unsigned i = 0; i < m->nsrc; i++) {
		struct source *s = &m->src[i];

		forget(&s->bounce);	/* the next round reads its record again */
		if (!s->waiting)
			continue;
		if (s->waiting->nbyte && !s->waiting->rested) {
			s->waiting->rested = true;
			continue;
		}
		secret_free(s->waiting, sizeof(*s->waiting));
		s->waiting = NULL;
	}
}

void merge_look(struct merge *m, unsigned i, const struct perf_ring *ring)
{
	assert(i < m->nsrc);
	struct source *s = &m->src[i];
	uint64_t tail = s->ring.data ? s->ring.tail : ring->tail;

	if (!s->ring.data)
		s->scanned = tail;
	s->ring = *ring;
	s->ring.tail = tail;
}

uint64_t merge_tail(const struct merge *m, unsigned i)
{
	assert(i < m->nsrc);
	return m->src[i].ring.tail;
}

const struct merge_counts *merge_counts(const struct merge *m)
{
	return &m->counts;
}

/* Raises newest_ns over the records that came since the last look. */
static void scan(struct merge *m, struct source *s)
{
	if (!m->scratch)
		m->scratch = secret_new(PERF_RECORD_BYTES_MAX);
	while (s->scanned != s->ring.head) {
		struct bytes rec = perf_ring_record(&s->ring, s->scanned, m->scratch);

		if (!rec.p)
			return;		/* offer() meets it again and counts it */
		uint64_t t = perf_record_time(&m->format, rec);
		if (t > m->newest_ns)
			m->newest_ns = t;
		s->scanned += rec.n;
	}
}

static bool before(const struct merge *m, unsigned a, unsigned b)
{
	uint64_t ta = m->src[a].time_ns, tb = m->src[b].time_ns;

	return ta != tb ? ta < tb : a < b;
}

static void sift_down(struct merge *m, unsigned at)
{
	for (;;) {
		unsigned least = at;

		for (unsigned c = 2 * at + 1; c <= 2 * at + 2 && c < m->nheap; c++)
			if (before(m, m->heap[c], m->heap[least]))
				least = c;
		if (least == at)
			return;
		unsigned tmp = m->heap[at];
		m->heap[at] = m->heap[least];
		m->heap[least] = tmp;
		at = least;
	}
}

/* Reads the record at the tail of s; false when there is none. */
static bool offer(struct merge *m, struct source *s)
{
	if (s->ring.tail == s->ring.head)
		return false;
	if (!s->bounce)
		s->bounce = secret_new(PERF_RECORD_BYTES_MAX);
	s->record = perf_ring_record(&s->ring, s->ring.tail, s->bounce);
	if (!s->record.p) {
		m->counts.malformed++;
		s->ring.tail = s->scanned = s->ring.head;
		return false;
	}
	s->time_ns = perf_record_time(&m->format, s->record);
	return true;
}

/* Records do not stay: a sample may come a look later than its memory. */
static void keep_memory(struct source *s, const struct spool_event *ev, bool private)
{
	if (!s->waiting)
		s->waiting = secret_new(sizeof(*s->waiting));
	struct waiting *w = s->waiting;
	w->tid = ev->tid;
	w->pc = ev->sample.pc;
	w->sp = ev->sample.state.gpr[GPR_SP];
	w->nbyte = ev->sample.state.memory_bytes;
	w->rested = false;
	w->private = private;
	memcpy(w->memory, ev->sample.state.memory, w->nbyte);
}

/* What came just before the sample, if it is of it. */
static const struct waiting *waiting_for(const struct source *s, const struct spool_event *ev)
{
	const struct waiting *w = s->waiting;

	return w && w->nbyte && w->tid == ev->tid && w->pc == ev->sample.pc &&
	       w->sp == ev->sample.state.gpr[GPR_SP] ? w : NULL;
}

static void give_memory(struct merge *m, struct source *s, struct spool_event *ev)
{
	if (ev->sample.has_state) {
		const struct waiting *w = waiting_for(s, ev);

		if (m->format.guarded && (!w || w->private)) {
			m->counts.private++;
			ev->sample.has_state = false;
		} else if (w) {
			ev->sample.state.memory = w->memory;
			ev->sample.state.memory_bytes = w->nbyte;
		}
	}
	if (s->waiting)
		s->waiting->nbyte = 0;
}

/* By the time that the record has, whatever went out before. */
static bool is_too_soon(const struct merge *m, struct source *s)
{
	if (s->sampled && s->time_ns < s->sample_ns + m->format.apart_ns)
		return true;
	s->sampled = true;
	s->sample_ns = s->time_ns;
	return false;
}

static void put_out(struct merge *m, struct source *s,
		    void (*emit)(void *ctx, const struct spool_event *ev), void *ctx)
{
	struct spool_event ev;

	switch (perf_decode(&m->format, s->record, &ev)) {
	case PERF_STATELESS:
		m->counts.private++;
		/* fall through */
	case PERF_EVENT:
		if (ev.time_ns < m->last_ns) {
			ev.time_ns = m->last_ns;
			m->counts.late++;
		}
		m->last_ns = ev.time_ns;
		if (ev.kind == SPOOL_SAMPLE) {
			give_memory(m, s, &ev);
			if (m->format.apart_ns && is_too_soon(m, s))
				break;
		}
		emit(ctx, &ev);
		break;
	case PERF_MEMORY:
		keep_memory(s, &ev, false);
		break;
	case PERF_PRIVATE:
		keep_memory(s, &ev, true);
		break;
	case PERF_IGNORED:
		break;
	case PERF_UNKNOWN:
		m->counts.unknown++;
		break;
	case PERF_MALFORMED:
		m->counts.malformed++;
		break;
	}
}

bool merge_round(struct merge *m, bool all,
		 void (*emit)(void *ctx, const struct spool_event *ev), void *ctx)
{
	uint64_t limit = m->newest_ns;

	for (unsigned i = 0; i < m->nsrc; i++)
		scan(m, &m->src[i]);
	if (all)
		limit = UINT64_MAX;
	m->nheap = 0;
	for (unsigned i = 0; i < m->nsrc; i++)
		if (offer(m, &m->src[i]))
			m->heap[m->nheap++] = i;
	for (unsigned i = m->nheap; i-- > 0; )
		sift_down(m, i);
	while (m->nheap) {
		struct source *s = &m->src[m->heap[0]];

		if (s->time_ns > limit)
			return true;
		put_out(m, s, emit, ctx);
		s->ring.tail += s->record.n;
		if (!offer(m, s))
			m->heap[0] = m->heap[--m->nheap];
		sift_down(m, 0);
	}
	return false;
}
