/* yaml_rules.c - reads the rules of a policy, a YAML list of mappings
 *
 *	rules:
 *	  - name: databases
 *	    packages: [postgresql-*]
 *	    passes: [align, fluff]
 *
 * A rule has a name, says which modules it applies to, and either refuses these or gives them
 * settings of the sections optimize and profile that differ from the general ones.
 *
 * Tested by tests/unit/policy/test_rule.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "policy/policy.h"
#include "policy/setting.h"
#include "policy/yamlwalk.h"

/* Chosen: more than anybody writes by hand. */
enum { RULES_MAX = 256, NAME_MAX_BYTES = 64, SHOWN_MAX = 80 };

/* What follows a key: one of the rule's own, or a setting that it overrides. */
static int read_key(struct walk *w, struct policy_rule *r, const char *key, struct err *err)
{
	const struct setting *s = setting_of_rule(key);

	if (s)
		return walk_value(w, "rules", s, r, err);
	unsigned i = setting_overridden(key);
	if (i < policy_nsetting) {
		if (walk_value(w, "rules", &policy_setting[i], r->values, err) < 0)
			return -1;
		r->set |= (uint64_t)1 << i;
		return 0;
	}
	int gone = walk_gone(w, "optimize", key, err);
	if (gone)
		return gone < 0 ? -1 : 0;
	(void)err_set(err, ERR_USAGE,
		      "unknown setting 'rules.%.*s'; a rule has name, paths, packages, "
		      "users, refuse, share_layouts, give, take, and settings of profile, and "
		      "of optimize but half_life_d",
		      SHOWN_MAX, key);
	return walk_fail(w, err);
}

/* The keys that a rule has had so far, each with a comma after it. */
static bool had(struct wr *keys, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = keys->n ? (const char *)keys->p : ""; *at;
	     at = strchr(at, ',') + 1)
		if (strncmp(at, key, n) == 0 && at[n] == ',')
			return true;
	if (keys->n)
		keys->n--;		/* the NUL */
	wr_raw(keys, key, n);
	wr_raw(keys, ",", 2);
	return false;
}

static int read_name(struct walk *w, struct policy_rule *r, struct err *err)
{
	if (walk_next(w, err) < 0)
		return -1;
	const char *name = walk_scalar(w, "a name", err);
	if (name && (!*name || strlen(name) > NAME_MAX_BYTES)) {
		(void)err_set(err, ERR_USAGE, "a name has 1 to %d bytes", NAME_MAX_BYTES);
		name = NULL;
	}
	for (uint32_t i = 0; name && i + 1 < w->policy->nrule; i++) {
		const struct policy_rule *other = &w->policy->rule[i];

		if (strcmp(other->name, name) == 0) {
			(void)err_set(err, ERR_USAGE,
				      "'%s' is the name of the rule in line %u, too", name,
				      other->line);
			name = NULL;
		}
	}
	if (!name) {
		err_wrap(err, "rules.name");
		return walk_fail(w, err);
	}
	r->name = strdup(name);
	return r->name ? 0 : err_set(err, ERR_SYS, "out of memory");
}

static int read_keys(struct walk *w, struct policy_rule *r, struct wr *keys, struct err *err)
{
	for (;;) {
		if (walk_next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_MAPPING_END_EVENT)
			return 0;
		const char *key = walk_scalar(w, "the name of a setting", err);
		if (!key)
			return walk_fail(w, err);
		if (strlen(key) <= SHOWN_MAX && !strchr(key, ',') && had(keys, key)) {
			(void)err_set(err, ERR_USAGE, "rules.%s stands twice in one rule", key);
			return walk_fail(w, err);
		}
		int rc = strcmp(key, "name") == 0 ? read_name(w, r, err)
						  : read_key(w, r, key, err);
		if (rc < 0)
			return -1;
	}
}

/* A rule that is complete: the present event is its end. */
static int check_rule(const struct walk *w, const struct policy_rule *r, struct err *err)
{
	const char *what = NULL;

	if (!r->name)
		what = "has no name";
	else if (!r->paths.n && !r->packages.n && !r->users.n)
		what = "says of no paths, packages or users; [\"/*\"] are all paths";
	else if (r->refuse && r->set)
		what = "refuses what it is about, and has settings for it";
	if (!what)
		return 0;
	(void)err_set(err, ERR_USAGE, "the rule that begins in line %u %s", r->line, what);
	return walk_fail(w, err);
}

static int read_rule(struct walk *w, struct err *err)
{
	struct policy *p = w->policy;
	struct wr keys = { 0 };

	if (w->ev.type != YAML_MAPPING_START_EVENT) {
		(void)err_set(err, ERR_USAGE,
			      "expects a rule: lines KEY: VALUE, the first with - before it");
		return walk_fail(w, err);
	}
	if (p->nrule == RULES_MAX) {
		(void)err_set(err, ERR_USAGE, "a policy has at most %d rules", RULES_MAX);
		return walk_fail(w, err);
	}
	struct policy_rule *r = policy_rule_add(p, (uint32_t)w->ev.start_mark.line + 1);
	if (!r)
		return err_set(err, ERR_SYS, "out of memory");
	int rc = read_keys(w, r, &keys, err);
	wr_free(&keys);
	return rc < 0 ? -1 : check_rule(w, r, err);
}

int walk_rules(struct walk *w, struct err *err)
{
	if (walk_next(w, err) < 0)
		return -1;
	if (w->ev.type != YAML_SEQUENCE_START_EVENT) {
		(void)err_set(err, ERR_USAGE,
			      "rules: expects a list of rules, each with - before it");
		return walk_fail(w, err);
	}
	for (;;) {
		if (walk_next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_SEQUENCE_END_EVENT)
			return 0;
		if (read_rule(w, err) < 0)
			return -1;
	}
}
