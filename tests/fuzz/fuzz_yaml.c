/* fuzz_yaml.c - a policy from any bytes; what is accepted shows, answers and frees */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/err.h"
#include "policy/policy.h"
#include "policy/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *ctx, const char *section, const char *key, const char *value,
		  const char *unit, const char *help)
{
	(void)section, (void)key, (void)unit, (void)help;
	*(size_t *)ctx += strlen(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct policy *p = policy_parse((struct bytes){ data, size }, "fuzz", &err);
	char passes[POLICY_PASS_LIST_MAX];
	size_t n = 0;

	if (!p) {
		assert(strncmp(err.text, "fuzz:", 5) == 0);
		return 0;
	}
	policy_each(p, count, &n);
	policy_pass_list(p, passes, sizeof(passes));
	assert(n > 0);
	(void)policy_allows(p, "/usr/bin/perl");	/* either answer is right */
	struct rule_subject s;
	rule_subject_init(&s, "/usr/bin/perl");
	s.root = "/nonexistent";
	const struct policy_rule *r = rule_find(p, &s);
	assert(!r || (r >= p->rule && r < p->rule + p->nrule && *r->name));
	struct policy with = rule_apply(p, r);
	policy_pass_list(&with, passes, sizeof(passes));
	policy_free(p);
	return 0;
}
