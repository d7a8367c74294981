/* export_speedscope.c - evidence in speedscope's own file format
 *
 * One profile of kind `sampled`: each stack once, with its count as its weight.  The unit is
 * nanoseconds where the period of a sample is known.
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/report/export.h"
#include "manager/report/json.h"
#include "manager/report/stacks.h"

static struct json_object *frames(const struct stacks *s)
{
	struct json_object *list = json_list();

	for (uint32_t i = 0; i < s->nframe; i++) {
		struct json_object *frame = json_dict();

		json_set_text(frame, "name", s->frame[i].name);
		if (*s->frame[i].file)
			json_set_text(frame, "file", s->frame[i].file);
		json_add(list, frame);
	}
	return list;
}

static struct json_object *profile(const struct evidence *e, const struct stacks *s)
{
	struct json_object *p = json_dict(), *samples = json_list(), *weights = json_list();
	double unit = e->period_ns ? (double)e->period_ns : 1, total = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct json_object *stack = json_list();

		for (uint32_t k = 0; k < s->at[i].n; k++)
			json_add_int(stack, s->at[i].frame[k]);
		json_add(samples, stack);
		json_add_real(weights, s->at[i].count * unit);
		total += s->at[i].count * unit;
	}
	json_set_text(p, "type", "sampled");
	json_set_text(p, "name", e->executions ? "executions of blocks" : "samples");
	json_set_text(p, "unit", e->period_ns ? "nanoseconds" : "none");
	json_set_int(p, "startValue", 0);
	json_set_real(p, "endValue", total);
	json_set(p, "samples", samples);
	json_set(p, "weights", weights);
	return p;
}

int export_speedscope(const struct evidence *e, struct wr *out, struct err *err)
{
	struct json_object *file = json_dict(), *shared = json_dict(), *profiles = json_list();
	struct stacks s;

	(void)err;
	stacks_make(e, &s);
	json_set(shared, "frames", frames(&s));
	json_add(profiles, profile(e, &s));
	json_set_text(file, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_set_text(file, "exporter", "morphctl " MORPH_VERSION);
	json_set_int(file, "activeProfileIndex", 0);
	json_set(file, "shared", shared);
	json_set(file, "profiles", profiles);
	json_finish(file, out);
	return 0;
}
