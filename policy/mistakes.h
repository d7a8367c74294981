/* mistakes.h - what a policy says in vain: it is valid, and does not do what was probably meant
 */
#ifndef POLICY_MISTAKES_H
#define POLICY_MISTAKES_H

#include <stdbool.h>

struct policy;

/* Calls `say` with a sentence for each: patterns that no path fits, because their folder is not
 * there or is a link, and rules without effect.  `look`: also in folders, for patterns that no
 * file fits; that needs the right to list them.  `root` stands in front of all paths. */
void policy_mistakes(const struct policy *p, const char *root, bool look,
		     void (*say)(void *ctx, const char *text), void *ctx);

#endif
