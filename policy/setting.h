/* setting.h - one row of policy.def, and its values from text and back
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

enum setting_kind {
	SETTING_UINT,
	SETTING_BOOL,
	SETTING_CLOCK,
	SETTING_SWITCH,
	SETTING_WINDOW,
	SETTING_GLOBS,
	SETTING_PASSES,
};

struct setting {
	const char *section, *key;
	enum setting_kind kind;
	size_t off;		/* of the field in struct policy; its type follows from kind */
	unsigned def, min, max;	/* UINT and BOOL */
	const char *unit, *help;
};

extern const struct setting policy_setting[];	/* settings of one section stand together */
extern const unsigned policy_nsetting;

enum {
	SETTING_LIST_MAX = 1024,	/* items of one list */
	SETTING_GLOB_MAX = 4096,	/* bytes of one pattern with its NUL */
};

bool setting_is_list(const struct setting *s);
/* Sets a setting that is no list.  `quoted`: the YAML scalar stood in quotes, so it is no number
 * and no truth value.  The message names the permitted values, not the setting. */
int setting_set(const struct setting *s, struct policy *p, const char *text, bool quoted,
		struct err *err);
/* Empties a list. */
void setting_clear(const struct setting *s, struct policy *p);
int setting_add(const struct setting *s, struct policy *p, const char *text, struct err *err);
/* Appends the value as YAML would show it, without a NUL. */
void setting_show(const struct setting *s, const struct policy *p, struct wr *out);

#endif
