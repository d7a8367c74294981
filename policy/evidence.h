/* evidence.h - are registers worth taking with the samples of a module?
 *
 * Registers tell which way branches go, which PCs alone do not.  Beyond some number of samples
 * with them they tell nothing new, and few samples of a module are not worth it at all.
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
