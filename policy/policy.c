/* policy.c - makes the default policy, answers questions about a policy, lists its settings */
#include "policy/policy.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "policy/setting.h"

static const char *const default_include[] = {
	"/usr/bin/*", "/usr/sbin/*", "/usr/lib/*", "/usr/lib64/*",
};

static void pass_set_all(struct policy_passes *passes)
{
#define PASS(name) passes->name = true;
#include "policy/passes.def"
#undef PASS
}

struct policy *policy_default(void)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	for (unsigned i = 0; i < policy_nsetting; i++) {
		const struct setting *s = &policy_setting[i];

		if (s->kind == SETTING_UINT || s->kind == SETTING_BOOL ||
		    s->kind == SETTING_CLOCK || s->kind == SETTING_SWITCH ||
		    s->kind == SETTING_ONOFF)
			*(unsigned *)((char *)p + s->off) = s->def;
		if (s->kind == SETTING_PASSES)
			pass_set_all(&p->passes);
		if (s->kind != SETTING_GLOBS || strcmp(s->key, "include") != 0)
			continue;
		for (size_t k = 0; k < sizeof(default_include) / sizeof(default_include[0]);
		     k++) {
			if (setting_add(s, p, default_include[k], NULL) < 0) {
				policy_free(p);
				return NULL;
			}
		}
	}
	p->module_cpu_per_day_s = p->module_disk_per_day_mib = UINT_MAX;
	return p;
}

struct policy_rule *policy_rule_add(struct policy *p, uint32_t line)
{
	struct policy_rule *grown = realloc(p->rule, (p->nrule + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	p->rule = grown;
	grown[p->nrule] = (struct policy_rule){ .line = line, .values = calloc(1, sizeof(*p)) };
	return grown[p->nrule].values ? &grown[p->nrule++] : NULL;
}

static void rule_clear(struct policy_rule *r)
{
	static const char *const list[] = { "paths", "packages", "users" };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		setting_clear(setting_of_rule(list[i]), r);
	free(r->name);
	free(r->values);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < policy_nsetting; i++)
		setting_clear(&policy_setting[i], p);
	for (uint32_t i = 0; i < p->nrule; i++)
		rule_clear(&p->rule[i]);
	free(p->rule);
	free(p->note);
	free(p->automatic_by);
	free(p);
}

static bool any_matches(const struct policy_globs *g, const char *path)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (fnmatch(g->glob[i], path, 0) == 0)
			return true;
	}
	return false;
}

bool policy_allows(const struct policy *p, const char *path)
{
	return any_matches(&p->include, path) && !any_matches(&p->exclude, path);
}

bool policy_sends(const struct policy *p, const char *path)
{
	return any_matches(&p->share_send, path);
}

/* The setting as the rule has it, or NULL. */
static const struct policy *setter(const struct policy_rule *r, const char *key)
{
	return r->set >> setting_overridden(key) & 1 ? r->values : NULL;
}

bool policy_asks_whose(const struct policy *p)
{
	bool any = p->share_layouts > 1;

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy *own = setter(&p->rule[i], "share_layouts");

		any = any || (own && own->share_layouts > 1);
	}
	return any;
}

bool policy_live(const struct policy *p)
{
	bool any = p->live;

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy *own = setter(&p->rule[i], "live");

		any = any || (own && own->live);
	}
	return any;
}

bool policy_inherits(const struct policy *p)
{
	bool any = p->inherit;

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy *own = setter(&p->rule[i], "inherit");

		any = any || (own && own->inherit);
	}
	return any;
}

bool policy_automatic(const struct policy *p)
{
	bool any = p->automatic;

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy *own = setter(&p->rule[i], "automatic");

		any = any || (own && own->automatic);
	}
	return any;
}

unsigned policy_least_samples(const struct policy *p)
{
	unsigned least = p->min_samples;

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy *own = setter(&p->rule[i], "min_samples");

		if (own && own->min_samples < least)
			least = own->min_samples;
	}
	return least;
}

static void each_of(const struct policy *p, uint64_t set,
		    void (*f)(void *ctx, const char *section, const char *key,
			      const char *value, const char *unit, const char *help),
		    void *ctx)
{
	struct wr text = { 0 };

	for (unsigned i = 0; i < policy_nsetting; i++) {
		const struct setting *s = &policy_setting[i];

		if (!(set >> i & 1))
			continue;
		text.n = 0;
		setting_show(s, p, &text);
		wr_u8(&text, 0);
		f(ctx, s->section, s->key, (const char *)text.p, s->unit, s->help);
	}
	wr_free(&text);
}

void policy_each(const struct policy *p,
		 void (*f)(void *ctx, const char *section, const char *key, const char *value,
			   const char *unit, const char *help), void *ctx)
{
	each_of(p, ~(uint64_t)0, f, ctx);
}

void policy_each_of_rule(const struct policy_rule *r,
			 void (*f)(void *ctx, const char *section, const char *key,
				   const char *value, const char *unit, const char *help),
			 void *ctx)
{
	each_of(r->values, r->set, f, ctx);
}
