/* layoutreport.c - measures layouts of one program under one profile, and prints the figures
 *
 * Every function with samples is measured, whether it moved or not, so that the figures of all
 * layouts of a program are about the same code.
 *
 * Tested by tests/unit/editor/measure/test_measure.c (the figures).
 */
#include "editor/measure/layoutreport.h"

#include <string.h>

#include "binary/mapsection.h"
#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "editor/measure/measure.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/table.h"
#include "postmorph/analyze.h"

static int place_generation(const struct prog *prog, struct bytes file, const struct image *img,
			    struct placement *out, struct err *err)
{
	struct blockmap map = { 0 };

	if (mapsection_read(img, &map, err) < 0)
		return -1;
	int rc = placement_of_map(prog, file, &map, out, err);
	blockmap_free(&map);
	return rc;
}

static int place_other(const struct prog *prog, struct bytes file, struct placement *out,
		       struct err *err)
{
	struct image img = { 0 };

	if (image_parse(file, prog->arena, &img, err) < 0)
		return -1;
	return image_section(&img, MAPSECTION) ? place_generation(prog, file, &img, out, err)
					       : placement_walk(prog, file, out, err);
}

static int fill_program(struct bytes original, const struct profile *profile, struct arena *a,
			struct prog *prog, struct err *err)
{
	const struct profile *const of[] = { profile, profile->counted };
	uint32_t room = profile->nblock + (profile->counted ? profile->counted->nblock : 0),
		 n = 0;
	vaddr *wanted = arena_array(a, room, sizeof(*wanted));

	for (unsigned k = 0; k < 2; k++)
		for (uint32_t i = 0; of[k] && i < of[k]->nblock; i++)
			wanted[n++] = of[k]->block[i].addr;
	if (prog_analyze_at(original, wanted, n, a, prog, err) < 0 ||
	    profile_attach(prog, profile, err) < 0)
		return -1;
	return infer_counts(prog, err);
}

int report_print(struct bytes original, const struct profile *profile, struct bytes other,
		 const char *name, bool json, struct arena *a, FILE *out, struct err *err)
{
	struct prog *prog = arena_alloc(a, sizeof(*prog));
	struct placement placement[2];
	struct measure measure[2];
	const char *const column[2] = { "original", name };
	uint32_t n = 1;
	double left_out;

	if (fill_program(original, profile, a, prog, err) < 0)
		return -1;
	placement_original(prog, &placement[0]);
	if (other.p) {
		if (place_other(prog, other, &placement[1], err) < 0)
			return err_wrap(err, "%s", name);
		n = 2;
	}
	measure_run(prog, placement, n, measure, &left_out);
	struct table *t = measure_table(measure, column, n, left_out);
	table_print(t, out, json);
	table_free(t);
	return 0;
}
