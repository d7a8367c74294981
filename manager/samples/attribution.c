/* attribution.c - what attribute.c found, and sums of it
 *
 * Tested by tests/unit/manager/samples/test_attribute.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "manager/samples/attribute.h"

struct attribute_module *attribution_module(struct attribution *r, uint64_t module)
{
	uint32_t lo = 0, hi = r->nmodule;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->module[mid].module < module)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < r->nmodule && r->module[lo].module == module)
		return &r->module[lo];
	r->module = memory_grow(r->module, r->nmodule + 1, sizeof(*r->module));
	memmove(&r->module[lo + 1], &r->module[lo], (r->nmodule - lo) * sizeof(*r->module));
	r->nmodule++;
	r->module[lo] = (struct attribute_module){ .module = module };
	return &r->module[lo];
}

void attribution_use(struct attribution *r, const struct attribute_use *u)
{
	r->use = memory_grow(r->use, r->nuse + (size_t)1, sizeof(*r->use));
	r->use[r->nuse++] = *u;
}

void attribution_whose(struct attribution *r, const struct attribute_whose *w)
{
	r->whose = memory_grow(r->whose, r->nwhose + (size_t)1, sizeof(*r->whose));
	r->whose[r->nwhose++] = *w;
}

void attribution_crash(struct attribution *r, const struct attribute_crash *c)
{
	r->crash = memory_grow(r->crash, r->ncrash + (size_t)1, sizeof(*r->crash));
	r->crash[r->ncrash++] = *c;
}

void attribution_ran(struct attribution *r, const char *program,
		     const struct attribute_ran *ran)
{
	r->ran = memory_grow(r->ran, r->nran + (size_t)1, sizeof(*r->ran));
	r->ran[r->nran] = *ran;
	r->ran[r->nran++].program = memory_need(strdup(program));
}

void attribution_made(struct attribution *r, const char *program, const char *name,
		      uint32_t uid, uint64_t samples)
{
	r->made = memory_grow(r->made, r->nmade + (size_t)1, sizeof(*r->made));
	r->made[r->nmade++] = (struct attribute_made){ memory_need(strdup(program)),
						       memory_need(strdup(name)), uid,
						       samples };
}

void attribution_place(struct attribute_module *m, const struct attribute_place *p)
{
	m->place = memory_grow(m->place, m->nplace + (size_t)1, sizeof(*m->place));
	m->place[m->nplace++] = *p;
}

void attribution_add(struct attribution *to, const struct attribution *from)
{
	for (int i = 0; i < NCOUNTER; i++)
		to->counter[i] += from->counter[i];
	topnames_add_all(&to->kernel, &from->kernel);
	for (uint32_t i = 0; i < from->nmade; i++)
		attribution_made(to, from->made[i].program, from->made[i].name,
				 from->made[i].uid, from->made[i].samples);
	usersums_add_all(&to->user, &from->user);
	to->bad_blocks += from->bad_blocks;
	if (from->newest_ns > to->newest_ns)
		to->newest_ns = from->newest_ns;
	for (uint32_t i = 0; i < from->nmodule; i++) {
		const struct attribute_module *f = &from->module[i];
		struct attribute_module *m = attribution_module(to, f->module);

		m->samples += f->samples;
		m->outside += f->outside;
		blockcounts_add(&m->count, &m->ncount, f->count, f->ncount);
		for (uint32_t k = 0; k < f->nplace; k++)
			attribution_place(m, &f->place[k]);
		m->states += f->states;
		edgecounts_add(&m->edges, &f->edges, 1);
	}
	for (uint32_t i = 0; i < from->ncrash; i++)
		attribution_crash(to, &from->crash[i]);
	for (uint32_t i = 0; i < from->nuse; i++)
		attribution_use(to, &from->use[i]);
	for (uint32_t i = 0; i < from->nwhose; i++)
		attribution_whose(to, &from->whose[i]);
	for (uint32_t i = 0; i < from->nran; i++)
		attribution_ran(to, from->ran[i].program, &from->ran[i]);
}

void attribution_free(struct attribution *r)
{
	for (uint32_t i = 0; i < r->nmodule; i++) {
		free(r->module[i].count);
		free(r->module[i].place);
		edgecounts_free(&r->module[i].edges);
	}
	for (uint32_t i = 0; i < r->nran; i++)
		free(r->ran[i].program);
	for (uint32_t i = 0; i < r->nmade; i++) {
		free(r->made[i].program);
		free(r->made[i].name);
	}
	topnames_free(&r->kernel);
	usersums_free(&r->user);
	free(r->module);
	free(r->crash);
	free(r->use);
	free(r->whose);
	free(r->ran);
	free(r->made);
	*r = (struct attribution){ 0 };
}
