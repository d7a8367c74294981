/* yaml.c - reads a policy from YAML text
 *
 * The shape is fixed: sections of settings, a setting is a scalar or a list of scalars; and
 * rules (yaml_rules.c).
 *
 *	idle:
 *	  check_s: 30
 *	modules:
 *	  include: ["/usr/bin/perl"]
 *
 * The walk follows libyaml's events and refuses at the first event that does not fit, so the
 * text decides neither the depth of anything nor the memory.  What a reader could misunderstand
 * is refused too: repeated sections and settings, aliases, anchors, tags, a second document.
 * Every message begins with NAME:LINE:COLUMN.
 *
 * Files that add to a policy (lib/dropins.h) are read onto it, one after the other: what is
 * read later holds, and its rules come first.
 *
 * Tested by tests/unit/policy/test_policy.c and tests/fuzz/fuzz_yaml.c.
 */
#include "policy/policy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/usage.h"
#include "policy/setting.h"
#include "policy/yamlwalk.h"

enum { SHOWN_MAX = 80 };		/* bytes of a name from the file in a message */

/* "a, b, c" of the sections (section == NULL) or of a section's settings. */
static const char *known_names(const char *section, struct wr *out)
{
	const char *last = "";

	for (unsigned i = 0; i < policy_nsetting; i++) {
		const struct setting *s = &policy_setting[i];
		const char *name = section ? s->key : s->section;

		if (section ? strcmp(s->section, section) != 0 : strcmp(name, last) == 0)
			continue;
		if (out->n)
			wr_text(out, ", ");
		wr_text(out, name);
		last = name;
	}
	wr_u8(out, 0);
	return (const char *)out->p;
}

/* NULL: none is near. */
static const char *meant_name(const char *section, const char *name)
{
	struct usage_meant m = { name, UINT_MAX };
	const char *meant = NULL;

	for (unsigned i = 0; i < policy_nsetting; i++) {
		const struct setting *s = &policy_setting[i];

		if (section && strcmp(s->section, section) != 0)
			continue;
		if (usage_is_nearer(&m, section ? s->key : s->section))
			meant = section ? s->key : s->section;
	}
	return !section && usage_is_nearer(&m, "rules") ? "rules" : meant;
}

static int unknown_name(const struct walk *w, const char *section, const char *name,
			struct err *err)
{
	struct wr list = { 0 };
	const char *meant = meant_name(section, name);

	(void)known_names(section, &list);
	if (meant)
		(void)err_set(err, ERR_USAGE, "unknown %s '%s%s%.*s'; did you mean '%s'?",
			      section ? "setting" : "section", section ? section : "",
			      section ? "." : "", SHOWN_MAX, name, meant);
	else if (section)
		(void)err_set(err, ERR_USAGE,
			      "unknown setting '%s.%.*s'; the settings of %s are %s", section,
			      SHOWN_MAX, name, section, (const char *)list.p);
	else
		(void)err_set(err, ERR_USAGE,
			      "unknown section '%.*s'; the sections are %s, rules", SHOWN_MAX,
			      name, (const char *)list.p);
	wr_free(&list);
	return walk_fail(w, err);
}

/* Index of the setting, or of the section's first one when key == NULL; policy_nsetting if
 * none. */
static unsigned find_setting(const char *section, const char *key)
{
	unsigned i = 0;

	while (i < policy_nsetting && (strcmp(policy_setting[i].section, section) != 0 ||
				       (key && strcmp(policy_setting[i].key, key) != 0)))
		i++;
	return i;
}

static int read_section(struct walk *w, const char *section, struct err *err)
{
	if (walk_next(w, err) < 0)
		return -1;
	if (w->ev.type != YAML_MAPPING_START_EVENT) {
		(void)err_set(err, ERR_USAGE,
			      "section %s has no settings: expects lines KEY: VALUE", section);
		return walk_fail(w, err);
	}
	for (;;) {
		if (walk_next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_MAPPING_END_EVENT)
			return 0;
		const char *key = walk_scalar(w, "the name of a setting", err);
		if (!key)
			return walk_fail(w, err);
		int gone = walk_gone(w, section, key, err);
		if (gone < 0)
			return -1;
		if (gone > 0)
			continue;
		unsigned i = find_setting(section, key);
		if (i == policy_nsetting)
			return unknown_name(w, section, key, err);
		if (w->line[i]) {
			(void)err_set(err, ERR_USAGE,
				      "%s.%s stands here a second time, first in line %zu",
				      section, key, w->line[i]);
			return walk_fail(w, err);
		}
		w->line[i] = w->ev.start_mark.line + 1;
		if (walk_value(w, section, &policy_setting[i], w->policy, err) < 0)
			return -1;
	}
}

static int read_sections(struct walk *w, struct err *err)
{
	/* By the first setting of the section; the rules are the last. */
	bool *seen = calloc(policy_nsetting + 1, sizeof(*seen));
	int rc = -1;

	if (!seen)
		return err_set(err, ERR_SYS, "out of memory");
	for (;;) {
		if (walk_next(w, err) < 0)
			goto out;
		if (w->ev.type == YAML_MAPPING_END_EVENT)
			break;
		const char *name = walk_scalar(w, "the name of a section", err);
		if (!name) {
			walk_fail(w, err);
			goto out;
		}
		unsigned i = find_setting(name, NULL);
		bool rules = strcmp(name, "rules") == 0;
		if (i == policy_nsetting && !rules) {
			unknown_name(w, NULL, name, err);
			goto out;
		}
		if (seen[i]) {
			(void)err_set(err, ERR_USAGE, "section %s stands here a second time",
				      name);
			walk_fail(w, err);
			goto out;
		}
		seen[i] = true;
		if ((rules ? walk_rules(w, err)
			   : read_section(w, policy_setting[i].section, err)) < 0)
			goto out;
	}
	rc = 0;
out:
	free(seen);
	return rc;
}

/* A stream without a document, or with an empty one, asks for nothing: all defaults. */
static int read_stream(struct walk *w, struct err *err)
{
	/* stream start; document start or end */
	if (walk_next(w, err) < 0 || walk_next(w, err) < 0)
		return -1;
	if (w->ev.type == YAML_STREAM_END_EVENT)
		return 0;
	if (walk_next(w, err) < 0)
		return -1;
	if (w->ev.type == YAML_MAPPING_START_EVENT) {
		if (read_sections(w, err) < 0)
			return -1;
	} else if (w->ev.type != YAML_SCALAR_EVENT || w->ev.data.scalar.length > 0) {
		(void)err_set(err, ERR_USAGE,
			      "expects sections: lines NAME: with settings under them");
		return walk_fail(w, err);
	}
	if (walk_next(w, err) < 0 || walk_next(w, err) < 0)	/* document end; stream end */
		return -1;
	if (w->ev.type == YAML_STREAM_END_EVENT)
		return 0;
	(void)err_set(err, ERR_USAGE, "a second document is not allowed in a policy");
	return walk_fail(w, err);
}

/* The rules from `n` on come first. */
static int put_first(struct policy *p, uint32_t n)
{
	uint32_t added = p->nrule - n;
	struct policy_rule *was = calloc(n ? n : 1, sizeof(*was));

	if (!was)
		return -1;
	if (n)
		memcpy(was, p->rule, n * sizeof(*was));
	if (added)
		memmove(p->rule, p->rule + n, added * sizeof(*was));
	if (n)
		memcpy(p->rule + added, was, n * sizeof(*was));
	free(was);
	return 0;
}

/* Onto the policy.  w->line tells afterwards which settings it has. */
static int parse_part(struct walk *w, struct err *err)
{
	uint32_t nrule = w->policy->nrule;

	memset(w->line, 0, policy_nsetting * sizeof(*w->line));
	memset(&w->ev, 0, sizeof(w->ev));
	if (!yaml_parser_initialize(&w->parser))
		return err_set(err, ERR_SYS, "%s: out of memory", w->name);
	yaml_parser_set_encoding(&w->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&w->parser, w->text.n ? w->text.p : (const uint8_t *)"",
				     (size_t)w->text.n);
	int rc = read_stream(w, err);
	yaml_event_delete(&w->ev);
	yaml_parser_delete(&w->parser);
	if (rc == 0 && put_first(w->policy, nrule) < 0)
		rc = err_set(err, ERR_SYS, "%s: out of memory", w->name);
	return rc;
}

struct part {
	char name[DROPINS_NAME_MAX];
};

/* Two files that add to the policy have the same setting: the first of these is noted. */
static void note_again(struct walk *w, unsigned *by, unsigned part, const struct part *parts)
{
	for (unsigned i = 0; i < policy_nsetting; i++) {
		if (!w->line[i])
			continue;
		if (by[i] && !w->policy->note &&
		    asprintf(&w->policy->note,
			     "%s:%zu: %s.%s is set in %s, too; this one holds", w->name,
			     w->line[i], policy_setting[i].section, policy_setting[i].key,
			     parts[by[i]].name) < 0)
			w->policy->note = NULL;		/* it is only a hint */
		by[i] = part;
	}
}

static int note_automatic(struct walk *w, struct err *err)
{
	for (unsigned i = 0; i < policy_nsetting; i++) {
		if (!w->line[i] || strcmp(policy_setting[i].section, "optimize") != 0 ||
		    strcmp(policy_setting[i].key, "automatic") != 0)
			continue;
		free(w->policy->automatic_by);
		w->policy->automatic_by = strdup(w->name);
		if (!w->policy->automatic_by)
			return err_set(err, ERR_SYS, "%s: out of memory", w->name);
	}
	return 0;
}

static int parse_parts(struct walk *w, struct bytes text, struct err *err)
{
	struct part *parts = calloc(DROPINS_MAX + 2, sizeof(*parts));
	unsigned *by = calloc(policy_nsetting, sizeof(*by)), n = 0;
	int rc = parts && by ? 0 : err_set(err, ERR_SYS, "%s: out of memory", w->name);

	if (rc == 0)
		(void)snprintf(parts[0].name, sizeof(parts[0].name), "%s", w->name);
	do {
		if (rc < 0)
			break;
		w->text = dropins_part(&text, parts[n].name);
		w->name = parts[n].name;
		rc = parse_part(w, err);
		if (rc == 0)
			note_again(w, by, n, parts);
		if (rc == 0)
			rc = note_automatic(w, err);
		if (++n > DROPINS_MAX + 1 && text.n)
			rc = err_set(err, ERR_USAGE, "%s: too many parts", w->name);
	} while (text.n);
	free(parts);
	free(by);
	return rc;
}

struct policy *policy_parse(struct bytes text, const char *name, struct err *err)
{
	struct walk w = { .name = name, .policy = policy_default() };
	int rc;

	w.line = calloc(policy_nsetting, sizeof(*w.line));
	if (!w.policy || !w.line)
		rc = err_set(err, ERR_SYS, "%s: out of memory", name);
	else if (!text.p || text.n > POLICY_TEXT_MAX)
		rc = err_set(err, ERR_USAGE, "%s: a policy has at most %d bytes", name,
			     POLICY_TEXT_MAX);
	else
		rc = parse_parts(&w, text, err);
	free(w.line);
	if (rc < 0) {
		policy_free(w.policy);
		w.policy = NULL;
	}
	return w.policy;
}

struct policy *policy_read(int fd, const char *name, struct err *err)
{
	struct arena *a = arena_new();
	struct policy *p = NULL;
	struct bytes text;

	if (io_read_all(fd, POLICY_TEXT_MAX, a, &text, err) < 0)
		err_wrap(err, "'%s'", name);
	else
		p = policy_parse(text, name, err);
	arena_free(a);
	return p;
}
