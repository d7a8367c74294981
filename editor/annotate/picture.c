/* picture.c - what a page shows of a module: see picture.h
 *
 * Tested by tests/e2e/page.sh.
 */
#include "editor/annotate/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "editor/exchange/flowdot.h"
#include "editor/exchange/insntext.h"
#include "editor/exchange/samplelines.h"
#include "editor/measure/lineheat.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"

/* --- the text --- */

static void put_area(const struct picture *p, const char *name, vaddr addr, uint64_t size,
		     struct wr *out)
{
	if (size)
		wr_text(out, arena_printf(p->program.prog->arena,
					  "area\t%s\t0x%" PRIx64 "\t%" PRIu64 "\n", name, addr,
					  size));
}

/* From the first executable segment's start to the last one's end. */
static void put_original(const struct picture *p, struct wr *out)
{
	const struct image *img = &p->program.prog->img;
	vaddr first = 0, end = 0;

	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *h = &img->ph[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || !h->p_filesz)
			continue;
		first = !end || h->p_vaddr < first ? h->p_vaddr : first;
		end = h->p_vaddr + h->p_filesz > end ? h->p_vaddr + h->p_filesz : end;
	}
	put_area(p, "text", first, end - first, out);
}

void picture_text(const struct picture *p, struct wr *out)
{
	const struct prog *prog = p->program.prog;
	const struct blockmap *m = p->map;
	struct placement before;

	placement_original(prog, &before);
	put_original(p, out);
	lineheat_write(prog, &before, "before", out);
	if (p->note) {
		wr_text(out, arena_printf(prog->arena, "note\t%s\n", p->note));
		return;
	}
	put_area(p, "hot", m->gen_base, m->hot_size, out);
	put_area(p, "fluff", m->gen_base + m->hot_size, m->fluff_size, out);
	lineheat_write(prog, &p->after, "after", out);
}

/* --- functions --- */

struct hot {
	uint32_t fn;
	double weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

/* Samples, or what runs where there are none. */
static struct hot *hottest(const struct picture *p, uint32_t *n)
{
	const struct samplelines *s = p->program.samples;
	const struct prog *prog = p->program.prog;
	struct hot *hot = arena_array(prog->arena, prog->nfn, sizeof(*hot));
	uint32_t k = 0;

	for (uint32_t i = 0; i < prog->nfn; i++)
		hot[i].fn = i;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t f = prog_find_fn(prog, s->at[i].addr);

		if (f != NO_FN)
			hot[f].weight += s->at[i].count;
	}
	for (uint32_t i = 0; i < prog->nfn && !s->n; i++)
		hot[i].weight = fn_work(&prog->fn[i]);
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		if (hot[i].weight > 0 && fn->kept && fn->nblock)
			hot[k++] = hot[i];
	}
	if (k)
		qsort(hot, k, sizeof(*hot), by_weight);
	*n = k;
	return hot;
}

static int put_texts(const struct picture *p, const struct fn *fn, struct wr *out,
		     struct err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = 0;

	if (!f)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < fn->nblock && rc == 0; i++)
		if (fn->block[i].count > 0 || fn->block[i].samples > 0)
			rc = insntext_print(&p->program.prog->img, fn->block[i].addr,
					    fn->block[i].size, "text\t0x", f, err);
	(void)fclose(f);	/* memory: nothing to lose */
	if (rc == 0)
		wr_raw(out, text, n);
	free(text);
	return rc;
}

static void put_images(const struct picture *p, uint32_t f, struct wr *out)
{
	const struct prog *prog = p->program.prog;
	const struct placed *at = p->note ? NULL : p->after.block[f];

	for (uint32_t i = 0; at && i < prog->fn[f].nblock; i++)
		if (at[i].known && !prog->fn[f].block[i].padding)
			wr_text(out, arena_printf(prog->arena,
						  "image\t0x%" PRIx64 "\t0x%" PRIx64 "\n",
						  prog->fn[f].block[i].addr, at[i].addr));
}

int picture_functions(const struct picture *p, uint64_t most, struct wr *out, struct err *err)
{
	const struct prog *prog = p->program.prog;
	uint32_t n;
	struct hot *hot = hottest(p, &n);

	for (uint32_t i = 0; i < n && i < most; i++) {
		const struct fn *fn = &prog->fn[hot[i].fn];

		if (annotated_function(&p->program, fn->entry, prog->arena, out, err) < 0 ||
		    put_texts(p, fn, out, err) < 0 ||
		    flowdot_edges(prog, fn->entry, out, err) < 0)
			return -1;
		put_images(p, hot[i].fn, out);
	}
	return 0;
}
