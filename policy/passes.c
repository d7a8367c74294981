/* passes.c - the passes that a policy can switch on, by name (passes.def)
 *
 * Tested by tests/unit/policy/test_policy.c.
 */
#include <assert.h>
#include <stdio.h>

#include "policy/policy.h"

#define PASS(name) ", " #name
static const char pass_names[] =
#include "policy/passes.def"
;
#undef PASS
const char *const policy_pass_names = pass_names + 2;	/* after the first comma */

void policy_pass_list(const struct policy *p, char *out, size_t n)
{
	size_t len = 0;

	assert(n >= POLICY_PASS_LIST_MAX);
	out[0] = '\0';
#define PASS(name)								\
	if (p->passes.name)							\
		len += (size_t)snprintf(out + len, n - len, "%s" #name, len ? "," : "");
#include "policy/passes.def"
#undef PASS
}
