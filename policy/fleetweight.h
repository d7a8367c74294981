/* fleetweight.h - how much of a fleet's samples is worth beside a machine's own
 *
 * Knows numbers only.  The fleet's shares of blocks are taken for a guess of this machine's,
 * as good as `weight` samples of its own; own samples are drawn from what it really is (a
 * Dirichlet prior and a multinomial).  The likelihood of the own samples says which weights
 * they do not contradict, at 95 % by its ratio, and the largest of these is the one: so few
 * own samples leave the fleet's word, many that agree with it leave it too, as far as it says
 * more, and many that do not leave little of it.
 */
#ifndef POLICY_FLEETWEIGHT_H
#define POLICY_FLEETWEIGHT_H

#include "policy/usage.h"

/* In samples, 0..usage_total(fleet). */
double fleet_weight(const struct usage *own, const struct usage *fleet);

#endif
