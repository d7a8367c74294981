/* branchstacks.h - turns branches and runs of branch stacks into edges, calls and executions */
#ifndef EDITOR_INTERPRET_BRANCHSTACKS_H
#define EDITOR_INTERPRET_BRANCHSTACKS_H

#include "editor/interpret/sightings.h"

/* Like sightings_place(), for sightings that are TAKEN or RUN alone; fills block and nblock of
 * *out as well, if the source asks for executions. */
void branchstacks_place(const struct sightings_source *source, struct prog *prog,
			struct profile *out, struct sightings_stats *stats);

#endif
