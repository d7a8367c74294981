/* setting.h - the settings of policy.def as a table, and their values from text and to text
 *
 * Private to policy/.  Lists (GLOBS, PASSES) are set item by item after setting_clear().
 */
#ifndef POLICY_SETTING_H
#define POLICY_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/wr.h"

struct err;
struct policy;
struct policy_rule;

enum setting_kind {
	SETTING_UINT,
	SETTING_BOOL,
	SETTING_CLOCK,
	SETTING_SWITCH,
	SETTING_ONOFF,		/* off or on, without auto */
	SETTING_WINDOW,
	SETTING_GLOBS,		/* patterns of absolute paths */
	SETTING_NAMES,		/* patterns of other names */
	SETTING_PASSES,
	SETTING_CONNINFO,	/* libpq's, without a password; malloc'd, NULL: nothing */
	SETTING_WORD,		/* the same form, of few letters */
};

struct setting {
	const char *section, *key;
	enum setting_kind kind;
	size_t off;		/* of the field; its type follows from kind */
	unsigned def, min, max;	/* UINT and BOOL */
	const char *unit, *help;
};

extern const struct setting policy_setting[];	/* settings of one section stand together */
extern const unsigned policy_nsetting;

enum {
	SETTING_LIST_MAX = 1024,	/* items of one list; chosen */
	SETTING_GLOB_MAX = 4096,	/* bytes of one pattern with its NUL */
	SETTING_CONNINFO_MAX = 1000, SETTING_WORD_MAX = 32,
};

/* Keys in a rule.  The first finds a key of rules alone, whose field is in struct policy_rule;
 * NULL: it is none.  The second finds a general setting that a rule may override, as an index
 * of policy_setting; policy_nsetting: it may not. */
const struct setting *setting_of_rule(const char *key);
unsigned setting_overridden(const char *key);
/* NULL: out of memory */
struct policy_rule *policy_rule_add(struct policy *p, uint32_t line);

/* `in` is what the setting's field is in: a struct policy, or a struct policy_rule. */
bool setting_is_list(const struct setting *s);
/* Sets a setting that is no list.  `quoted`: the YAML scalar stood in quotes, so it is no
 * number and no truth value.  The message names the permitted values, not the setting. */
int setting_set(const struct setting *s, void *in, const char *text, bool quoted,
		struct err *err);
/* Empties a list. */
void setting_clear(const struct setting *s, void *in);
/* Copies one setting between two structs of the same kind; not for lists of patterns. */
void setting_copy(const struct setting *s, void *to, const void *from);
int setting_add(const struct setting *s, void *in, const char *text, struct err *err);
/* Appends the value as YAML would show it, without a NUL. */
void setting_show(const struct setting *s, const void *in, struct wr *out);

#endif
