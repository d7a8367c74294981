/* yamlwalk.c - steps through YAML text event by event with libyaml; see yamlwalk.h
 *
 * Tested by tests/unit/policy/test_policy.c and tests/fuzz/fuzz_yaml.c.
 */
#include "policy/yamlwalk.h"

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "policy/policy.h"
#include "policy/setting.h"

static int fail_at(const struct walk *w, yaml_mark_t mark, struct err *err)
{
	return err_wrap(err, "%s:%zu:%zu", w->name, mark.line + 1, mark.column + 1);
}

int walk_fail(const struct walk *w, struct err *err)
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

/* A tab stands in the indentation of that line, or the one before it. */
static bool has_tab(struct bytes text, size_t line)
{
	size_t at = 0, n = 0;

	for (; at < text.n && n + 1 < line; at++)
		n += text.p[at] == '\n';
	for (bool indent = true; at < text.n && n <= line; at++) {
		if (text.p[at] == '\n') {
			indent = true;
			n++;
			continue;
		}
		if (indent && text.p[at] == '\t')
			return true;
		indent = indent && text.p[at] == ' ';
	}
	return false;
}

static int parser_failed(const struct walk *w, struct err *err)
{
	const yaml_parser_t *ps = &w->parser;
	const char *problem = ps->problem ? ps->problem : "not YAML";

	if (ps->error == YAML_MEMORY_ERROR)
		return err_set(err, ERR_SYS, "%s: out of memory", w->name);
	if (ps->error == YAML_SCANNER_ERROR && has_tab(w->text, ps->problem_mark.line))
		problem = "a tab: lines are indented with blanks";
	else if (ps->error == YAML_SCANNER_ERROR && ps->context &&
		 strstr(ps->context, "alias"))
		problem = "what begins with * has to be in quotes, as in \"*.so\"";
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

int walk_next(struct walk *w, struct err *err)
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
	(void)err_set(err, ERR_USAGE, "%s is not allowed in a policy%s", what,
		      w->ev.type == YAML_ALIAS_EVENT ?
			      "; a text that begins with * has to be in quotes" : "");
	return walk_fail(w, err);
}

const char *walk_scalar(const struct walk *w, const char *expected, struct err *err)
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

static int read_list(struct walk *w, const char *section, const struct setting *s, void *into,
		     struct err *err)
{
	unsigned n = 0;

	setting_clear(s, into);
	for (;; n++) {
		if (walk_next(w, err) < 0)
			return -1;
		if (w->ev.type == YAML_SEQUENCE_END_EVENT)
			break;
		const char *text = walk_scalar(w, "a text in its list", err);
		if (!text || setting_add(s, into, text, err) < 0) {
			err_wrap(err, "%s.%s", section, s->key);
			return walk_fail(w, err);
		}
	}
	if (n > 0 || s->kind != SETTING_PASSES)
		return 0;
	(void)err_set(err, ERR_USAGE, "%s.%s: the list is empty; permitted are any of %s",
		      section, s->key, policy_pass_names);
	return walk_fail(w, err);
}

int walk_value(struct walk *w, const char *section, const struct setting *s, void *into,
	       struct err *err)
{
	if (walk_next(w, err) < 0)
		return -1;
	if (setting_is_list(s) && w->ev.type == YAML_SEQUENCE_START_EVENT)
		return read_list(w, section, s, into, err);
	const char *text = walk_scalar(w, setting_is_list(s) ? "a list" : "one value", err);
	bool quoted = text && w->ev.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (!text || setting_set(s, into, text, quoted, err) < 0) {
		err_wrap(err, "%s.%s", section, s->key);
		return walk_fail(w, err);
	}
	return 0;
}

/* A policy file outlives the version that it was written for. */
static const struct {
	const char *section, *key;
} gone[] = {
	{ "optimize", "huge_text" },
};

int walk_gone(struct walk *w, const char *section, const char *key, struct err *err)
{
	size_t line = w->ev.start_mark.line + 1, i = 0, n = sizeof(gone) / sizeof(gone[0]);

	while (i < n && (strcmp(gone[i].section, section) != 0 ||
			 strcmp(gone[i].key, key) != 0))
		i++;
	if (i == n)
		return 0;
	if (walk_next(w, err) < 0)
		return -1;
	if (!walk_scalar(w, "one value", err))
		return walk_fail(w, err);
	if (!w->policy->note &&
	    asprintf(&w->policy->note, "%s:%zu: %s is no setting any more and does "
		     "nothing; the line can go", w->name, line, gone[i].key) < 0) {
		w->policy->note = NULL;
		return err_set(err, ERR_SYS, "out of memory");
	}
	return 1;
}
