/* test_mistakes.c - what a policy says in vain is told, and nothing of what it does not */
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
#include "policy/mistakes.h"
#include "policy/policy.h"

static char root[64];
static char told[8192];

static void make(const char *path)
{
	char whole[256];

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	FILE *f = fopen(whole, "w");
	assert_non_null(f);
	(void)fclose(f);
}

static void folder(const char *path)
{
	char whole[256];

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	assert_int_equal(mkdir(whole, 0755), 0);
}

/* A merged /usr with two programs, and a package. */
static int set_up(void **state)
{
	char link[128];

	(void)state;
	strcpy(root, "/tmp/morph-mistakes-XXXXXX");
	assert_non_null(mkdtemp(root));
	for (const char *const *d = (const char *const[]){ "/usr", "/usr/bin", "/usr/lib",
	     "/usr/lib/deep", "/var", "/var/lib", "/var/lib/dpkg", "/var/lib/dpkg/info", NULL };
	     *d; d++)
		folder(*d);
	make("/usr/bin/perl");
	make("/usr/lib/deep/libdeep.so");
	make("/var/lib/dpkg/info/gzip.list");
	make("/var/lib/dpkg/info/libc6:amd64.list");
	(void)snprintf(link, sizeof(link), "%s/bin", root);
	assert_int_equal(symlink("usr/bin", link), 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void gather(void *ctx, const char *text)
{
	(void)ctx;
	strcat(strcat(told, text), "\n");
}

static void expect_looking(const char *yaml, bool look, const char *want)
{
	struct err err = { 0 };
	struct bytes text = { (const uint8_t *)yaml, strlen(yaml) };
	struct policy *p = policy_parse(text, "t", &err);

	if (!p)
		fail_msg("%s", err.text);
	told[0] = '\0';
	policy_mistakes(p, root, look, gather, NULL);
	if (strcmp(told, want) != 0)
		fail_msg("told of %s\n%s--- not\n%s", yaml, told, want);
	policy_free(p);
}

static void expect(const char *yaml, const char *want)
{
	expect_looking(yaml, true, want);
}

#define MODULES "modules: {include: [/usr/bin/*]}\n"

static void patterns_that_fit_nothing_are_told(void **state)
{
	(void)state;
	expect(MODULES, "");
	expect("modules: {include: [/bin/*]}",
	       "modules.include: '/bin/*' fits nothing: '/bin' is a link, and modules have the "
	       "path it leads to; write '/usr/bin/*'\n");
	expect("modules: {include: [/bin/perl]}", "modules.include: '/bin/perl' fits nothing: "
	       "'/bin' is a link, and modules have the path it leads to; write "
	       "'/usr/bin/perl'\n");
	expect("modules: {include: [/opt/app/*]}",
	       "modules.include: '/opt/app/*' fits nothing: there is no folder '/opt/app/'\n");
	expect("modules: {include: [/usr/bin/perl, /usr/bin/python]}",
	       "modules.include: there is no file '/usr/bin/python'\n");
	expect("modules: {include: [\"/usr/bin/py*\"]}",
	       "modules.include: '/usr/bin/py*' fits no file\n");
	expect_looking("modules: {include: [\"/usr/bin/py*\"]}", false, "");
	expect("modules: {include: [/usr/lib/*.so]}", "");	/* in an inner folder */
	expect("modules: {include: [/*]}", "");
	expect("modules: {include: [/usr/bin/*], exclude: [/usr/bin/gs]}",
	       "modules.exclude: there is no file '/usr/bin/gs'\n");
	expect("modules: {include: []}",
	       "modules.include is empty: nothing is sampled for, and nothing laid out\n");
}

static void rules_without_effect_are_told(void **state)
{
	(void)state;
	expect(MODULES "rules: [{name: a, paths: [/usr/bin/*], min_samples: 9},\n"
	       "{name: b, paths: [/usr/bin/perl], refuse: true}]",
	       "rule 'b' of line 3 has no effect: rule 'a' before it is about all that it is "
	       "about\n");
	expect(MODULES "rules: [{name: b, paths: [/usr/bin/perl], refuse: true},\n"
	       "{name: a, paths: [/usr/bin/*], min_samples: 9}]", "");
	expect(MODULES "rules: [{name: a, paths: [/usr/lib/*], min_samples: 9}]",
	       "rule 'a' of line 2 has no effect: its paths are not in modules.include\n");
	expect(MODULES "rules: [{name: a, paths: [/usr/bin/*]}]",
	       "rule 'a' of line 2 has no effect: it sets nothing, and no rule follows that it "
	       "could be an exception from\n");
	expect(MODULES "rules: [{name: a, paths: [/usr/bin/perl]},\n"
	       "{name: b, paths: [/usr/bin/*], refuse: true}]", "");
	/* of one user's, or of a package, the first rule is not about all */
	expect(MODULES "rules: [{name: a, paths: [/usr/bin/*], users: [root], "
	       "min_samples: 9},\n"
	       "{name: b, paths: [/usr/bin/perl], refuse: true}]", "");
	expect(MODULES "rules: [{name: a, paths: [\"/usr/bin/?erl\"], min_samples: 9},\n"
	       "{name: b, paths: [\"/usr/bin/*erl\"], refuse: true}]", "");
}

static void names_of_nobody_are_told(void **state)
{
	(void)state;
	expect(MODULES "rules: [{name: a, users: [nosuchuser, root, 4711, \"x*\"], "
	       "refuse: true}]", "rule 'a' of line 2: there is no user 'nosuchuser'\n");
	expect(MODULES "users: {share_layouts: 2, agreed: [nosuchuser, root, 4711, \"x*\"]}",
	       "users.agreed: there is no user 'nosuchuser'\n");
	expect(MODULES "users: {agreed: [root]}",
	       "users.agreed has no effect: users.share_layouts is 1\n");
	expect(MODULES
	       "rules: [{name: a, packages: [gzip, libc6, gzpi, \"x*\"], refuse: true}]",
	       "rule 'a' of line 2: no package 'gzpi' is installed\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_that_fit_nothing_are_told),
		cmocka_unit_test(rules_without_effect_are_told),
		cmocka_unit_test(names_of_nobody_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
