/* setting.c - converts the values of the policy's settings from text and to text
 *
 * Every message about a value says which values are permitted, so that nobody needs the manual
 * to mend a policy.
 *
 * Tested by tests/unit/policy/test_policy.c.
 */
#include "policy/setting.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "policy/policy.h"

const char *const policy_clock_name[] = { "auto", "tick", "cpu-clock", "cycles", NULL };
const char *const policy_switch_name[] = { "auto", "on", "off", NULL };
const char *const policy_onoff_name[] = { "off", "on", NULL };

const struct setting policy_setting[] = {
#define SETTING(section, key, kind, field, def, min, max, unit, help)                    \
	{ #section, #key, SETTING_##kind, offsetof(struct policy, field), def, min, max, \
	  unit,	    help },
#include "policy/policy.def"
#undef SETTING
};
static const struct setting rule_setting[] = {
	{ "rules", "paths", SETTING_GLOBS, offsetof(struct policy_rule, paths), 0, 0, 0, "",
	  "" },
	{ "rules", "packages", SETTING_NAMES, offsetof(struct policy_rule, packages), 0, 0, 0,
	  "", "" },
	{ "rules", "users", SETTING_NAMES, offsetof(struct policy_rule, users), 0, 0, 0, "",
	  "" },
	{ "rules", "refuse", SETTING_BOOL, offsetof(struct policy_rule, refuse), 0, 0, 1, "",
	  "" },
};
const unsigned policy_nsetting = sizeof(policy_setting) / sizeof(policy_setting[0]);

static void *field_of(const struct setting *s, void *in)
{
	return (char *)in + s->off;
}

static const void *field_in(const struct setting *s, const void *in)
{
	return (const char *)in + s->off;
}

static_assert(sizeof(policy_setting) / sizeof(policy_setting[0]) <= 64,
	      "a rule has a bit for each");

const struct setting *setting_of_rule(const char *key)
{
	for (size_t i = 0; i < sizeof(rule_setting) / sizeof(rule_setting[0]); i++)
		if (strcmp(rule_setting[i].key, key) == 0)
			return &rule_setting[i];
	return NULL;
}

/* What a module is laid out for fades for all alike; who sees it is asked before it is known
 * which module it is. */
static bool is_of_modules(const struct setting *s)
{
	return (strcmp(s->section, "optimize") == 0 && strcmp(s->key, "half_life_d") != 0) ||
	       strcmp(s->section, "profile") == 0 ||
	       (strcmp(s->section, "share") == 0 &&
		(strcmp(s->key, "give") == 0 || strcmp(s->key, "take") == 0)) ||
	       (strcmp(s->section, "users") == 0 && strcmp(s->key, "share_layouts") == 0);
}

unsigned setting_overridden(const char *key)
{
	unsigned i = 0;

	while (i < policy_nsetting &&
	       (!is_of_modules(&policy_setting[i]) || strcmp(policy_setting[i].key, key) != 0))
		i++;
	return i;
}

bool setting_is_list(const struct setting *s)
{
	return s->kind == SETTING_GLOBS || s->kind == SETTING_NAMES ||
	       s->kind == SETTING_PASSES;
}

/* Plain decimal digits without a leading zero (which YAML 1.1 would take for octal).  Saturates
 * far above every permitted value. */
static bool parse_uint(const char *text, unsigned long long *out)
{
	unsigned long long v = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return false;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		if (v < 1000000000000ULL)
			v = 10 * v + (unsigned)(*c - '0');
	}
	*out = v;
	return true;
}

static int set_uint(const struct setting *s, unsigned *field, const char *text, bool quoted,
		    struct err *err)
{
	const char *gap = s->unit[0] ? " " : "";
	unsigned long long v;

	if (quoted && parse_uint(text, &v))
		return err_set(err, ERR_USAGE, "\"%.80s\" is a text because of its quotes; a "
			       "number stands without", text);
	if (quoted || !parse_uint(text, &v))
		return err_set(err, ERR_USAGE,
			       "'%.80s' is not a whole number; permitted are %u..%u%s%s", text,
			       s->min, s->max, gap, s->unit);
	if (v < s->min || v > s->max)
		return err_set(err, ERR_USAGE, "%.80s is outside %u..%u%s%s", text, s->min,
			       s->max, gap, s->unit);
	*field = (unsigned)v;
	return 0;
}

static int set_bool(unsigned *field, const char *text, bool quoted, struct err *err)
{
	bool yes = strcmp(text, "true") == 0;

	if (quoted && (yes || strcmp(text, "false") == 0))
		return err_set(err, ERR_USAGE, "\"%.80s\" is a text because of its quotes; "
			       "true and false stand without", text);
	if (quoted || (!yes && strcmp(text, "false") != 0))
		return err_set(err, ERR_USAGE, "'%.80s' is not true or false", text);
	*field = yes;
	return 0;
}

static int set_name(unsigned *field, const char *text, const char *const *name,
		    struct err *err)
{
	char all[64] = "";

	for (unsigned i = 0; name[i]; i++) {
		if (strcmp(name[i], text) == 0) {
			*field = i;
			return 0;
		}
		size_t n = strlen(all);
		(void)snprintf(all + n, sizeof(all) - n, "%s%s", n ? ", " : "", name[i]);
	}
	return err_set(err, ERR_USAGE, "'%.80s' is not one of %s", text, all);
}

/* "HH:MM" at t; false when it is not that. */
static bool parse_time(const char *t, uint16_t *out)
{
	static const char form[] = "dd:dd";

	for (int i = 0; i < 5; i++) {
		if (form[i] == 'd' ? (t[i] < '0' || t[i] > '9') : t[i] != form[i])
			return false;
	}
	unsigned hour = 10u * (unsigned)(t[0] - '0') + (unsigned)(t[1] - '0');
	unsigned minute = 10u * (unsigned)(t[3] - '0') + (unsigned)(t[4] - '0');
	if (hour > 23 || minute > 59)
		return false;
	*out = (uint16_t)(60 * hour + minute);
	return true;
}

static int set_window(struct policy_window *field, const char *text, struct err *err)
{
	struct policy_window w = { 0, 0 };

	if (strcmp(text, "always") != 0) {
		if (strlen(text) != 11 || text[5] != '-' || !parse_time(text, &w.from) ||
		    !parse_time(text + 6, &w.to))
			return err_set(err, ERR_USAGE,
				       "'%.80s' is not a time of day HH:MM-HH:MM "
				       "(00:00..23:59) or always",
				       text);
		if (w.from == w.to)
			return err_set(err, ERR_USAGE,
				       "'%.80s' begins when it ends; write always or "
				       "two different times",
				       text);
	}
	*field = w;
	return 0;
}

/* "postgresql://user:secret@host" or "password=secret"; what libpq makes of the rest it says
 * itself. */
static bool has_password(const char *text)
{
	const char *from = strstr(text, "://");
	const char *at = from ? strpbrk(from + 3, "/?@") : NULL;

	return strstr(text, "password") ||
	       (at && *at == '@' && memchr(from + 3, ':', (size_t)(at - from - 3)));
}

static int set_text(char **field, const char *text, struct err *err)
{
	char *copy = strdup(text);

	if (!copy)
		return err_set(err, ERR_SYS, "out of memory");
	free(*field);
	*field = copy;
	return 0;
}

static int set_conninfo(char **field, const char *text, struct err *err)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(err, ERR_USAGE, "has bytes that are no text");
	if (strlen(text) > SETTING_CONNINFO_MAX)
		return err_set(err, ERR_USAGE, "has more than %d bytes", SETTING_CONNINFO_MAX);
	if (has_password(text))
		return err_set(err, ERR_USAGE, "names a password, where everybody can read it; "
			       "libpq's passfile=PATH holds one, or a certificate does "
			       "without");
	return set_text(field, text, err);
}

static int set_word(char **field, const char *text, struct err *err)
{
	size_t n = strlen(text);

	if (n > SETTING_WORD_MAX ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-") != n)
		return err_set(err, ERR_USAGE, "'%.80s' is not a word of at most %d small "
			       "letters, digits, '.', '_' and '-'", text, SETTING_WORD_MAX);
	return set_text(field, text, err);
}

int setting_set(const struct setting *s, void *in, const char *text, bool quoted,
		struct err *err)
{
	void *field = field_of(s, in);

	switch (s->kind) {
	case SETTING_UINT:
		return set_uint(s, field, text, quoted, err);
	case SETTING_BOOL:
		return set_bool(field, text, quoted, err);
	case SETTING_CLOCK:
		return set_name(field, text, policy_clock_name, err);
	case SETTING_SWITCH:
		return set_name(field, text, policy_switch_name, err);
	case SETTING_ONOFF:
		return set_name(field, text, policy_onoff_name, err);
	case SETTING_WINDOW:
		return set_window(field, text, err);
	case SETTING_CONNINFO:
		return set_conninfo(field, text, err);
	case SETTING_WORD:
		return set_word(field, text, err);
	case SETTING_GLOBS:
		return err_set(err, ERR_USAGE,
			       "expects a list of patterns, as in [\"/usr/bin/*\"]");
	case SETTING_NAMES:
		return err_set(err, ERR_USAGE,
			       "expects a list of patterns, as in [\"postgresql-*\"]");
	case SETTING_PASSES:
		return err_set(err, ERR_USAGE,
			       "expects a list of any of %s, as in [align, fluff]",
			       policy_pass_names);
	}
	return err_set(err, ERR_USAGE, "has no value");
}

static void globs_clear(struct policy_globs *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		free(g->glob[i]);
	free(g->glob);
	*g = (struct policy_globs){ NULL, 0 };
}

static bool is_text(const struct setting *s)
{
	return s->kind == SETTING_CONNINFO || s->kind == SETTING_WORD;
}

void setting_clear(const struct setting *s, void *in)
{
	if (s->kind == SETTING_GLOBS || s->kind == SETTING_NAMES)
		globs_clear(field_of(s, in));
	if (s->kind == SETTING_PASSES)
		*(struct policy_passes *)field_of(s, in) = (struct policy_passes){ 0 };
	if (is_text(s)) {
		free(*(char **)field_of(s, in));
		*(char **)field_of(s, in) = NULL;
	}
}

void setting_copy(const struct setting *s, void *to, const void *from)
{
	assert(s->kind != SETTING_GLOBS && s->kind != SETTING_NAMES && !is_text(s));
	memcpy(field_of(s, to), field_in(s, from), s->kind == SETTING_PASSES ?
	       sizeof(struct policy_passes) : s->kind == SETTING_WINDOW ?
	       sizeof(struct policy_window) : sizeof(unsigned));
}

static int add_glob(struct policy_globs *g, const char *text, bool path, struct err *err)
{
	if (!path && (!text[0] || strchr(text, '/')))
		return err_set(err, ERR_USAGE, "'%.80s' is not a pattern of names", text);
	if (path && text[0] != '/')
		return err_set(err, ERR_USAGE, "'%.80s' is not a pattern of absolute paths; "
			       "it must begin with /", text);
	if (strlen(text) >= SETTING_GLOB_MAX)
		return err_set(err, ERR_USAGE, "a pattern has at most %d bytes",
			       SETTING_GLOB_MAX - 1);
	if (g->n == SETTING_LIST_MAX)
		return err_set(err, ERR_USAGE, "a list has at most %d patterns",
			       SETTING_LIST_MAX);
	char **grown = realloc(g->glob, (g->n + 1) * sizeof(*grown));
	if (!grown)
		return err_set(err, ERR_SYS, "out of memory");
	g->glob = grown;
	g->glob[g->n] = strdup(text);
	if (!g->glob[g->n])
		return err_set(err, ERR_SYS, "out of memory");
	g->n++;
	return 0;
}

static int add_pass(struct policy_passes *passes, const char *text, struct err *err)
{
	bool *flag = NULL;

#define PASS(name)			\
	if (strcmp(text, #name) == 0)	\
		flag = &passes->name;
#include "policy/passes.def"
#undef PASS
	if (!flag)
		return err_set(err, ERR_USAGE, "'%.80s' is not one of %s", text,
			       policy_pass_names);
	if (*flag)
		return err_set(err, ERR_USAGE, "'%s' stands twice in the list", text);
	*flag = true;
	return 0;
}

int setting_add(const struct setting *s, void *in, const char *text, struct err *err)
{
	if (s->kind == SETTING_GLOBS || s->kind == SETTING_NAMES)
		return add_glob(field_of(s, in), text, s->kind == SETTING_GLOBS, err);
	return add_pass(field_of(s, in), text, err);
}

/* A double-quoted YAML scalar. */
static void put_quoted(struct wr *out, const char *text)
{
	wr_text(out, "\"");
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			wr_text(out, "\\");
		wr_raw(out, c, 1);
	}
	wr_text(out, "\"");
}

static void show_globs(const struct policy_globs *g, struct wr *out)
{
	wr_text(out, "[");
	for (uint32_t i = 0; i < g->n; i++) {
		wr_text(out, i ? ", " : "");
		put_quoted(out, g->glob[i]);
	}
	wr_text(out, "]");
}

void setting_show(const struct setting *s, const void *in, struct wr *out)
{
	const void *field = field_in(s, in);
	const struct policy_window *w = field;
	char text[POLICY_PASS_LIST_MAX] = "";

	switch (s->kind) {
	case SETTING_UINT:
		/* fits */
		(void)snprintf(text, sizeof(text), "%u", *(const unsigned *)field);
		break;
	case SETTING_BOOL:
		(void)snprintf(text, sizeof(text), "%s",
			       *(const unsigned *)field ? "true" : "false");
		break;
	case SETTING_CLOCK:
		wr_text(out, policy_clock_name[*(const unsigned *)field]);
		break;
	case SETTING_SWITCH:
		wr_text(out, policy_switch_name[*(const unsigned *)field]);
		break;
	case SETTING_ONOFF:
		wr_text(out, policy_onoff_name[*(const unsigned *)field]);
		break;
	case SETTING_WINDOW:
		if (w->from == w->to)
			wr_text(out, "always");
		else
			(void)snprintf(text, sizeof(text), "\"%02u:%02u-%02u:%02u\"",
				       w->from / 60u, w->from % 60u, w->to / 60u, w->to % 60u);
		break;
	case SETTING_GLOBS:
	case SETTING_NAMES:
		show_globs(field, out);
		break;
	case SETTING_CONNINFO:
	case SETTING_WORD:
		put_quoted(out, *(char *const *)field ? *(char *const *)field : "");
		return;
	case SETTING_PASSES:
		policy_pass_list(in, text, sizeof(text));
		wr_text(out, "[");
		for (const char *c = text; *c; c++)
			wr_text(out, *c == ',' ? ", " : (char[]){ *c, 0 });
		wr_text(out, "]");
		return;
	}
	wr_text(out, text);
}
