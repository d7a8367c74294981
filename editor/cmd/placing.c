/* placing.c - where a generation that is not written would have its blocks
 *
 * Tested by tests/e2e/cfg.sh and tests/e2e/page.sh.
 */
#include "editor/cmd/cmd.h"
#include "editor/measure/placement.h"
#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/confinedjob.h"

int cmd_place(struct confinedjob *job, const struct prog *prog, const struct profile *profile,
	      struct placement *out, struct blockmap *map, struct err *err)
{
	struct edit_options options = { .generation = 1 };
	struct wr generation = { 0 }, text = { 0 };
	struct edit_stats stats;
	int rc = -1;

	if (cmd_refuse_setid(job, CMD_IN_PROGRAM, err) == 0 &&
	    edit_optimize(job->in[CMD_IN_PROGRAM].bytes, profile, &options, job->arena,
			  &generation, &text, &stats, err) == 0) {
		struct bytes bytes = wr_bytes(&generation);

		bytes.p = arena_dup(job->arena, bytes.p, bytes.n);
		if (blockmap_read(wr_bytes(&text), map, err) == 0)
			rc = placement_of_map(prog, bytes, map, out, err);
	}
	wr_free(&generation);
	wr_free(&text);
	return rc;
}
