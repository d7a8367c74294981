/* evidence.c - decides whether a module has enough samples with registers; see evidence.h
 *
 * hot_share: a module with less than 2 % of the samples is not worth the cost; chosen, not
 * measured.
 */
#include "policy/evidence.h"

static const double hot_share = 0.02;		/* of all samples in modules */

bool evidence_lacking(double share, double states, bool on)
{
	return share >= hot_share && states < (on ? EVIDENCE_ENOUGH : EVIDENCE_AGAIN);
}
