/* share.c - may what users do show in a layout?  See share.h
 *
 * Weight is a quarter of an even share: with `least` people nobody has more than
 * 1 - (least - 1) / (4 least) of what is people's.
 *
 * Tested by tests/unit/policy/test_share.c.
 */
#include "policy/share.h"

struct share share_judge(const struct share_use *use, const bool *agreed, uint32_t n,
			 uint32_t owner, unsigned least)
{
	struct share s = { 0 };
	double total = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (use[i].uid == SHARE_SYSTEM)
			continue;
		total += use[i].samples;
		s.shared = s.shared || (use[i].uid != owner && use[i].samples >= 1 &&
					!(agreed && agreed[i]));
	}
	double weight = total / (4.0 * least);
	for (uint32_t i = 0; i < n; i++)
		s.people += use[i].uid != SHARE_SYSTEM && use[i].uid != SHARE_UNKNOWN &&
			    use[i].samples >= SHARE_LEAST && use[i].samples >= weight;
	s.enough = least <= 1 || !s.shared || s.people >= least;
	return s;
}
