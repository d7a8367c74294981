/* yaml.c - a policy from YAML text
 *
 * The shape is fixed: sections of settings, a setting is a scalar or a list of scalars.
 *
 *	idle:
 *	  check_s: 30
 *	modules:
 *	  include: ["/usr/bin/perl"]
 *
 * The walk follows libyaml's events and refuses at the first event that does not fit, so the text
 * decides neither the depth of anything nor the memory.  What a reader could misunderstand is
 * refused too: repeated sections and settings, aliases, anchors, tags, a second document.
 * Every message begins with NAME:LINE:COLUMN.
 */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/err.h"
#include "policy/setting.h"

enum {
	TEXT_MAX = 1 << 20,	/* bytes of a policy file */
	SHOWN_MAX = 80,		/* bytes of a name from the file in a message */
};

struct walk {
	yaml_parser_t parser;
	yaml_event_t ev;	/* the present one; type YAML_NO_EVENT at first */
	const char *name;
	struct bytes text;
	struct policy *policy;
	size_t *line;		/* [policy_nsetting] where a setting stood, 0 = not yet */
};

static int fail_at(const struct walk *w, yaml_mark_t mark, struct err *err)
{
	return err_wrap(err, "%s:%zu:%zu", w->name, mark.line + 1, mark.column + 1);
}

static int fail_here(const struct walk *w, struct err *err)
{
	return fail_at(w, w->ev.start_mark, err);
}

/* libyaml tells only the byte offset of an undecodable character. */
static yaml_mark_t mark_of_offset(struct bytes text, size_t off)
{
	yaml_mark_t mark = { .index = off };

	for (size_t i = 0; i < off && i < text.n; i++) {
		mark.column++;
		if (text.p[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static int parser_failed(const struct walk *w, struct err *err)
{
	const yaml_parser_t *ps = &w->parser;
	const char *problem = ps->problem ? ps->problem : "not YAML";

	if (ps->error == YAML_MEMORY_ERROR)
		return err_set(err, ERR_SYS, "%s: out of memory", w->name);
	(void)err_set(err, ERR_USAGE, "%s", problem);	/* wrapped and returned below */
	if (ps->error == YAML_READER_ERROR)
		return fail_at(w, mark_of_offset(w->text, ps->problem_offset), err);
	return fail_at(w, ps->problem_mark, err);
}

/* Anchor or tag of the present event; NULL when it has neither. */
static const char *decoration(const yaml_event_t *ev)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (ev->type == YAML_SCALAR_EVENT) {
		anchor = ev->data.scalar.anchor;
		tag = ev->data.scalar.tag;
	} else if (ev->type == YAML_MAPPING_START_EVENT) {
		anchor = ev->data.mapping_start.anchor;
		tag = ev->data.mapping_start.tag;
	} else if (ev->type == YAML_SEQUENCE_START_EVENT) {
		anchor = ev->data.sequence_start.anchor;
		tag = ev->data.sequence_start.tag;
	}
	return anchor ? "an anchor" : tag ? "a tag" : NULL;
}

/* The next event in w->ev. */
static int next(struct walk *w, struct err *err)
{
	yaml_event_delete(&w->ev);
	memset(&w->ev, 0, sizeof(w->ev));
	if (!yaml_parser_parse(&w->parser, &w->ev))
		return parser_failed(w, err);
	const char *what = decoration(&w->ev);
	if (w->ev.type == YAML_ALIAS_EVENT)
		what = "an alias";
	if (w->ev.type == YAML_DOCUMENT_START_EVENT &&
	    w->ev.data.document_start.tag_directives.start !=
		    w->ev.data.document_start.tag_directives.end)
		what = "a tag directive";
	if (!what)
		return 0;
	(void)err_set(err, ERR_USAGE, "%s is not allowed in a policy", what);
	return fail_here(w, err);
}

/* The present scalar's text; NULL with a message when it is no scalar or holds control
 * characters (an escaped NUL would cut it, an escape sequence would reach a terminal). */
static const char *scalar(const struct walk *w, const char *expected, struct err *err)
{
	if (w->ev.type != YAML_SCALAR_EVENT) {
		(void)err_set(err, ERR_USAGE, "expects %s, not a %s", expected,
			      w->ev.type == YAML_SEQUENCE_START_EVENT ? "list" : "mapping");
		return NULL;
	}
	const char *text = (const char *)w->ev.data.scalar.value;
	for (size_t i = 0; i < w->ev.data.scalar.length; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
			(void)err_set(err, ERR_USAGE, "a control character is not allowed");
			return NULL;
		}
	}
	return text;
}

static int read_list(struct walk *w, const struct setting *s, struct err *err)
{
	unsigned n = 0;

	setting_clear(s, w->policy);
	for (;; n++) {
		if (next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_SEQUENCE_END_EVENT)
			break;
		const char *text = scalar(w, "a text in its list", err);
		if (!text || setting_add(s, w->policy, text, err) < 0) {
			err_wrap(err, "%s.%s", s->section, s->key);
			return fail_here(w, err);
		}
	}
	if (n > 0 || s->kind != SETTING_PASSES)
		return 0;
	(void)err_set(err, ERR_USAGE, "%s.%s: the list is empty; permitted are any of %s",
		      s->section, s->key, policy_pass_names);
	return fail_here(w, err);
}

static int read_value(struct walk *w, const struct setting *s, struct err *err)
{
	if (next(w, err) < 0)
		return -1;
	if (setting_is_list(s) && w->ev.type == YAML_SEQUENCE_START_EVENT)
		return read_list(w, s, err);
	const char *text = scalar(w, setting_is_list(s) ? "a list" : "one value", err);
	bool quoted = text && w->ev.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (!text || setting_set(s, w->policy, text, quoted, err) < 0) {
		err_wrap(err, "%s.%s", s->section, s->key);
		return fail_here(w, err);
	}
	return 0;
}

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
		(void)err_set(err, ERR_USAGE, "unknown setting '%s.%.*s'; the settings of %s are %s",
			      section, SHOWN_MAX, name, section, (const char *)list.p);
	else
		(void)err_set(err, ERR_USAGE, "unknown section '%.*s'; the sections are %s",
			      SHOWN_MAX, name, (const char *)list.p);
	wr_free(&list);
	return fail_here(w, err);
}

/* Index of the setting, or of the section's first one when key == NULL; policy_nsetting if none. */
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
	if (next(w, err) < 0)
		return -1;
	if (w->ev.type != YAML_MAPPING_START_EVENT) {
		(void)err_set(err, ERR_USAGE, "section %s has no settings: expects lines KEY: VALUE",
			      section);
		return fail_here(w, err);
	}
	for (;;) {
		if (next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_MAPPING_END_EVENT)
			return 0;
		const char *key = scalar(w, "the name of a setting", err);
		if (!key)
			return fail_here(w, err);
		unsigned i = find_setting(section, key);
		if (i == policy_nsetting)
			return unknown_name(w, section, key, err);
		if (w->line[i]) {
			(void)err_set(err, ERR_USAGE, "%s.%s stands here a second time, first in line %zu",
				      section, key, w->line[i]);
			return fail_here(w, err);
		}
		w->line[i] = w->ev.start_mark.line + 1;
		if (read_value(w, &policy_setting[i], err) < 0)
			return -1;
	}
}

static int read_sections(struct walk *w, struct err *err)
{
	bool *seen = calloc(policy_nsetting, sizeof(*seen));	/* by first setting of the section */
	int rc = -1;

	if (!seen)
		return err_set(err, ERR_SYS, "out of memory");
	for (;;) {
		if (next(w, err) < 0)
			goto out;
		if (w->ev.type == YAML_MAPPING_END_EVENT)
			break;
		const char *name = scalar(w, "the name of a section", err);
		if (!name) {
			fail_here(w, err);
			goto out;
		}
		unsigned i = find_setting(name, NULL);
		if (i == policy_nsetting) {
			unknown_name(w, NULL, name, err);
			goto out;
		}
		if (seen[i]) {
			(void)err_set(err, ERR_USAGE, "section %s stands here a second time", name);
			fail_here(w, err);
			goto out;
		}
		seen[i] = true;
		if (read_section(w, policy_setting[i].section, err) < 0)
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
	if (next(w, err) < 0 || next(w, err) < 0)	/* stream start; document start or end */
		return -1;
	if (w->ev.type == YAML_STREAM_END_EVENT)
		return 0;
	if (next(w, err) < 0)
		return -1;
	if (w->ev.type == YAML_MAPPING_START_EVENT) {
		if (read_sections(w, err) < 0)
			return -1;
	} else if (w->ev.type != YAML_SCALAR_EVENT || w->ev.data.scalar.length > 0) {
		(void)err_set(err, ERR_USAGE, "expects sections: lines NAME: with settings under them");
		return fail_here(w, err);
	}
	if (next(w, err) < 0 || next(w, err) < 0)	/* document end; stream end */
		return -1;
	if (w->ev.type == YAML_STREAM_END_EVENT)
		return 0;
	(void)err_set(err, ERR_USAGE, "a second document is not allowed in a policy");
	return fail_here(w, err);
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
