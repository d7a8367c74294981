/* work_next.c - what is next for a module, in words and as a code; see work_next.h
 *
 * What the policy forbids comes first, and the place of the file, about which the parent is
 * asked; then what its window of recent samples lacks, then what would be decided at its end.
 * A window that begins lacks samples again, of which enough are known: then it is told what
 * the last one ended with, or that the use is watched.  Times are estimates by the rate at
 * which the window has filled so far.
 *
 * Tested by tests/unit/manager/control/test_show_overview.c.
 */
#include "manager/work/work_next.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/work/work.h"
#include "policy/policy.h"

const char *const work_next_name[] = {
#define NEXT(id, name, change) name,
#include "manager/work/work_next.def"
#undef NEXT
};

const char *const work_next_change[] = {
#define NEXT(id, name, change) change,
#include "manager/work/work_next.def"
#undef NEXT
};

/* A rate is known when so many samples came in so much time. */
static const double rate_samples = 20, rate_s = 10;

static const struct {
	enum decide_reason reason;
	enum work_next_code code;
} of_reason[] = {
	{ DECIDE_FEW_SAMPLES, WORK_NEXT_SAMPLES },  { DECIDE_UNSEEN, WORK_NEXT_UNSEEN },
	{ DECIDE_LITTLE_GAIN, WORK_NEXT_LITTLE_GAIN }, { DECIDE_SAME_USE, WORK_NEXT_SAME_USE },
	{ DECIDE_UNOBSERVED, WORK_NEXT_UNOBSERVED }, { DECIDE_COOL_DOWN, WORK_NEXT_COOL_DOWN },
	{ DECIDE_CPU_BUDGET, WORK_NEXT_BUDGET },    { DECIDE_DISK_BUDGET, WORK_NEXT_BUDGET },
};

/* ", about 2 min", or nothing where that is not known. */
static void say_wait(double wait_s, char *out, size_t size)
{
	char text[64];

	out[0] = '\0';
	if (!(wait_s >= 0 && wait_s < 1e9))
		return;
	table_human_time((unsigned long long)ceil(wait_s), text, sizeof(text));
	(void)snprintf(out, size, ", about %s", text);		/* fits */
}

/* As before a swap; without the path, which stands beside it. */
static bool is_misplaced(struct work *w, const struct store_module *m, struct work_next *out)
{
	size_t n = strlen(m->path);
	struct err why = { 0 };
	struct names also;

	if (work_check(w, m->path, &also, &why) == 0 || why.kind != ERR_REFUSED)
		return false;
	bool named = why.text[0] == '\'' && strncmp(why.text + 1, m->path, n) == 0 &&
		     strncmp(why.text + 1 + n, "': ", 3) == 0;
	(void)snprintf(out->text, sizeof(out->text), "left: %.360s",
		       why.text + (named ? n + 4 : 0));
	return true;
}

/* True: it is left alone, whatever its samples say. */
static bool is_left(struct work *w, const struct store_module *m, struct policy *policy,
		    struct work_next *out)
{
	const struct policy_rule *rule = work_rule(w, m->path, policy);

	out->code = m->refusal[0]			   ? WORK_NEXT_REFUSED
		    : !policy_allows(w->policy, m->path) ? WORK_NEXT_EXCLUDED
		    : rule && rule->refuse		   ? WORK_NEXT_RULE
							   : WORK_NEXT_PLACE;
	if (m->refusal[0])
		(void)snprintf(out->text, sizeof(out->text), "left: %.360s", m->refusal);
	else if (out->code == WORK_NEXT_EXCLUDED)
		(void)snprintf(out->text, sizeof(out->text), "left: not in the policy");
	else if (out->code == WORK_NEXT_RULE)
		(void)snprintf(out->text, sizeof(out->text),
			       "left: rule '%.200s' of the policy",
			       rule->name ? rule->name : "");
	return out->code != WORK_NEXT_PLACE || is_misplaced(w, m, out);
}

/* Until the window has them; < 0: not known. */
static double samples_wait_s(const struct work_foresight *f, double samples)
{
	return f->samples >= rate_samples && f->since_s >= rate_s
		       ? samples * f->since_s / f->samples : -1;
}

static void lacks_samples(const struct work_foresight *f, struct work_next *out)
{
	double lacks = ceil(f->least - f->samples);
	char wait[96];

	out->code = WORK_NEXT_SAMPLES;
	out->samples = fmax(1, lacks);
	out->wait_s = samples_wait_s(f, out->samples);
	say_wait(out->wait_s, wait, sizeof(wait));
	(void)snprintf(out->text, sizeof(out->text), "needs %.0f more samples%s", out->samples,
		       wait);		/* fits */
}

/* For some hours, and until it has samples. */
static void lacks_time(const struct work_foresight *f, struct work_next *out)
{
	double lacks = ceil(f->least - f->samples);
	double samples_s = lacks > 0 ? samples_wait_s(f, lacks) : 0;
	char wait[96];

	out->code = WORK_NEXT_WINDOW;
	out->wait_s = samples_s < 0 ? -1 : fmax(samples_s, f->last_s - f->since_s);
	say_wait(out->wait_s, wait, sizeof(wait));
	/* fits */
	(void)snprintf(out->text, sizeof(out->text), "its use is watched%s", wait);
}

/* Of the module's own time, by what was gained for other programs. */
static double times_of(const struct work_foresight *f)
{
	return f->gain_own > 0 && f->gain_own < 1 ? 1 / (1 - f->gain_own) : 0;
}

static void is_ready(const struct work_foresight *f, struct work_next *out)
{
	char about[48] = "";

	out->code = WORK_NEXT_READY;
	out->times_as_fast = times_of(f);
	if (out->times_as_fast > 0)
		(void)snprintf(about, sizeof(about), ", about %.2f times as fast",
			       out->times_as_fast);		/* fits */
	(void)snprintf(out->text, sizeof(out->text), "ready%s%s, at the next idle time",
		       f->counts ? " to be counted" : "", about);	/* fits */
}

static void is_judged(const struct work_foresight *f, struct work_next *out)
{
	for (size_t i = 0; i < sizeof(of_reason) / sizeof(of_reason[0]); i++)
		if (of_reason[i].reason == f->d.reason)
			out->code = of_reason[i].code;
	(void)snprintf(out->text, sizeof(out->text), "waits: %s",
		       decide_reason_text[f->d.reason]);	/* fits */
}

/* True: the window before ended with a reason to wait, which few samples are not. */
static bool is_waiting(const struct work_foresight *f, struct work_next *out)
{
	size_t n = strlen(decide_few_people);

	if (strncmp(f->verdict, decide_few_people, n) == 0) {
		out->code = WORK_NEXT_PEOPLE;
		(void)snprintf(out->text, sizeof(out->text), "waits: %s", decide_few_people);
		return true;
	}
	for (size_t i = 0; i < sizeof(of_reason) / sizeof(of_reason[0]); i++) {
		const char *text = decide_reason_text[of_reason[i].reason];

		if (of_reason[i].code == WORK_NEXT_SAMPLES ||
		    strncmp(f->verdict, text, strlen(text)) != 0)
			continue;
		out->code = of_reason[i].code;
		(void)snprintf(out->text, sizeof(out->text), "waits: %s", text);
		return true;
	}
	return false;
}

/* As many samples are known as the policy wants, but the window has just begun. */
static void begins_anew(const struct work_foresight *f, struct work_next *out)
{
	if (is_waiting(f, out))
		return;
	if (f->last_s > 0)
		lacks_time(f, out);
	else
		lacks_samples(f, out);
}

static int foretell(struct work *w, const struct store_module *m, const struct policy *policy,
		    struct work_next *out, struct err *err)
{
	struct work_foresight f;

	if (work_foresee(w, m, &f, err) < 0)
		return -1;
	if (!policy->automatic && m->samples >= policy->min_samples) {
		out->code = WORK_NEXT_BY_HAND;
		(void)snprintf(out->text, sizeof(out->text), "nothing, unless you ask for it");
	} else if (!f.ends && f.samples < f.least && m->samples >= f.least) {
		begins_anew(&f, out);
	} else if (!f.ends && f.samples < f.least) {
		lacks_samples(&f, out);
	} else if (!f.ends) {
		lacks_time(&f, out);
	} else if ((f.d.act || f.counts) && !f.enough_people) {
		out->code = WORK_NEXT_PEOPLE;
		(void)snprintf(out->text, sizeof(out->text), "waits: %s", decide_few_people);
	} else if (f.d.act || f.counts) {
		is_ready(&f, out);
	} else {
		is_judged(&f, out);
	}
	return 0;
}

int work_next(struct work *w, const struct store_module *m, struct work_next *out,
	      struct err *err)
{
	struct store_counting counting;
	struct policy policy;

	*out = (struct work_next){ .wait_s = -1 };
	int rc = store_counting_get(w->store, m->id, &counting, err);
	if (rc < 0)
		return -1;
	if (rc || (w->burst_pid && strcmp(w->burst_path, m->path) == 0)) {
		out->code = WORK_NEXT_COUNTING;
		(void)snprintf(out->text, sizeof(out->text), "its runs %s",
			       rc && counting.ended_ns ?
			       "have been counted; it is laid out at the next idle time" :
			       "are counted");
		return 0;
	}
	return is_left(w, m, &policy, out) ? 0 : foretell(w, m, &policy, out, err);
}
