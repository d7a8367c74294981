/* yamlwalk.h - steps through YAML text event by event, with messages that name the place
 *
 * Private to policy/.  What a reader of a policy could misunderstand is refused here: anchors,
 * aliases, tags, control characters.  Every message begins with NAME:LINE:COLUMN.
 */
#ifndef POLICY_YAMLWALK_H
#define POLICY_YAMLWALK_H

#include <stdbool.h>
#include <yaml.h>

#include "lib/rd.h"

struct err;
struct policy;
struct setting;

struct walk {
	yaml_parser_t parser;
	yaml_event_t ev;	/* the present one; type YAML_NO_EVENT at first */
	const char *name;
	struct bytes text;
	struct policy *policy;
	size_t *line;		/* [policy_nsetting] where a setting stood, 0 = not yet */
};

/* The next event in w->ev. */
int walk_next(struct walk *w, struct err *err);
/* Puts the place of the present event in front of the message; returns -1. */
int walk_fail(const struct walk *w, struct err *err);
/* The present scalar's text; NULL with a message when it is no scalar or holds control
 * characters (an escaped NUL would cut it, an escape sequence would reach a terminal). */
const char *walk_scalar(const struct walk *w, const char *expected, struct err *err);
/* Value of a setting of `section`, after its key, into what s->off is in. */
int walk_value(struct walk *w, const char *section, const struct setting *s, void *into,
	       struct err *err);
/* 1: `key` was a setting of `section` in an older version; its value is passed by, and the
 * policy's note says so. */
int walk_gone(struct walk *w, const char *section, const char *key, struct err *err);
/* The list of rules, after its key (yaml_rules.c). */
int walk_rules(struct walk *w, struct err *err);

#endif
