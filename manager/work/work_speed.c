/* work_speed.c - did the last swap of a module make it slower?  The test is policy/speedtest.h
 *
 * The test is applied whenever samples have been taken in.  Its verdict goes into the history;
 * a generation that is slower is taken back as one that crashed is.  One that counts goes, too,
 * if it is slower than expected or has cost what it may; what it has counted stays.
 *
 * Tested by tests/e2e/slower.sh and tests/e2e/counted.sh.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"
#include "policy/speedtest.h"

static void name_content(uint32_t generation, char out[32])
{
	if (generation)
		(void)snprintf(out, 32, "generation %" PRIu32, generation);	/* fits */
	else
		(void)snprintf(out, 32, "the original");
}

static int take_back(struct work *w, struct store_module *m, const char *why, struct err *err)
{
	struct store_generation g;
	int rc = store_generation_by_number(w->store, m->id, m->generation, &g, err);

	return rc <= 0 ? rc : work_take_back(w, m, &g, STATE_SLOWER, why, err);
}

/* What it says of the time that was saved (work_saved.c). */
static int keep_measured(struct work *w, int64_t module, const struct speedtest *p,
			 struct err *err)
{
	const struct store_measured m = {
		.module = module, .generation = p->generation, .before = p->before,
		.by = p->by == SPEEDTEST_BY_REST ? STORE_BY_SHARE : STORE_BY_RUNS,
		.shift = p->shift,
	};

	if (p->generation <= p->before)
		return 0;		/* back to what was there before */
	return speedtest_measured(p) ? store_measured_put(w->store, &m, err)
				     : store_measured_forget(w->store, module, p->generation,
							     err);
}

static int look(struct work *w, int64_t module, struct err *err)
{
	char text[SPEEDTEST_TEXT_MAX], now[32], before[32], why[256];
	struct store_module m;
	struct speedtest p;

	if (store_speed_get(w->store, module, &p, err) < 0)
		return -1;
	if (!speedtest_look(&p))
		return 0;
	int rc = store_module_by_id(w->store, module, &m, err);
	if (rc <= 0 || m.generation != p.generation)
		return rc < 0 ? -1 : 0;		/* swapped since */
	if (m.generation && work_turns_decide(w, &m))
		return 0;		/* they tell what this does not */
	if (keep_measured(w, module, &p, err) < 0)
		return -1;
	if (p.verdict != SPEEDTEST_OPEN) {
		speedtest_text(&p, text);
		name_content(p.generation, now);
		name_content(p.before, before);
		(void)snprintf(why, sizeof(why), "%s against %s: %s", now, before, text);
		if (p.verdict != SPEEDTEST_SLOWER || !m.generation)
			work_history(w, m.path, speedtest_verdict_name[p.verdict], "%s", why);
		else if (take_back(w, &m, why, err) < 0)
			return -1;		/* and looked at again the next time */
	}
	return store_speed_put(w->store, module, &p, err);
}

void work_speedtests(struct work *w, const struct attribution *a)
{
	struct err err = { 0 };

	for (uint32_t i = 0; i < a->nuse && !w->ask->stop; i++)
		if ((!i || a->use[i].module != a->use[i - 1].module) &&
		    look(w, (int64_t)a->use[i].module, &err) < 0)
			role_log_err(&err);
}
