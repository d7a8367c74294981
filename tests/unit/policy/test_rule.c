/* Rules of a policy: how they are written, which one applies, what it makes of the settings. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "policy/policy.h"
#include "policy/rule.h"

static struct policy *parse(const char *yaml, struct err *err)
{
	return policy_parse((struct bytes){ (const uint8_t *)yaml, strlen(yaml) }, "t", err);
}

static struct policy *good(const char *yaml)
{
	struct err err = { 0 };
	struct policy *p = parse(yaml, &err);

	if (!p)
		fail_msg("%s", err.text);
	return p;
}

static void refused(const char *yaml, const char *sentence)
{
	struct err err = { 0 };

	assert_null(parse(yaml, &err));
	assert_string_equal(err.text, sentence);
	assert_int_equal(err.kind, ERR_USAGE);
}

static const char *which(const struct policy *p, const char *path)
{
	struct rule_subject s;

	rule_subject_init(&s, path);
	const struct policy_rule *r = rule_find(p, &s);
	return r ? r->name : "none";
}

static void the_first_rule_that_fits_decides(void **state)
{
	struct policy *p = good("rules:\n"
				"- {name: one, paths: [/usr/bin/perl, /opt/x], refuse: true}\n"
				"- {name: two, paths: [/usr/bin/*], cool_down_h: 1}\n"
				"- {name: three, paths: [/usr/bin/perl*]}\n");

	(void)state;
	assert_string_equal(which(p, "/usr/bin/perl"), "one");
	assert_string_equal(which(p, "/opt/x"), "one");
	assert_string_equal(which(p, "/usr/bin/perl5"), "two");
	/* * stands for slashes too */
	assert_string_equal(which(p, "/usr/bin/deep/er"), "two");
	assert_string_equal(which(p, "/usr/sbin/perl"), "none");
	assert_int_equal(p->rule[0].line, 2);
	assert_int_equal(p->rule[2].line, 4);
	assert_true(p->rule[0].refuse && !p->rule[1].refuse);
	policy_free(p);
}

static void a_rule_changes_what_it_says_and_nothing_else(void **state)
{
	struct policy *p =
		good("optimize: {cool_down_h: 7, cpu_per_day_s: 100}\n"
		     "rules:\n- name: r\n  paths: [/a]\n  passes: [fluff]\n  automatic: true\n"
		     "  min_samples: 9\n  cpu_per_day_s: 5\n");
	char passes[POLICY_PASS_LIST_MAX];

	(void)state;
	struct policy with = rule_apply(p, &p->rule[0]), without = rule_apply(p, NULL);
	policy_pass_list(&with, passes, sizeof(passes));
	assert_string_equal(passes, "fluff");
	assert_true(with.automatic);
	assert_int_equal(with.min_samples, 9);
	assert_int_equal(with.cool_down_h, 7);
	assert_int_equal(with.disk_per_day_mib, p->disk_per_day_mib);
	assert_int_equal(with.cpu_per_day_s, 100);		/* of all modules, as before */
	assert_int_equal(with.module_cpu_per_day_s, 5);		/* of this one */
	policy_pass_list(&without, passes, sizeof(passes));
	assert_string_equal(passes, "fluff,leave,align,layout,calls,lines");
	assert_false(without.automatic);
	assert_int_equal(without.min_samples, 5000);
	assert_true(without.module_cpu_per_day_s >= without.cpu_per_day_s);
	assert_true(policy_automatic(p));
	assert_int_equal(policy_least_samples(p), 9);
	policy_free(p);
	p = good("rules: [{name: r, paths: [/a], automatic: false, min_samples: 6000}]");
	assert_false(policy_automatic(p));
	assert_int_equal(policy_least_samples(p), 5000);
	policy_free(p);
	p = good("rules: []");
	assert_int_equal(p->nrule, 0);
	policy_free(p);
}

/* Whether a module is counted is a rule's matter as well, and what that may cost; what it may
 * cost in all is not. */
static void a_rule_says_what_is_counted(void **state)
{
	struct policy *p = good("optimize: {count: off, count_cpu_per_day_s: 60}\n"
				"rules:\n- {name: some, paths: [/a], count: on, "
				"count_cpu_per_day_s: 5}\n"
				"- {name: others, paths: [/b], count: auto}\n");
	struct policy some = rule_apply(p, &p->rule[0]), others = rule_apply(p, &p->rule[1]);
	struct policy rest = rule_apply(p, NULL);

	(void)state;
	assert_int_equal(some.count, SWITCH_ON);
	assert_int_equal(some.count_cpu_per_day_s, 60);
	assert_int_equal(some.module_count_cpu_per_day_s, 5);
	assert_int_equal(others.count, SWITCH_AUTO);
	assert_int_equal(others.module_count_cpu_per_day_s, 60);
	assert_int_equal(rest.count, SWITCH_OFF);
	policy_free(p);
	refused("rules: [{name: r, paths: [/a], count: sometimes}]",
		"t:1:39: rules.count: 'sometimes' is not one of auto, on, off");
	p = good("{}");
	others = rule_apply(p, NULL);
	assert_int_equal(others.count, SWITCH_AUTO);
	assert_int_equal(others.module_count_cpu_per_day_s, 0);
	policy_free(p);
}

/* Processes that run are left alone unless somebody says otherwise. */
static void a_rule_says_which_processes_get_generations(void **state)
{
	struct policy *p = good("rules:\n- {name: some, paths: [/a], live: on, live_cpu_s: 5}\n"
				"- {name: others, paths: [/b], live: off}\n");
	struct policy some = rule_apply(p, &p->rule[0]), others = rule_apply(p, &p->rule[1]);
	struct policy rest = rule_apply(p, NULL);

	(void)state;
	assert_int_equal(some.live, 1);
	assert_int_equal(some.live_cpu_s, 5);
	assert_int_equal(others.live, 0);
	assert_int_equal(rest.live, 0);
	assert_int_equal(rest.live_cpu_s, 60);
	policy_free(p);
	refused("rules: [{name: r, paths: [/a], live: auto}]",
		"t:1:38: rules.live: 'auto' is not one of off, on");
	refused("optimize: {live_cpu_s: 0}",
		"t:1:24: optimize.live_cpu_s: 0 is outside 1..1000000 s");
}

static void owners_have_names_or_numbers(void **state)
{
	struct policy *p =
		good("rules:\n- {name: root's, users: [root, \"4321\"], paths: [/a*]}\n"
		     "- {name: somebody's, users: [\"*\"]}\n");
	struct rule_subject s;

	(void)state;
	if (!getpwuid(0) || strcmp(getpwuid(0)->pw_name, "root") != 0)
		skip();
	rule_subject_init(&s, "/a");
	assert_null(rule_find(p, &s));		/* whose it is is not known */
	rule_subject_owner(&s, 0);
	assert_string_equal(rule_find(p, &s)->name, "root's");
	rule_subject_owner(&s, 4321);		/* has no name */
	assert_string_equal(rule_find(p, &s)->name, "root's");
	rule_subject_owner(&s, 4322);
	assert_string_equal(rule_find(p, &s)->name, "somebody's");
	rule_subject_init(&s, "/b");
	rule_subject_owner(&s, 0);		/* the other list does not fit */
	assert_string_equal(rule_find(p, &s)->name, "somebody's");
	policy_free(p);
}

static void put(const char *root, const char *name, const char *text)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/var/lib/dpkg/info/%s", root, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void packages_are_those_that_dpkg_unpacked(void **state)
{
	struct policy *p = good("rules: [{name: db, packages: [\"postgresql-*\", libpq5]}]");
	char root[] = "/tmp/morph-rule.XXXXXX", path[PATH_MAX], command[128];
	static const char *const part[] = { "/var", "/lib", "/dpkg", "/info" };
	struct rule_subject s;

	(void)state;
	assert_non_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "%s", root);
	for (int i = 0; i < 4; i++) {
		strcat(path, part[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	put(root, "postgresql-15.list", "/.\n/usr\n/usr/lib/postgresql/15/bin/postgres\n");
	put(root, "libpq5:amd64.list", "/.\n/lib/x86_64-linux-gnu/libpq.so.5\n/usr/share/last");
	put(root, "perl.list", "/usr/bin/perl\n");
	put(root, "postgresql-15.md5sums", "/usr/bin/perl\n");
	put(root, ".list", "/usr/bin/perl\n");
	static const struct { const char *path; bool fits;
	} t[] = {
		{ "/usr/lib/postgresql/15/bin/postgres", true },
		{ "/usr/lib/postgresql/15/bin/postgre", false },
		{ "/usr/lib/postgresql/15/bin/postgresx", false },
		{ "/usr/lib/x86_64-linux-gnu/libpq.so.5", true }, /* listed where it was once */
		{ "/lib/x86_64-linux-gnu/libpq.so.5", true },
		{ "/usr/share/last", true },
		{ "/usr/bin/perl", false },
		{ "/usr", true },
		{ "", false },
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		rule_subject_init(&s, t[i].path);
		s.root = root;
		if ((rule_find(p, &s) != NULL) != t[i].fits)
			fail_msg("%s: not as it should be", t[i].path);
	}
	assert_true(rule_in_package(root, "perl", "/usr/bin/perl"));
	assert_true(rule_in_package(root, "*", "/usr/bin/perl"));
	assert_false(rule_in_package(root, "per", "/usr/bin/perl"));
	assert_false(rule_in_package("/nonexistent", "*", "/usr/bin/perl"));
	policy_free(p);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

static void what_is_no_rule_is_told_with_its_place(void **state)
{
	(void)state;
	refused("rules: 5\n", "t:1:8: rules: expects a list of rules, each with - before it");
	refused("rules: {name: x}\n",
		"t:1:8: rules: expects a list of rules, each with - before it");
	refused("rules:\n- x\n",
		"t:2:3: expects a rule: lines KEY: VALUE, the first with - before it");
	refused("rules:\n- name: a\n  paths: [/a]\n- paths: [/b]\n  refuse: true\n- {}",
		"t:6:1: the rule that begins in line 4 has no name");
	refused("rules:\n- {name: a, cool_down_h: 1}\n",
		"t:2:27: the rule that begins in line 2 says of "
		"no paths, packages or users; [\"/*\"] are all paths");
	refused("rules:\n- {name: a, paths: []}\n",
		"t:2:22: the rule that begins in line 2 says of no "
		"paths, packages or users; [\"/*\"] are all paths");
	refused("rules:\n- {name: a, paths: [/a], refuse: true, cool_down_h: 1}\n",
		"t:2:54: the rule that begins in line 2 refuses what it is about, and has "
		"settings for it");
	refused("rules:\n- {name: a, paths: [/a]}\n- {name: a, paths: [/b]}\n",
		"t:3:10: rules.name: 'a' is the name of the rule in line 2, too");
	refused("rules:\n- {name: \"\", paths: [/a]}\n",
		"t:2:10: rules.name: a name has 1 to 64 bytes");
	refused("rules:\n- {name: [a], paths: [/a]}\n",
		"t:2:10: rules.name: expects a name, not a list");
	refused("rules:\n- {name: a, name: b, paths: [/a]}\n",
		"t:2:13: rules.name stands twice in one rule");
	refused("rules:\n- {name: a, paths: [/a], paths: [/b]}\n",
		"t:2:26: rules.paths stands twice in one rule");
	refused("rules:\n- {name: a, paths: [a]}\n",
		"t:2:21: rules.paths: 'a' is not a pattern of "
		"absolute paths; it must begin with /");
	refused("rules:\n- {name: a, packages: [/a]}\n",
		"t:2:24: rules.packages: '/a' is not a pattern of names");
	refused("rules:\n- {name: a, users: root}\n",
		"t:2:20: rules.users: expects a list of patterns, as "
		"in [\"postgresql-*\"]");
	refused("rules:\n- name: a\n  paths: [/a]\n  cool_down_h: 9999\n",
		"t:4:16: rules.cool_down_h: 9999 is outside 0..8760 h");
	refused("rules:\n- name: a\n  paths: [/a]\n  passes: [fluf]\n",
		"t:4:12: rules.passes: 'fluf' is not one of fluff, leave, align, layout, "
		"calls, lines");
	static const char *const not_of_a_rule[] = { "half_life_d", "check_s", "rate_hz",
						     "nonsense" };
	for (int i = 0; i < 4; i++) {
		char yaml[128], sentence[256];

		(void)snprintf(yaml, sizeof(yaml), "rules:\n- name: a\n  %s: 1\n",
			       not_of_a_rule[i]);
		(void)snprintf(
			sentence, sizeof(sentence),
			"t:3:3: unknown setting 'rules.%s'; a rule has "
			"name, paths, packages, users, refuse, share_layouts, give, take, and "
			"settings of profile, and of optimize but half_life_d",
			not_of_a_rule[i]);
		refused(yaml, sentence);
	}
	refused("rules: []\nrules: []\n", "t:2:1: section rules stands here a second time");
}

static void rules_are_bounded(void **state)
{
	static char yaml[1 << 16];
	size_t n = (size_t)snprintf(yaml, sizeof(yaml), "rules:\n");

	(void)state;
	for (int i = 0; i < 257; i++)
		n += (size_t)snprintf(yaml + n, sizeof(yaml) - n,
				      "- {name: r%d, paths: [/a]}\n", i);
	refused(yaml, "t:258:3: a policy has at most 256 rules");
}

static void a_rule_says_what_inherits(void **state)
{
	struct policy *p = good("profile: {inherit_least_pct: 80}\n"
				"rules:\n- {name: some, paths: [/a], inherit: on, "
				"inherit_least_pct: 90}\n"
				"- {name: others, paths: [/b], inherit: off}\n");
	struct policy some = rule_apply(p, &p->rule[0]), rest = rule_apply(p, NULL);

	(void)state;
	assert_int_equal(some.inherit, 1);
	assert_int_equal(some.inherit_least_pct, 90);
	assert_int_equal(rest.inherit, 0);
	assert_int_equal(rest.inherit_least_pct, 80);
	assert_true(policy_inherits(p));
	policy_free(p);
	p = good("rules:\n- {name: others, paths: [/b], inherit: off}\n");
	assert_false(policy_inherits(p));
	policy_free(p);
	p = good("profile: {inherit: on}");
	assert_true(policy_inherits(p));
	policy_free(p);
	refused("profile: {inherit: auto}",
		"t:1:20: profile.inherit: 'auto' is not one of off, on");
	refused("profile: {inherit_least_pct: 0}",
		"t:1:30: profile.inherit_least_pct: 0 is outside 1..100 %");
}

static void a_rule_says_what_is_shared(void **state)
{
	struct policy *p = good("share: {conninfo: \"host=h\", take: off}\n"
				"rules:\n- {name: ours, packages: [ours-*], give: off}\n"
				"- {name: db, users: [0], take: on}\n");
	struct policy ours = rule_apply(p, &p->rule[0]), db = rule_apply(p, &p->rule[1]);
	struct policy rest = rule_apply(p, NULL);

	(void)state;
	assert_true(!ours.share_give && !ours.share_take);
	assert_true(db.share_give && db.share_take);
	assert_true(rest.share_give && !rest.share_take);
	policy_free(p);
	refused("rules:\n- {name: a, paths: [/a], conninfo: h}\n",
		"t:2:26: unknown setting 'rules.conninfo'; a rule has name, paths, packages, "
		"users, refuse, share_layouts, give, take, and settings of profile, and of "
		"optimize but half_life_d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_says_what_inherits),
		cmocka_unit_test(a_rule_says_what_is_shared),
		cmocka_unit_test(the_first_rule_that_fits_decides),
		cmocka_unit_test(a_rule_changes_what_it_says_and_nothing_else),
		cmocka_unit_test(a_rule_says_what_is_counted),
		cmocka_unit_test(a_rule_says_which_processes_get_generations),
		cmocka_unit_test(owners_have_names_or_numbers),
		cmocka_unit_test(packages_are_those_that_dpkg_unpacked),
		cmocka_unit_test(what_is_no_rule_is_told_with_its_place),
		cmocka_unit_test(rules_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
