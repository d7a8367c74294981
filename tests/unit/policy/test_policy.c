/* test_policy.c - the policy from YAML, value by value, and the idle conditions */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "policy/evidence.h"
#include "policy/policy.h"

static struct bytes text_of(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static struct policy *parse(const char *yaml)
{
	struct err err = { 0 };
	struct policy *p = policy_parse(text_of(yaml), "t", &err);

	if (!p)
		fail_msg("%s: %s", yaml, err.text);
	return p;
}

/* The text must be refused with exactly this sentence. */
static void refused(const char *yaml, const char *sentence)
{
	struct err err = { 0 };
	struct policy *p = policy_parse(text_of(yaml), "t", &err);

	if (p) {
		policy_free(p);
		fail_msg("accepted: %s", yaml);
	}
	assert_string_equal(err.text, sentence);
	assert_int_equal(err.kind, ERR_USAGE);
}

/* The text must be refused with a sentence that begins like this. */
static void refused_like(const char *yaml, const char *begin)
{
	struct err err = { 0 };
	struct policy *p = policy_parse(text_of(yaml), "t", &err);

	if (p) {
		policy_free(p);
		fail_msg("accepted: %s", yaml);
	}
	if (strncmp(err.text, begin, strlen(begin)) != 0)
		fail_msg("'%s' does not begin with '%s'", err.text, begin);
	assert_int_equal(err.kind, ERR_USAGE);
}

struct listing {
	char text[16384];
	size_t n;
};

static void list_one(void *ctx, const char *section, const char *key, const char *value,
		     const char *unit, const char *help)
{
	struct listing *l = ctx;

	(void)unit;
	assert_true(help[0] != '\0');
	int n = snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s.%s=%s\n", section, key,
			 value);
	assert_true(n > 0 && l->n + (size_t)n < sizeof(l->text));
	l->n += (size_t)n;
}

static void assert_listed(const struct policy *p, const char *line)
{
	struct listing l = { .n = 0 };

	policy_each(p, list_one, &l);
	if (!strstr(l.text, line))
		fail_msg("no '%s' in\n%s", line, l.text);
}

static void defaults_are_the_tables(void **state)
{
	struct policy *p = policy_default();
	char passes[POLICY_PASS_LIST_MAX];

	(void)state;
	assert_non_null(p);
#define IS_CLOCK(field, def) assert_int_equal(p->field, def);
#define IS_SWITCH(field, def) assert_int_equal(p->field, def);
#define IS_ONOFF(field, def) assert_int_equal(p->field, def);
#define IS_UINT(field, def) assert_int_equal(p->field, def);
#define IS_BOOL(field, def) assert_int_equal(p->field, def);
#define IS_WINDOW(field, def) assert_int_equal(p->field.from, p->field.to);
#define IS_GLOBS(field, def)
#define IS_NAMES(field, def) assert_int_equal(p->field.n, 0);
#define IS_CONNINFO(field, def) assert_null(p->field);
#define IS_WORD(field, def) assert_null(p->field);
#define IS_PASSES(field, def) \
	assert_true(p->field.align && p->field.fluff && p->field.layout && p->field.calls);
#define SETTING(section, key, kind, field, def, min, max, unit, help) IS_##kind(field, def)
#include "policy/policy.def"
#undef SETTING
	policy_pass_list(p, passes, sizeof(passes));
	assert_string_equal(passes, "fluff,leave,align,layout,calls,lines");
	assert_true(policy_allows(p, "/usr/bin/perl"));
	assert_true(policy_allows(p, "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6"));
	assert_false(policy_allows(p, "/home/u/bin/perl"));
	assert_false(policy_allows(p, "/tmp/usr/bin/perl"));
	policy_free(p);
	policy_free(NULL);
}

static void nothing_asked_is_all_defaults(void **state)
{
	static const char *const empty[] = { "", "# only a comment\n", "---\n", "---\n...\n",
					     "\n\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		struct policy *p = parse(empty[i]);

		assert_int_equal(p->min_samples, 5000);
		assert_int_equal(p->include.n, 4);
		policy_free(p);
	}
}

/* Every number: least and greatest are taken, one beyond is refused, other settings stay. */
static void numbers_are_taken_within_their_bounds(void **state)
{
	(void)state;
#define TRY_CLOCK(section, key, field, min, max)
#define TRY_SWITCH(section, key, field, min, max)
#define TRY_ONOFF(section, key, field, min, max)
#define TRY_BOOL(section, key, field, min, max)
#define TRY_WINDOW(section, key, field, min, max)
#define TRY_GLOBS(section, key, field, min, max)
#define TRY_NAMES(section, key, field, min, max)
#define TRY_CONNINFO(section, key, field, min, max)
#define TRY_WORD(section, key, field, min, max)
#define TRY_PASSES(section, key, field, min, max)
#define TRY_UINT(section, key, field, min, max)                                            \
	do {                                                                               \
		char yaml[128], begin[128];                                                \
		(void)snprintf(yaml, sizeof(yaml), #section ":\n  " #key ": %llu\n",       \
			       (unsigned long long)min);                                   \
		struct policy *p = parse(yaml);                                            \
		assert_int_equal(p->field, min);                                           \
		policy_free(p);                                                            \
		(void)snprintf(yaml, sizeof(yaml), #section ":\n  " #key ": %llu\n",       \
			       (unsigned long long)max);                                   \
		p = parse(yaml);                                                           \
		assert_int_equal(p->field, max);                                           \
		policy_free(p);                                                            \
		(void)snprintf(yaml, sizeof(yaml), #section ":\n  " #key ": %llu\n",       \
			       max + 1ULL);                                                \
		(void)snprintf(begin, sizeof(begin),                                       \
			       "t:2:%zu: " #section "." #key ": %llu is outside %u..%u",   \
			       strlen("  " #key ": ") + 1, max + 1ULL, (unsigned)min,      \
			       (unsigned)max);                                             \
		refused_like(yaml, begin);                                                 \
		if (min > 0) {                                                             \
			(void)snprintf(yaml, sizeof(yaml), #section ":\n  " #key ": %d\n", \
				       (int)min - 1);                                      \
			(void)snprintf(begin, sizeof(begin),                               \
				       "t:2:%zu: " #section "." #key ": %d is outside",    \
				       strlen("  " #key ": ") + 1, (int)min - 1);          \
			refused_like(yaml, begin);                                         \
		}                                                                          \
		refused_like(#section ":\n  " #key ": [1]\n", "t:2:");                     \
		refused_like(#section ":\n  " #key ":\n", "t:2:");                         \
	} while (0);
#define SETTING(section, key, kind, field, def, min, max, unit, help) \
	TRY_##kind(section, key, field, min, max)
#include "policy/policy.def"
#undef SETTING
}

static void only_plain_decimal_numbers_are_numbers(void **state)
{
	static const char *const bad[] = {
		"-1",	"+1",	 "1.0",	   "1e3",  "0x10",
		"010",	"1_000", "\"12\"", "'12'", "ten",
		"true", "~",	 "1 2",	   "12s",  "99999999999999999999999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char yaml[128];

		(void)snprintf(yaml, sizeof(yaml), "idle:\n  check_s: %s\n", bad[i]);
		refused_like(yaml, "t:2:12: idle.check_s: ");
	}
	refused("idle:\n  check_s: ten\n",
		"t:2:12: idle.check_s: 'ten' is not a whole number; permitted are 1..3600 s");
	refused("idle: {check_s: 0}", "t:1:17: idle.check_s: 0 is outside 1..3600 s");
}

static void truth_values(void **state)
{
	struct policy *p = parse("modules: {hard_links: true}\noptimize:\n  automatic: true\n");

	(void)state;
	assert_int_equal(p->hard_links, 1);
	assert_int_equal(p->automatic, 1);
	assert_listed(p, "modules.hard_links=true\n");
	policy_free(p);
	p = parse("modules: {hard_links: false}\n");
	assert_int_equal(p->hard_links, 0);
	policy_free(p);
	refused("modules: {hard_links: 1}",
		"t:1:23: modules.hard_links: '1' is not true or false");
	refused_like("modules: {hard_links: yes}", "t:1:23:");
	refused_like("modules: {hard_links: \"true\"}", "t:1:23:");
	refused_like("modules: {hard_links: True}", "t:1:23:");
}

static void clocks(void **state)
{
	(void)state;
	for (unsigned i = 0; policy_clock_name[i]; i++) {
		char yaml[64];

		(void)snprintf(yaml, sizeof(yaml), "monitor:\n  clock: %s\n",
			       policy_clock_name[i]);
		struct policy *p = parse(yaml);
		assert_int_equal(p->clock, i);
		policy_free(p);
	}
	for (unsigned i = 0; policy_switch_name[i]; i++) {
		char yaml[64];

		(void)snprintf(yaml, sizeof(yaml), "monitor:\n  registers: %s\n",
			       policy_switch_name[i]);
		struct policy *p = parse(yaml);
		assert_int_equal(p->registers, i);
		policy_free(p);
	}
	refused("monitor:\n  registers: true\n",
		"t:2:14: monitor.registers: 'true' is not one of auto, on, off");
	refused("monitor:\n  clock: sundial\n",
		"t:2:10: monitor.clock: 'sundial' is not one of auto, tick, cpu-clock, cycles");
	refused_like("monitor: {clock: }", "t:1:");
}

static void registers_are_worth_it_while_a_busy_module_lacks_them(void **state)
{
	(void)state;
	assert_true(evidence_lacking(1, 0, false));
	assert_true(evidence_lacking(0.02, 9999, false));
	assert_false(evidence_lacking(0.019, 0, false));	/* too little of the time */
	assert_false(evidence_lacking(0.019, 0, true));
	/* once on, until it is enough */
	assert_true(evidence_lacking(0.5, 10000, true));
	assert_true(evidence_lacking(0.5, 19999, true));
	assert_false(evidence_lacking(0.5, 20000, true));
	/* and not on and off all the time */
	assert_false(evidence_lacking(0.5, 19999, false));
	assert_false(evidence_lacking(0.5, 10000, false));
}

static void windows(void **state)
{
	static const char *const bad[] = { "24:00-01:00", "22:60-23:00",     "9:00-10:00",
					   "22:00",	  "22:00-06:00 ",    "22:00 - 06:00",
					   "22.00-06.00", "never",	     "08:00-08:00",
					   "22:00-06:0x", "\"22:00-06:00x\"" };
	struct policy *p = parse("idle:\n  window: 22:00-06:30\n");

	(void)state;
	assert_int_equal(p->idle_window.from, 22 * 60);
	assert_int_equal(p->idle_window.to, 6 * 60 + 30);
	assert_listed(p, "idle.window=\"22:00-06:30\"\n");
	policy_free(p);
	p = parse("idle:\n  window: \"00:00-23:59\"\n");
	assert_int_equal(p->idle_window.from, 0);
	assert_int_equal(p->idle_window.to, 23 * 60 + 59);
	policy_free(p);
	p = parse("idle:\n  window: always\n");
	assert_int_equal(p->idle_window.from, p->idle_window.to);
	policy_free(p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char yaml[64];
		struct err err = { 0 };

		(void)snprintf(yaml, sizeof(yaml), "idle:\n  window: %s\n", bad[i]);
		if (strcmp(bad[i], "22:00-06:00 ") == 0) {	/* YAML trims it */
			policy_free(parse(yaml));
			continue;
		}
		p = policy_parse(text_of(yaml), "t", &err);
		if (p)
			fail_msg("accepted: %s", yaml);
		if (strncmp(err.text, "t:2:11: idle.window: '", 22) != 0)
			fail_msg("%s", err.text);
	}
}

static void globs_replace_the_default_and_keep_their_order(void **state)
{
	struct policy *p = parse("modules:\n  include: [/opt/*/bin/*, \"/a b\\\"c\"]\n"
				 "  exclude:\n    - /opt/secret/*\n");

	(void)state;
	assert_int_equal(p->include.n, 2);
	assert_string_equal(p->include.glob[0], "/opt/*/bin/*");
	assert_string_equal(p->include.glob[1], "/a b\"c");
	assert_int_equal(p->exclude.n, 1);
	assert_true(policy_allows(p, "/opt/x/bin/y"));
	assert_true(policy_allows(p, "/opt/x/z/bin/y/w"));
	assert_true(policy_allows(p, "/a b\"c"));
	assert_false(policy_allows(p, "/opt/secret/bin/y"));
	assert_false(policy_allows(p, "/usr/bin/perl"));
	assert_listed(p, "modules.include=[\"/opt/*/bin/*\", \"/a b\\\"c\"]\n");
	policy_free(p);
	p = parse("modules: {include: []}");
	assert_false(policy_allows(p, "/usr/bin/perl"));
	assert_listed(p, "modules.include=[]\n");
	policy_free(p);
	refused("modules: {include: /usr/bin/perl}",
		"t:1:20: modules.include: expects a list of patterns, as in [\"/usr/bin/*\"]");
	refused("modules: {include: {a: b}}",
		"t:1:20: modules.include: expects a list, not a mapping");
	refused("modules: {include: [[a]]}",
		"t:1:21: modules.include: expects a text in its list, not a list");
	refused("modules:\n  exclude:\n  - bin/*\n",
		"t:3:5: modules.exclude: 'bin/*' is not a pattern "
		"of absolute paths; it must begin with /");
}

static void lists_are_bounded(void **state)
{
	static char yaml[1 << 20], big[(1 << 20) + 2];
	size_t n = (size_t)snprintf(yaml, sizeof(yaml), "modules:\n  include: [");
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 1025; i++)
		n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "/b, ");
	(void)snprintf(yaml + n, sizeof(yaml) - n, "]\n");
	refused_like(yaml, "t:2:4109: modules.include: a list has at most 1024 patterns");
	(void)snprintf(yaml, sizeof(yaml), "modules: {include: [\"/%05000d\"]}", 1);
	refused_like(yaml, "t:1:21: modules.include: a pattern has at most 4095 bytes");
	memset(big, ' ', sizeof(big));
	assert_null(policy_parse((struct bytes){ (uint8_t *)big, (1 << 20) + 1 }, "t", &err));
	assert_string_equal(err.text, "t: a policy has at most 1048576 bytes");
	memset(yaml, '[', sizeof(yaml));
	assert_null(policy_parse((struct bytes){ (uint8_t *)yaml, sizeof(yaml) }, "t", &err));
	memset(yaml, '{', sizeof(yaml));
	assert_null(policy_parse((struct bytes){ (uint8_t *)yaml, sizeof(yaml) }, "t", &err));
	memset(yaml, '-', sizeof(yaml));
	assert_null(policy_parse((struct bytes){ (uint8_t *)yaml, sizeof(yaml) }, "t", &err));
}

static void passes_are_any_subset(void **state)
{
	char text[POLICY_PASS_LIST_MAX];
	struct policy *p = parse("optimize: {passes: [layout, align]}");

	(void)state;
	assert_true(p->passes.align && p->passes.layout && !p->passes.fluff);
	policy_pass_list(p, text, sizeof(text));
	assert_string_equal(text, "align,layout");
	assert_listed(p, "optimize.passes=[align, layout]\n");
	policy_free(p);
	refused("optimize: {passes: [align, shuffle]}",
		"t:1:28: optimize.passes: 'shuffle' is not one of fluff, leave, align, layout, "
		"calls, lines");
	refused("optimize: {passes: [align, align]}",
		"t:1:28: optimize.passes: 'align' stands twice in the list");
	refused_like("optimize: {passes: []}", "t:1:21: optimize.passes: the list is empty");
	refused("optimize: {passes: align}",
		"t:1:20: optimize.passes: expects a list of any of fluff, "
		"leave, align, layout, calls, lines, as in [align, fluff]");
}

/* The daemon of a new version starts with the policy of an old one. */
static void settings_that_are_gone_are_noted(void **state)
{
	struct policy *p = parse("optimize:\n  min_gain_ppm: 7\n  huge_text: auto\n"
				 "  cool_down_h: 3\n"
				 "rules:\n  - {name: a, paths: [/a], huge_text: on}\n");

	(void)state;
	assert_string_equal(p->note, "t:3: huge_text is no setting any more and does nothing; "
			    "the line can go");
	assert_int_equal(p->min_gain_ppm, 7);
	assert_int_equal(p->cool_down_h, 3);
	assert_int_equal(p->rule[0].set, 0);
	policy_free(p);
	p = parse("rules:\n  - {name: a, paths: [/a],\n     huge_text: on, min_samples: 9}\n");
	assert_string_equal(p->note, "t:3: huge_text is no setting any more and does nothing; "
			    "the line can go");
	assert_int_equal(p->rule[0].values->min_samples, 9);
	policy_free(p);
	p = parse("optimize: {cool_down_h: 3}");
	assert_null(p->note);
	policy_free(p);
	refused("optimize: {huge_text: [on]}", "t:1:23: expects one value, not a list");
	refused_like("idle: {huge_text: on}", "t:1:8: unknown setting 'idle.huge_text'");
}

static void unknown_and_repeated_names_are_named(void **state)
{
	(void)state;
	refused("idel:\n  check_s: 1\n",
		"t:1:1: unknown section 'idel'; did you mean 'idle'?");
	refused("frobnicate:\n  check_s: 1\n",
		"t:1:1: unknown section 'frobnicate'; the sections are monitor, "
		"spool, idle, modules, users, optimize, profile, share, rules");
	refused("rule: []\n", "t:1:1: unknown section 'rule'; did you mean 'rules'?");
	refused("idle:\n  chek_s: 1\n",
		"t:2:3: unknown setting 'idle.chek_s'; did you mean 'check_s'?");
	refused("spool:\n  max: 1\n",
		"t:2:3: unknown setting 'spool.max'; did you mean 'max_mib'?");
	refused("spool:\n  check_s: 1\n",
		"t:2:3: unknown setting 'spool.check_s'; the settings of spool are max_mib");
	refused("idle:\n  check_s: 1\n  check_s: 1\n",
		"t:3:3: idle.check_s stands here a second time, first in line 2");
	refused("idle: {check_s: 1}\nspool: {max_mib: 1}\nidle: {check_s: 2}\n",
		"t:3:1: section idle stands here a second time");
}

static void usual_mistakes_are_told_with_what_mends_them(void **state)
{
	(void)state;
	refused("idle:\n\tcheck_s: 1\n", "t:2:1: a tab: lines are indented with blanks");
	refused("idle:\n  check_s: 1\n\tload_max_pct: 5\n",
		"t:3:1: a tab: lines are indented with blanks");
	refused("optimize:\n  min_samples: \"5000\"\n",
		"t:2:16: optimize.min_samples: \"5000\" is a text because of its quotes; a "
		"number stands without");
	refused("optimize:\n  automatic: 'true'\n",
		"t:2:14: optimize.automatic: \"true\" is a text because of its quotes; true "
		"and false stand without");
	refused("modules:\n  include: [*.so]\n",
		"t:2:14: what begins with * has to be in quotes, as in \"*.so\"");
}

static void other_shapes_are_refused(void **state)
{
	(void)state;
	refused("idle:\n", "t:1:6: section idle has no settings: expects lines KEY: VALUE");
	refused("idle: 5\n", "t:1:7: section idle has no settings: expects lines KEY: VALUE");
	refused("- idle\n", "t:1:1: expects sections: lines NAME: with settings under them");
	refused("idle\n", "t:1:1: expects sections: lines NAME: with settings under them");
	refused("[a]: b\n", "t:1:1: expects the name of a section, not a list");
	refused("idle: {{a: b}: 1}\n", "t:1:8: expects the name of a setting, not a mapping");
	refused("idle: {check_s: 1}\n---\nidle: {check_s: 1}\n",
		"t:2:1: a second document is not allowed in a policy");
	refused("idle: &a {check_s: 1}\n", "t:1:7: an anchor is not allowed in a policy");
	refused("idle: {check_s: &a 1}\n", "t:1:17: an anchor is not allowed in a policy");
	refused("idle: {check_s: *a}\n", "t:1:17: an alias is not allowed in a policy; "
		"a text that begins with * has to be in quotes");
	refused("modules: {include: !!seq [/a]}\n", "t:1:20: a tag is not allowed in a policy");
	refused("idle: {check_s: !!int 1}\n", "t:1:17: a tag is not allowed in a policy");
	refused("%TAG ! tag:x,2026:\n---\nidle: {check_s: 1}\n",
		"t:1:1: a tag directive is not allowed in a policy");
	refused("idle: {check_s: 1, <<: 2}\n",
		"t:1:20: unknown setting 'idle.<<'; the settings of idle are load_max_pct, "
		"psi_cpu_max_pct, busy_max_pct, psi_io_max_pct, psi_memory_max_pct, "
		"users_away, "
		"on_battery, heat_max_pct, window, check_s");
	refused("modules: {include: [\"/a\\0b\"]}\n",
		"t:1:21: modules.include: a control character is not allowed");
	refused("modules: {include: [\"/a\\eb\"]}\n",
		"t:1:21: modules.include: a control character is not allowed");
	refused_like("idle:\n\tcheck_s: 1\n", "t:2:1: ");
	refused_like("idle: {check_s: 1\n", "t:2:1: ");
	refused_like("idle: \"\n", "t:");
	refused_like("idle:\n  \xff: 1\n", "t:2:3: ");
}

/* What is shown parses again to the same policy. */
static void shown_values_are_yaml(void **state)
{
	struct policy *p =
		parse("idle: {window: 22:00-06:00}\nmodules: {exclude: [\"/a\\\\b\"]}\n"
		      "optimize: {passes: [fluff]}\n");
	struct listing a = { .n = 0 }, b = { .n = 0 };
	char yaml[16384], lines[16384], last[64] = "";
	size_t n = 0;

	(void)state;
	policy_each(p, list_one, &a);
	memcpy(lines, a.text, sizeof(lines));
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
		char *dot = strchr(line, '.'), *eq = strchr(line, '=');

		*dot = *eq = '\0';
		if (strcmp(last, line) != 0)
			n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "%s:\n", line);
		(void)snprintf(last, sizeof(last), "%s", line);
		n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "  %s: %s\n", dot + 1,
				      eq + 1);
	}
	struct policy *q = parse(yaml);
	policy_each(q, list_one, &b);
	assert_string_equal(a.text, b.text);
	policy_free(p);
	policy_free(q);
}

/* But for what a policy must say before anything is done without being asked. */
static void shipped_policy_is_the_default(void **state)
{
	static char text[65536];
	FILE *f = fopen("etc/morph.yaml", "r");
	struct listing a = { .n = 0 }, b = { .n = 0 };

	(void)state;
	assert_non_null(f);	/* tests run in the source folder */
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	(void)fclose(f);	/* only read */
	struct policy *p = parse(text), *q = policy_default();
	assert_true(p->automatic && !q->automatic);
	q->automatic = 1;
	policy_each(p, list_one, &a);
	policy_each(q, list_one, &b);
	assert_string_equal(a.text, b.text);
	policy_free(p);
	policy_free(q);
}

#define PART(name) "--- # file: " name "\n"

static void files_add_to_a_policy(void **state)
{
	struct policy *p = parse(PART("/m.yaml")
				 "optimize: {automatic: true, min_samples: 5000}\n"
				 "rules:\n- {name: main, paths: [/a], refuse: true}\n"
				 PART("/m.yaml.d/1.yaml")
				 "optimize: {automatic: false}\n"
				 "rules: [{name: one, paths: [/a]}, {name: two, paths: [/b]}]\n"
				 PART("/m.yaml.d/2.yaml")
				 PART("/m.yaml.d/3.yaml")
				 "rules: [{name: three, paths: [/c]}]\n");

	(void)state;
	assert_int_equal(p->automatic, 0);
	assert_int_equal(p->min_samples, 5000);
	assert_null(p->note);		/* adding is what such files are for */
	assert_int_equal(p->nrule, 4);
	assert_string_equal(p->rule[0].name, "three");
	assert_string_equal(p->rule[1].name, "one");
	assert_string_equal(p->rule[2].name, "two");
	assert_string_equal(p->rule[3].name, "main");
	policy_free(p);
	/* a list replaces the one before, as it replaces the default */
	p = parse(PART("/m") "modules: {exclude: [/a, /b]}\n"
		  PART("/n") "modules: {exclude: [/c]}\n");
	assert_int_equal(p->exclude.n, 1);
	assert_string_equal(p->exclude.glob[0], "/c");
	policy_free(p);
}

static void a_setting_of_two_that_add_is_noted(void **state)
{
	struct policy *p = parse(PART("/m") "optimize: {automatic: true}\n"
				 PART("/d/1") "optimize: {automatic: false}\n"
				 PART("/d/2") "\noptimize:\n  automatic: true\n");

	(void)state;
	assert_int_equal(p->automatic, 1);
	assert_non_null(p->note);
	assert_string_equal(p->note,
			    "/d/2:3: optimize.automatic is set in /d/1, too; this one holds");
	assert_string_equal(p->automatic_by, "/d/2");
	policy_free(p);
	p = parse(PART("/m") "optimize: {automatic: true}\n" PART("/d/1") "{}\n");
	assert_string_equal(p->automatic_by, "/m");
	policy_free(p);
	p = parse("monitor: {rate_hz: 9}\n");
	assert_null(p->automatic_by);
	policy_free(p);
}

static void what_is_wrong_in_a_part_is_named_by_it(void **state)
{
	(void)state;
	refused_like(PART("/m") "optimize: {automatic: true}\n"
		     PART("/d/1") "\noptimize: {x: 1}\n",
		     "/d/1:2:");
	refused_like(PART("/m") "optimise: {x: 1}\n" PART("/d/1") "", "/m:1:");
	refused_like(PART("/m") "rules: [{name: r, paths: [/a]}]\n"
		     PART("/d/1") "rules: [{name: r, paths: [/b]}]\n", "/d/1:1:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_add_to_a_policy),
		cmocka_unit_test(a_setting_of_two_that_add_is_noted),
		cmocka_unit_test(what_is_wrong_in_a_part_is_named_by_it),
		cmocka_unit_test(defaults_are_the_tables),
		cmocka_unit_test(nothing_asked_is_all_defaults),
		cmocka_unit_test(numbers_are_taken_within_their_bounds),
		cmocka_unit_test(only_plain_decimal_numbers_are_numbers),
		cmocka_unit_test(truth_values),
		cmocka_unit_test(clocks),
		cmocka_unit_test(registers_are_worth_it_while_a_busy_module_lacks_them),
		cmocka_unit_test(windows),
		cmocka_unit_test(globs_replace_the_default_and_keep_their_order),
		cmocka_unit_test(lists_are_bounded),
		cmocka_unit_test(passes_are_any_subset),
		cmocka_unit_test(settings_that_are_gone_are_noted),
		cmocka_unit_test(unknown_and_repeated_names_are_named),
		cmocka_unit_test(usual_mistakes_are_told_with_what_mends_them),
		cmocka_unit_test(other_shapes_are_refused),
		cmocka_unit_test(shown_values_are_yaml),
		cmocka_unit_test(shipped_policy_is_the_default),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
