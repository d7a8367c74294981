/* blame.h - processes of a generation met faults: is it to blame, and may those say so who met
 * them?
 *
 * Whoever runs a program can have it crash where he likes, so a user's crashes decide about his
 * own modules only.  A generation goes when it is to blame
 *
 *	by what root or the owner of its file met;
 *	by what BLAME_USERS other users met, each;
 *	by what each person with an account on this machine met, if there are fewer.
 *
 * Each user's crashes of the generation are compared with his own of the original: neither can
 * he make others' crashes look usual.  Users without an account here, as there are as many as
 * somebody has subordinate user ids, are one user together.
 */
#ifndef POLICY_BLAME_H
#define POLICY_BLAME_H

#include <stdbool.h>
#include <stdint.h>

enum { BLAME_USERS = 3 };
#define BLAME_NOBODY UINT32_MAX		/* the users without an account */

struct blame_user {
	uint32_t uid;			/* each once */
	unsigned deaths, deaths_before;	/* of the generation, of the original */
};

struct blame_about {
	uint32_t owner;			/* of the file */
	double watched_s, watched_before_s;
	const uint32_t *person;		/* the accounts of people, other than root's */
	uint32_t nperson;
};

/* Of the deaths of one user: is the generation to blame for them? */
bool blame_by(const struct blame_user *u, const struct blame_about *about);
/* How many users blame it; *decided: it goes. */
unsigned blame_judge(const struct blame_user *user, uint32_t n, const struct blame_about *about,
		     bool *decided);

#endif
