#include "policy/evidence.h"

static const double hot_share = 0.02;

bool evidence_lacking(double share, double states, bool on)
{
	return share >= hot_share && states < (on ? EVIDENCE_ENOUGH : EVIDENCE_AGAIN);
}
