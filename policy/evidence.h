/* evidence.h - decides whether registers are worth taking with the samples of a module
 *
 * Registers tell which way branches go, which PCs alone do not.  Beyond some number of samples
 * further registers tell nothing new, and a module with few samples is not worth their cost.
 * Both numbers were chosen: bench/results/accuracy.md has figures at 5,000, 20,000 and 100,000
 * samples.
 */
#ifndef POLICY_EVIDENCE_H
#define POLICY_EVIDENCE_H

#include <stdbool.h>

enum { EVIDENCE_ENOUGH = 20000, EVIDENCE_AGAIN = 10000 };	/* samples with registers */

/* `share`: of all samples in modules, 0..1.  `states`: the module's samples with registers,
 * which fade as all samples do.  `on`: registers are taken now; between EVIDENCE_AGAIN and
 * EVIDENCE_ENOUGH that stays as it is, so that it does not go on and off all the time. */
bool evidence_lacking(double share, double states, bool on);

#endif
