/* show_reach.c - how much of the machine's CPU time is in what can be laid out, and where the
 * rest of it is: what stands in the way of more
 *
 * Of the last thirty days, by samples that do not fade (manager/store/store_ran.h).
 *
 * Tested by tests/unit/manager/control/test_show_ran.c.
 */
#include <string.h>

#include "lib/table.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/store/store_ran.h"

enum reach {
	REACH_GENERATIONS, REACH_ORIGINALS, REACH_REFUSED, REACH_LOADER, REACH_KERNEL,
	REACH_RUN_TIME, REACH_OTHER_FILES, REACH_VDSO, REACH_UNKNOWN, NREACH
};

static const struct {
	const char *code, *meaning;
} reach[NREACH] = {
	[REACH_GENERATIONS] = { "generations", "in programs and libraries that are laid out" },
	[REACH_ORIGINALS] = { "originals", "in programs and libraries that may yet be" },
	[REACH_REFUSED] = { "refused", "in programs and libraries that are refused" },
	[REACH_LOADER] = { "loader", "in the dynamic loader" },
	[REACH_KERNEL] = { "kernel", "in the kernel" },
	[REACH_RUN_TIME] = { "run_time", "in code made at run time" },
	[REACH_OTHER_FILES] = { "other_files",
				"in files that the policy does not allow, or gone" },
	[REACH_VDSO] = { "vdso", "in the kernel's shared object" },
	[REACH_UNKNOWN] = { "unknown", "in processes of which nothing is known" },
};

static bool is_loader(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld-musl-", 8) == 0;
}

static enum reach reach_of_module(struct store *s, int64_t module)
{
	struct store_module m;

	if (store_module_by_id(s, module, &m, NULL) != 1)
		return REACH_OTHER_FILES;
	return is_loader(m.path) ? REACH_LOADER
	       : m.refusal[0]	 ? REACH_REFUSED
	       : m.generation	 ? REACH_GENERATIONS
				 : REACH_ORIGINALS;
}

static enum reach reach_of_counter(int64_t counter)
{
	return counter == COUNTER_KERNEL     ? REACH_KERNEL
	       : counter == COUNTER_ANON     ? REACH_RUN_TIME
	       : counter == COUNTER_VDSO     ? REACH_VDSO
	       : counter == COUNTER_UNKNOWN  ? REACH_OTHER_FILES
					     : REACH_UNKNOWN;
}

struct sums {
	struct store *store;
	uint64_t samples[NREACH], all;
};

static bool add(void *ctx, const struct store_ran *r)
{
	struct sums *s = ctx;

	s->samples[r->module > 0 ? reach_of_module(s->store, r->module)
				 : reach_of_counter(-r->module)] += r->samples;
	s->all += r->samples;
	return true;
}

int show_reach(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "where", TABLE_TEXT }, { "samples", TABLE_UINT }, { "share_pct", TABLE_REAL },
		{ "meaning", TABLE_TEXT },
	};
	static const uint64_t day_ns = UINT64_C(86400000000000);
	uint64_t today_ns = store_now_ns() / day_ns * day_ns;
	const struct store_ran_span span = { .since_ns = today_ns - 30 * day_ns };
	struct sums s = { .store = w->store };

	if (store_ran_each(w->store, &span, add, &s, err) < 0)
		return -1;
	struct table *t = NEW_TABLE("cpu_time", col);
	for (int i = 0; i < NREACH; i++)
		table_row(t, reach[i].code, s.samples[i],
			  s.all ? 100 * (double)s.samples[i] / (double)s.all : 0.0,
			  reach[i].meaning);
	show_give(cl, t);
	return 0;
}
