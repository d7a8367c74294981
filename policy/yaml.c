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
 * Tested by tests/unit/policy/test_policy.c and tests/fuzz/fuzz_yaml.c.
 */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "policy/setting.h"
#include "policy/yamlwalk.h"

enum {
	TEXT_MAX = 1 << 20,	/* bytes of a policy file; chosen */
	SHOWN_MAX = 80,		/* bytes of a name from the file in a message */
};

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
			wr_raw(out, ", ", 2);
		wr_raw(out, name, strlen(name));
		last = name;
	}
	wr_u8(out, 0);
	return (const char *)out->p;
}

static int unknown_name(const struct walk *w, const char *section, const char *name,
			struct err *err)
{
	struct wr list = { 0 };

	(void)known_names(section, &list);
	if (section)
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

struct policy *policy_parse(struct bytes text, const char *name, struct err *err)
{
	struct walk w = { .name = name, .text = text, .policy = policy_default() };
	int rc = -1;

	w.line = calloc(policy_nsetting, sizeof(*w.line));
	if (!w.policy || !w.line || !yaml_parser_initialize(&w.parser)) {
		err_set(err, ERR_SYS, "%s: out of memory", name);
		goto out_memory;
	}
	if (!text.p || text.n > TEXT_MAX) {
		err_set(err, ERR_USAGE, "%s: a policy has at most %d bytes", name, TEXT_MAX);
		goto out;
	}
	yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&w.parser, text.p, (size_t)text.n);
	rc = read_stream(&w, err);
out:
	yaml_event_delete(&w.ev);
	yaml_parser_delete(&w.parser);
out_memory:
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

	if (io_read_all(fd, TEXT_MAX, a, &text, err) < 0)
		err_wrap(err, "'%s'", name);
	else
		p = policy_parse(text, name, err);
	arena_free(a);
	return p;
}
