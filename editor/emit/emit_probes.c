/* emit_probes.c - notes of static probe points for their images
 *
 * The original's notes stay, because its code may still run; behind them comes one for each
 * whose function is moved, in their order, with another address and all else the same.  Tracers
 * take all notes of one name.
 */
#include "editor/emit/emit.h"

uint32_t emit_probes_write(const struct emit_plan *plan, struct wr *out)
{
	const struct prog *prog = plan->prog;
	const struct image *img = &prog->img;
	const struct section *s = image_section(img, ".note.stapsdt");
	bool any = false;

	for (uint32_t i = 0; i < prog->nprobe; i++) {
		const struct probe *p = &prog->probe[i];
		const struct fn *fn = &prog->fn[p->fn];

		if (!fn->moved)
			continue;
		if (!any)
			wr_raw(out, img->file.p + s->h.sh_offset, s->h.sh_size);
		any = true;
		uint32_t block = fn_find_block(fn, p->pc);
		uint64_t pc = emit_place_addr(plan, plan->place_of[p->fn][block]) - p->bias;
		size_t at = out->n + p->desc;

		wr_raw(out, img->file.p + p->at, p->size);
		memcpy(out->p + at, &pc, sizeof(pc));
	}
	return any ? (uint32_t)(s - img->sh) : 0;
}
