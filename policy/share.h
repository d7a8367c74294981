/* share.h - may what users do show in the layout of a file that others read?
 *
 * Whoever can read a rewritten file sees from the order of its blocks how it is used.  Of a
 * file that only its owner runs that is the owner's own affair.  In one that others run, too,
 * nobody should be told apart: it needs the use of at least users.share_layouts people, each
 * with some weight, so that it is not the layout of one of them.  Who has agreed (users.agreed)
 * may be told apart, and is one of the people among whom others are not.  Root and the accounts
 * of daemons are no people.  Use of which it is not known whose it is may be one more person's,
 * of whom nobody knows.
 */
#ifndef POLICY_SHARE_H
#define POLICY_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum { SHARE_SYSTEM = 0, SHARE_LEAST = 20 };	/* samples of a person, at least */
#define SHARE_UNKNOWN UINT32_MAX

struct share_use {
	uint32_t uid;		/* of a person, SHARE_SYSTEM or SHARE_UNKNOWN */
	double samples;
};

struct share {
	bool shared;		/* somebody runs it who is not the owner nor has agreed */
	unsigned people;	/* with weight */
	bool enough;		/* it may be laid out */
};

/* `least`: the setting; 1: whoever runs it may show.  agreed[i]: use[i].uid has; NULL: nobody
 * has. */
struct share share_judge(const struct share_use *use, const bool *agreed, uint32_t n,
			 uint32_t owner, unsigned least);

#endif
