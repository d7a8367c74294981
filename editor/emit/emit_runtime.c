/* emit_runtime.c - the counter runtime in an instrumented generation: its place, its unwind
 * record, and how control reaches it
 *
 * START    A program's entry point becomes the start entry, which goes on to the original one.
 *          A library's DT_INIT becomes the start entry, which goes on to what DT_INIT was.
 *          Where the library has no DT_INIT, an unused entry of .dynamic becomes one.
 *
 * PRIVATE  counters need the start alone (counterstart.h), once: in a program at its entry
 *          point, in a library at the DT_INIT that it has.
 *
 * UNWIND   The counter runtime has one FDE, of a CIE whose initial rules are those of a
 *          function's entry.  instrument.c has appended the states that it needs to prog->cfi.
 *
 * HEAD     The first bytes of the file of counts hold a digest of the original, the new text
 *          and the file's path.  The program has the same bytes and compares them.
 *
 * Tested by tests/programs/instrument.sh: programs, static programs and libraries run
 * instrumented, with their file of counts, without it, and with one of another program.
 */
#include <stdlib.h>

#include "editor/emit/elfout.h"
#include "editor/emit/emit.h"
#include "editor/emit/counterruntime.h"
#include "editor/emit/counterstart.h"
#include "lib/err.h"

enum { RUNTIME_ALIGN = 16, INT3 = 0xcc };

uint64_t emit_runtime_off(const struct emit_plan *plan)
{
	return (plan->text_size + RUNTIME_ALIGN - 1) & ~(uint64_t)(RUNTIME_ALIGN - 1);
}

uint64_t emit_runtime_size(const struct emit_plan *plan)
{
	const struct counterruntime *r = plan->counters->runtime;

	return counterruntime_is_private(r) ? COUNTERSTART_SIZE : counterruntime_size(r);
}

/* The state with only the return address saved and the CFA `cfa_off` bytes above %rsp;
 * UINT32_MAX when there is none. */
static uint32_t find_state(const struct cfi *cfi, int64_t cfa_off)
{
	enum { RSP = 7 };

	for (uint32_t i = 0; i < cfi->nstate; i++) {
		const struct cfi_state *s = &cfi->state[i];
		bool plain = !s->cfa_is_expr && s->cfa_reg == RSP && s->cfa_off == cfa_off &&
			     s->nother == 0 && s->reg[CFI_RA].kind == CFI_OFFSET &&
			     s->reg[CFI_RA].off == -8;

		for (uint32_t r = 0; plain && r < CFI_NREG; r++)
			plain = r == CFI_RA || s->reg[r].kind == CFI_UNSPEC;
		if (plain)
			return i;
	}
	return UINT32_MAX;
}

static uint32_t find_cie(const struct cfi *cfi, uint32_t state)
{
	for (uint32_t i = 0; i < cfi->ncie; i++)
		if (cfi->cie[i].understood && cfi->cie[i].initial == state &&
		    cfi->cie[i].ra_reg == CFI_RA && !cfi->cie[i].signal_frame)
			return i;
	return UINT32_MAX;
}

uint32_t emit_runtime_unwind(const struct emit_plan *plan, struct arena *a,
			     struct emit_unwind *unwind)
{
	const struct cfi *cfi = &plan->prog->cfi;
	uint32_t n, cie = find_cie(cfi, find_state(cfi, 8));
	const struct counterruntime_row *row = counterruntime_rows(&n);

	if (cie == UINT32_MAX || counterruntime_is_private(plan->counters->runtime))
		return 0;
	unwind->row_span = arena_grow(a, unwind->row_span, unwind->nspan, unwind->nspan + 1,
				       sizeof(*unwind->row_span));
	unwind->row = arena_grow(a, unwind->row, unwind->nrow, unwind->nrow + n,
				 sizeof(*unwind->row));
	new_vaddr at = plan->text_addr + emit_runtime_off(plan);
	unwind->row_span[unwind->nspan] = (struct ehframe_span){
		.cie = cie, .addr = at, .len = counterruntime_size(plan->counters->runtime),
		.row = unwind->nrow, .nrow = n };
	for (uint32_t i = 0; i < n; i++)
		unwind->row[unwind->nrow++] = (struct ehframe_row){
			at + row[i].off, find_state(cfi, 8 + (int64_t)row[i].depth) };
	return 1;
}

static void make_head(const struct emit_plan *plan, const struct wr *text, uint8_t *head)
{
	const struct counterruntime *r = plan->counters->runtime;
	struct wr all = { 0 }, out = { 0 };

	wr_raw(&all, &plan->prog->digest, sizeof(plan->prog->digest));
	wr_raw(&all, text->p, text->n);
	wr_str(&all, r->path);
	struct digest id = digest_of(wr_bytes(&all));

	wr_raw(&out, "MORPHCNT", 8);
	wr_u32(&out, COUNTSFILE_VERSION);
	wr_u32(&out, r->locked);
	wr_raw(&out, id.b, sizeof(id.b));
	memcpy(head, out.p, COUNTSFILE_HEAD);
	wr_free(&all);
	wr_free(&out);
}

static bool is_moved_to(const struct emit_plan *plan, uint32_t fn, uint32_t block)
{
	return plan->prog->fn[fn].block[block].pinned && plan->place_of[fn][block] != NO_PLACE;
}

static int compare_move(const void *x, const void *y)
{
	const struct counterruntime_move *a = x, *b = y;

	return a->block < b->block ? -1 : a->block > b->block;
}

void emit_runtime_moves(const struct emit_plan *plan)
{
	const struct prog *prog = plan->prog;
	struct counterruntime *r = plan->counters->runtime;
	VEC(struct counterruntime_move) move = { 0 };

	for (uint32_t f = 0; f < prog->nfn; f++) {
		if (!plan->counters->fn[f].jumps)
			continue;
		for (uint32_t i = 0; i < prog->fn[f].nblock; i++) {
			if (!is_moved_to(plan, f, i))
				continue;
			new_vaddr image = emit_place_addr(plan, plan->place_of[f][i]);

			vec_push(prog->arena, &move, ((struct counterruntime_move){
				(uint32_t)(prog->fn[f].block[i].addr - r->base),
				(uint32_t)(image - r->base) }));
		}
	}
	if (move.n)
		qsort(move.v, move.n, sizeof(*move.v), compare_move);
	r->move = move.v;
	r->nmove = move.n;
}

void emit_runtime_write(const struct emit_plan *plan, struct wr *text)
{
	struct counterruntime *r = plan->counters->runtime;
	uint64_t off = emit_runtime_off(plan);

	make_head(plan, text, r->head);
	r->counters = plan->counters->counter_addr;
	r->slots += r->counters;
	uint64_t gap = off - text->n;
	memset(wr_reserve(text, gap), INT3, gap);
	if (counterruntime_is_private(r))
		counterstart_write(plan->text_addr + off, r->counters, (uint32_t)r->size,
				   r->entry ? r->entry : r->init, text);
	else
		counterruntime_write(r, plan->text_addr + off, text);
}

/* What is started by its entry point; else by DT_INIT. */
static bool is_program(const struct image *img)
{
	uint64_t soname;

	return img->executable && !image_dynamic(img, DT_SONAME, &soname);
}

new_vaddr emit_runtime_entry(const struct emit_plan *plan, const struct elfout *eo)
{
	bool is_private = counterruntime_is_private(plan->counters->runtime);
	vaddr entry = eo->img->eh.e_entry;

	if (entry == 0 || !image_is_exec(eo->img, entry) ||
	    (is_private && !is_program(eo->img)))
		return 0;
	plan->counters->runtime->entry = entry;
	return plan->text_addr + emit_runtime_off(plan) +
	       (is_private ? 0 : counterruntime_entry());
}

/* Finds the entry of .dynamic that is to be DT_INIT: the one there is, or the first of two
 * DT_NULL at the end. */
static bool find_init(const struct image *img, file_off *at, vaddr *was)
{
	const Elf64_Phdr *ph = image_phdr(img, PT_DYNAMIC);
	file_off end = 0;

	for (uint64_t off = 0; ph && off + sizeof(Elf64_Dyn) <= ph->p_filesz;
	     off += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		memcpy(&d, img->file.p + ph->p_offset + off, sizeof(d));
		*at = ph->p_offset + off;
		*was = d.d_un.d_ptr;
		if (d.d_tag == DT_INIT && !end)
			return true;
		if (d.d_tag == DT_NULL && end)
			return *at = end, *was = 0, true;
		if (d.d_tag == DT_NULL)
			end = *at;
	}
	return false;
}

int emit_runtime_init(const struct emit_plan *plan, const struct elfout *eo,
		    struct elfout_patch *patch, uint32_t *npatch, struct err *err)
{
	bool is_private = counterruntime_is_private(plan->counters->runtime);
	vaddr was;
	file_off at;

	if (is_program(eo->img))
		return 0;
	if (!find_init(eo->img, &at, &was))
		return err_set(err, ERR_REFUSED, "a library without DT_INIT, nor room for one");
	if (is_private && !was)
		return err_set(err, ERR_REFUSED, "a library without DT_INIT");
	plan->counters->runtime->init = was;
	const uint64_t entry[] = { DT_INIT, plan->text_addr + emit_runtime_off(plan) +
				   (is_private ? 0 : counterruntime_init()) };

	patch[*npatch] = (struct elfout_patch){ .off = at, .size = sizeof(entry) };
	memcpy(patch[(*npatch)++].byte, entry, sizeof(entry));
	return 0;
}
