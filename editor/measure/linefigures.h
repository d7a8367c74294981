/* linefigures.h - how often what runs lies across the ends of 64-byte lines in a layout */
#ifndef EDITOR_MEASURE_LINEFIGURES_H
#define EDITOR_MEASURE_LINEFIGURES_H

#include "editor/measure/measure.h"

/* Fills the figures of m->lines for placement[which], over the blocks whose place all `n`
 * placements know.  Needs counts in `prog`. */
void linefigures_count(const struct prog *prog, const struct placement *placement, uint32_t n,
		       uint32_t which, struct measure_lines *m);

#endif
