/* blame.c - who blames a generation, and whether that is enough; see blame.h
 *
 * Tested by tests/unit/policy/test_blame.c.
 */
#include "policy/blame.h"

#include "policy/decide.h"

bool blame_by(const struct blame_user *u, const struct blame_about *about)
{
	return u->deaths && decide_blames(u->deaths, about->watched_s, u->deaths_before,
					  about->watched_before_s);
}

static bool blames(const struct blame_user *user, uint32_t n, const struct blame_about *about,
		   uint32_t uid)
{
	for (uint32_t i = 0; i < n; i++)
		if (user[i].uid == uid)
			return blame_by(&user[i], about);
	return false;
}

unsigned blame_judge(const struct blame_user *user, uint32_t n, const struct blame_about *about,
		     bool *decided)
{
	unsigned blamers = 0;
	bool all = about->nperson > 0;

	*decided = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!blame_by(&user[i], about))
			continue;
		blamers++;
		*decided |= user[i].uid == 0 ||
			    (user[i].uid == about->owner && user[i].uid != BLAME_NOBODY);
	}
	for (uint32_t i = 0; i < about->nperson; i++)
		all = all && blames(user, n, about, about->person[i]);
	*decided |= blamers >= BLAME_USERS || all;
	return blamers;
}
