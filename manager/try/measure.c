/* measure.c - runs original and generations in pairs, and compares CPU time and what they did
 *
 * Both sides of a pair have the same world with fresh copies in it; one holds the originals'
 * bytes.  A first pair is not counted.  Commands of one thread run side by side, in slices of
 * one CPU, so that whatever slows the machine down meets both; others one after the other, on
 * all CPUs.  Which one is first is chance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/random.h>

#include "manager/try/trial.h"

enum { ORIGINAL, GENERATION, SIDES };
/* What takes longer than this does not end; chosen. */
enum { LIMIT_TIMES = 20, LIMIT_MORE_S = 30 };

/* CPU time a second from which on several CPUs were in use. */
static const double parallel = 1.15;
static const double least_cpu_s = 1e-4;

struct sides {
	struct world_image image[SIDES][TRIAL_MODULES];
	size_t nimage;
	int cpu;
};

static int last_cpu(void)
{
	cpu_set_t set;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((unsigned)i, &set))
			cpu = i;
	return cpu;
}

static bool chance(void)
{
	unsigned char b = 0;

	(void)!getrandom(&b, 1, 0);	/* else always the same order */
	return b & 1;
}

static int start_both(struct trial *t, const struct sides *s, struct keeper k[SIDES],
		      struct err *err)
{
	for (int i = 0; i < SIDES; i++)
		if (trial_start(t, s->image[i], s->nimage, NULL, s->cpu, &k[i], err) < 0)
			return -1;
	return 0;
}

static int run_pair(struct trial *t, const struct sides *s, struct keeper k[SIDES],
		    struct err *err)
{
	double limit = LIMIT_TIMES * t->reference.result->wall_s + LIMIT_MORE_S;
	int first = chance() ? GENERATION : ORIGINAL;

	if (!t->side_by_side) {
		for (int i = 0; i < SIDES; i++) {
			int w = i ? !first : first;

			if (trial_run(t, s->image[w], s->nimage, NULL, limit, &k[w], err) < 0)
				return -1;
		}
		return 0;
	}
	if (start_both(t, s, k, err) < 0)
		return -1;
	keeper_go(&k[first]);
	keeper_go(&k[!first]);
	for (int i = 0; i < SIDES; i++)
		if (keeper_wait(&k[i], limit, err) < 0)
			return -1;
	return 0;
}

/* False: there is no need to go on. */
static bool compare(struct trial *t, const struct keeper k[SIDES])
{
	char how[128], other[128];
	bool did = trial_did_same(t, &k[ORIGINAL], how);

	if (!did && strcmp(how, trial_standard_error) == 0) {
		progress_say(t->begun_s,
			     "its standard error differs from run to run: not compared");
		did = t->errors_differ = true;
	}
	if (!did) {
		t->same = SAME_UNKNOWN;
		memcpy(t->differs, how, sizeof(how));
		return false;
	}
	if (!trial_did_same(t, &k[GENERATION], other)) {
		t->same = SAME_NO;
		memcpy(t->differs, other, sizeof(other));
		return false;
	}
	return true;
}

static void no_keepers(struct keeper k[SIDES])
{
	for (int i = 0; i < SIDES; i++)
		k[i] = (struct keeper){ .pidfd = -1, .go = -1, .ready = -1, .out = -1,
					.error = -1 };
}

/* 1: one more, 0: enough. */
static int one_pair(struct trial *t, const struct sides *s, bool counts, struct err *err)
{
	struct keeper k[SIDES];
	double cpu[SIDES];
	int rc;

	no_keepers(k);
	rc = run_pair(t, s, k, err);
	if (rc == 0) {
		rc = compare(t, k);
		for (int i = 0; i < SIDES; i++) {
			cpu[i] = k[i].result->cpu_s;
			if (cpu[i] < least_cpu_s)
				cpu[i] = least_cpu_s;
		}
		if (rc && counts)
			ratio_add(&t->ratio, cpu[ORIGINAL], cpu[GENERATION]);
	}
	for (int i = 0; i < SIDES; i++)
		keeper_free(&k[i]);
	return rc;
}

static void fill_sides(const struct trial *t, struct sides *s)
{
	*s = (struct sides){ .cpu = t->side_by_side ? last_cpu() : -1 };
	for (unsigned i = 0; i < t->nmodule; i++) {
		const struct trial_module *m = &t->module[i];

		if (m->why.kind != ERR_NONE)
			continue;
		s->image[ORIGINAL][s->nimage] = (struct world_image){ m->path, m->path };
		s->image[GENERATION][s->nimage++] =
			(struct world_image){ m->path, m->generation };
	}
}

int trial_measure(struct trial *t, struct err *err)
{
	const struct keeper_result *r = t->reference.result;
	struct sides s;
	int rc;

	t->side_by_side = r->cpu_s <= parallel * r->wall_s;
	fill_sides(t, &s);
	progress_say(t->begun_s, "pairs of runs, %s: about %.1f s each",
		  t->side_by_side ? "side by side on one CPU" : "one after the other",
		  2 * r->wall_s);
	double begun = progress_elapsed_s(t->begun_s);
	rc = one_pair(t, &s, false, err);
	t->before_s = progress_elapsed_s(t->begun_s);
	t->pair_s = t->before_s - begun;
	while (rc == 1 && progress_elapsed_s(t->begun_s) + t->pair_s <= t->o->time_s) {
		rc = one_pair(t, &s, true, err);
		if (rc == 1 && ratio_due(&t->ratio)) {
			progress_say(t->begun_s,
				     "%u pairs: %.3f (%.3f to %.3f) times as fast", t->ratio.n,
				     t->ratio.estimate, t->ratio.low, t->ratio.high);
			if (ratio_known(&t->ratio))
				break;
		}
	}
	ratio_end(&t->ratio);
	return rc < 0 ? -1 : 0;
}
