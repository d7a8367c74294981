/* bestcase.c - how long each instruction of a path keeps those behind it from retiring, at best
 *
 * Tested by tests/unit/editor/annotate/test_bestcase.c.
 */
#include "editor/annotate/bestcase.h"

#include <math.h>
#include <string.h>

enum { NONE = -1, STORES = 16 };

/* Loads that begin in a cycle. */
static const double WIDTH = BESTCASE_WIDTH, LOADS = 4;
/* What is smaller is not given from register to register. */
enum { RENAMED = 4 };

struct store {
	struct insntime_memory memory;
	double data, done;		/* what is stored is there; it can be loaded */
	bool vector;
	uint32_t at;
};

struct machine {
	double ready[INSNTIME_REGISTERS], unit[NINSNTIME_CLASS], load, retired;
	int64_t writer[INSNTIME_REGISTERS], user[NINSNTIME_CLASS];
	uint64_t written[INSNTIME_REGISTERS];	/* when: number of the instruction + 1 */
	struct store store[STORES];
	uint32_t nstore;
};

struct wait {
	double until;
	int64_t culprit;
};

static void wait_for(struct wait *w, double until, int64_t culprit)
{
	if (until > w->until)
		*w = (struct wait){ until, culprit };
}

static void wait_for_registers(struct wait *w, const struct machine *m, uint64_t registers)
{
	for (int r = 0; registers; r++, registers >>= 1)
		if (registers & 1)
			wait_for(w, m->ready[r], m->writer[r]);
}

/* Has a register of the address been written since the store? */
static bool is_older(const struct machine *m, const struct store *s)
{
	const uint8_t r[2] = { s->memory.base, s->memory.index };

	for (int i = 0; i < 2; i++)
		if (r[i] < INSNTIME_REGISTERS && m->written[r[i]] > s->at + (uint64_t)1)
			return true;
	return false;
}

enum overlap { APART, WITHIN, ACROSS };

static enum overlap overlap_of(const struct insntime_memory *load,
			       const struct insntime_memory *store)
{
	int64_t from = load->disp - store->disp;

	if (load->base != store->base || load->index != store->index ||
	    (load->index != 255 && load->scale != store->scale))
		return APART;
	if (from >= store->size || from + load->size <= 0)
		return APART;
	return from >= 0 && from + load->size <= store->size ? WITHIN : ACROSS;
}

static bool has_vector(uint64_t registers)
{
	return registers >> INSNTIME_VECTOR != 0;
}

/* Processors of today take what was just stored of a register as a copy of that one, so that
 * stores and loads behind each other are no more than moves. */
static bool is_renamed(const struct insntime *t, const struct store *s)
{
	return t->memory.disp == s->memory.disp && t->memory.size >= RENAMED && !s->vector &&
	       !has_vector(t->reads | t->writes);
}

/* The youngest store that wrote some of it.  False: it is not loaded but known. */
static bool look_at_stores(struct wait *w, const struct machine *m, const struct insntime *t,
			   struct bestcase *out)
{
	for (uint32_t k = 0; k < m->nstore && k < STORES; k++) {
		const struct store *s = &m->store[(m->nstore - 1 - k) % STORES];
		enum overlap o = is_older(m, s) ? APART : overlap_of(&t->memory, &s->memory);

		if (o == APART)
			continue;
		bool renamed = o == WITHIN && is_renamed(t, s);

		out->stored = true;
		if (o == ACROSS)
			out->unforwarded = s->at;
		wait_for(w, renamed ? s->data : s->done, s->at);
		return !renamed;
	}
	return true;
}

static void step(struct machine *m, const struct insntime *t, uint32_t i, struct bestcase *out)
{
	const double comes = i / WIDTH;
	struct wait w = { comes, NONE };
	double done, load = 0;

	wait_for_registers(&w, m, t->address);
	if (t->load) {
		load = look_at_stores(&w, m, t, out) ? INSNTIME_LOAD_CYCLES : 0;
		wait_for(&w, m->load, NONE);
		m->load = fmax(m->load, comes) + 1 / LOADS;
		w.until += load;
	}
	double loaded = w.until;
	wait_for_registers(&w, m, t->reads);
	if (w.culprit != NONE)
		out->operand = (uint32_t)w.culprit;
	wait_for(&w, m->unit[t->class], m->user[t->class]);
	/* out of order: one that waits leaves its unit to those behind it */
	m->unit[t->class] = fmax(m->unit[t->class], comes) + t->busy;
	m->user[t->class] = i;
	done = w.until + t->latency;
	/* it waits for itself where its own time is all of what it is charged with */
	double own = done - (w.until == loaded ? loaded - load : w.until);
	if (t->store && m->nstore < UINT32_MAX) {
		m->store[m->nstore % STORES] = (struct store){
			t->memory, t->load ? done : w.until, done, has_vector(t->reads), i
		};
		m->nstore++;
	}
	for (int r = 0; r < INSNTIME_REGISTERS; r++) {
		if (t->writes >> r & 1) {
			m->ready[r] = done;
			m->writer[r] = i;
		}
		if ((t->writes | t->moved) >> r & 1)
			m->written[r] = i + (uint64_t)1;
	}
	double retires = fmax(m->retired + 1 / WIDTH, done);
	out->cycles = retires - m->retired;
	if (out->cycles > 1 / WIDTH + 1e-9)
		out->culprit = own >= out->cycles - 1e-9 || w.culprit == NONE
				       ? i
				       : (uint32_t)w.culprit;
	m->retired = retires;
}

void bestcase_run(const struct insntime *const *path, uint32_t n, double ahead,
		  struct bestcase *out)
{
	struct machine m = { .retired = ahead };

	for (int r = 0; r < INSNTIME_REGISTERS; r++)
		m.writer[r] = NONE;
	for (int c = 0; c < NINSNTIME_CLASS; c++)
		m.user[c] = NONE;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct bestcase){ 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, false };
		step(&m, path[i], i, &out[i]);
	}
}
