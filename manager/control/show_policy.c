/* show_policy.c - the policy in force, and its settings for one module
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/answer.h"
#include "policy/policy.h"

struct settings {
	struct table *t;
	bool paths;			/* are told */
};

static void list_setting(void *ctx, const char *section, const char *key, const char *value,
			 const char *unit, const char *help)
{
	const struct settings *s = ctx;
	char name[128];

	(void)snprintf(name, sizeof(name), "%s.%s", section, key);	/* fits */
	table_row(s->t, name, s->paths || !strchr(value, '/') ? value : "(not for users)", unit,
		  help);
}

static void show_settings(const struct work *w, const struct policy *p, struct client *cl)
{
	static const struct table_column col[] = {
		{ "setting", TABLE_TEXT }, { "value", TABLE_TEXT }, { "unit", TABLE_TEXT },
		{ "meaning", TABLE_TEXT },
	};
	struct settings s = { NEW_TABLE("policy", col), access_sees_all(w, cl) };

	policy_each(p, list_setting, &s);
	show_give(cl, s.t);
}

/* Appends `", key: value"`. */
static void add_setting(void *ctx, const char *section, const char *key, const char *value,
			const char *unit, const char *help)
{
	struct wr *w = ctx;

	(void)section, (void)unit, (void)help;
	if (w->n)
		wr_text(w, ", ");
	wr_text(w, key);
	wr_text(w, ": ");
	wr_text(w, value);
}

static const char *list_of(const struct policy_globs *g, struct wr *w)
{
	w->n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		wr_text(w, i ? ", " : "");
		wr_text(w, g->glob[i]);
	}
	wr_u8(w, 0);
	return (const char *)w->p;
}

static void show_rules(const struct policy *p, struct client *cl)
{
	static const struct table_column col[] = {
		{ "rule", TABLE_TEXT }, { "line", TABLE_UINT }, { "paths", TABLE_TEXT },
		{ "packages", TABLE_TEXT }, { "users", TABLE_TEXT }, { "says", TABLE_TEXT },
	};
	struct wr w[4] = { 0 };
	struct table *t = NEW_TABLE("rules", col);

	for (uint32_t i = 0; i < p->nrule; i++) {
		const struct policy_rule *r = &p->rule[i];

		w[3].n = 0;
		policy_each_of_rule(r, add_setting, &w[3]);
		if (!w[3].n)
			wr_raw(&w[3], r->refuse ? "refused" : "nothing else",
			       r->refuse ? 7 : 12);
		wr_u8(&w[3], 0);
		table_row(t, r->name, (uint64_t)r->line, list_of(&r->paths, &w[0]),
			  list_of(&r->packages, &w[1]), list_of(&r->users, &w[2]),
			  (const char *)w[3].p);
	}
	show_give(cl, t);
	for (int i = 0; i < 4; i++)
		wr_free(&w[i]);
}

int show_policy(struct work *w, struct client *cl, struct err *err)
{
	(void)err;			/* cannot fail */
	show_settings(w, w->policy, cl);
	if (w->policy->nrule && access_sees_all(w, cl))
		show_rules(w->policy, cl);
	return 0;
}

/* Appends which other names are swapped with it. */
static void add_names(char *text, size_t size, const struct names *also)
{
	size_t n = strlen(text);

	for (unsigned i = 0; i < also->n && n < size; i++)	/* cut, if need be */
		n += (size_t)snprintf(text + n, size - n, "%s %s",
				      i ? "," : also->n > 1 ? "; with its other names"
							    : "; with its other name",
				      names_at(also, i));
}

int show_rule(struct work *w, const char *path, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "allowed", TABLE_BOOL }, { "rule", TABLE_TEXT },
		{ "line", TABLE_UINT }, { "why", TABLE_TEXT },
	};
	bool included = policy_allows(w->policy, path);
	struct policy policy;

	if (path[0] != '/')
		return err_set(err, ERR_USAGE, "'%s': not an absolute path", path);
	const struct policy_rule *r = work_rule(w, path, &policy);
	bool allowed = included && !(r && r->refuse);
	/* what else speaks against it is told beforehand, too */
	struct err why = { 0 };
	struct names also;
	char known[sizeof(also.text) + 64];
	bool refused = allowed && work_check(w, path, &also, &why) < 0;
	(void)snprintf(known, sizeof(known), "%s", r ? "the rule" : "no rule is about it");
	if (allowed && !refused)
		add_names(known, sizeof(known), &also);
	struct table *t = NEW_TABLE("module", col);
	table_row(t, path, (int)(allowed && !refused), r ? r->name : "",
		  (uint64_t)(r ? r->line : 0),
		  !included	   ? "not among the policy's modules"
		  : r && r->refuse ? "the rule refuses it"
		  : refused	   ? why.text
				   : known);
	show_give(cl, t);
	show_settings(w, &policy, cl);
	return 0;
}
