/* cmd_placed.c - the images of blocks in a generation: where each lies, and its instructions
 *
 *	generation 3
 *	block	0x7f000	17	0x4f2a0		image, its bytes, original
 *	insn	0x7f000	0x4f2a0	mov    (%rsi),%rdi
 *
 * in the order of the generation.  An instruction that was added has `-` for its original.
 *
 * Tested by tests/e2e/placed.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/decode.h"
#include "binary/mapsection.h"
#include "editor/cmd/cmd.h"
#include "editor/exchange/insntext.h"
#include "editor/exchange/samplelines.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/confinedjob.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"

enum { IN_ORIGINAL, IN_GENERATION, IN_BLOCKS };

struct listing {
	struct image original, generation;
	struct blockmap map;
	struct samplelines blocks;	/* ascending; the counts are their sizes */
	struct arena *arena;
	struct wr *out;
};

static bool is_wanted(const struct listing *l, vaddr addr)
{
	const struct sampleline *b = l->blocks.at;
	uint32_t k = search_first(i, 0, l->blocks.n, b[i].addr <= addr);

	return k && (double)(addr - b[k - 1].addr) < b[k - 1].count;
}

/* The instruction there; false: there is none. */
static bool decode(const struct image *img, vaddr at, struct insn *out)
{
	vaddr target;

	return insn_decode(image_rest(img, at), at, out, &target);
}

/* A line of the disassembler, "ADDRESS\tTEXT", and of which instruction it is the image. */
static void put_insn(struct listing *l, char *line, bool has, vaddr original)
{
	char *text = strchr(line, '\t');
	const char *of = has ? arena_printf(l->arena, "0x%" PRIx64, original) : "-";

	*text++ = '\0';
	wr_text(l->out, arena_printf(l->arena, "insn\t0x%s\t%s\t%s\n", line, of, text));
}

/* One row of the map.  Its image has the original's instructions one by one.  What was added is
 * behind them: a jump, also in the place of NOPs, or NOPs, also in that of a jump. */
static int put_row(struct listing *l, const struct blockmap_block *b, struct err *err)
{
	new_vaddr at = l->map.gen_base + b->gen;
	vaddr orig = l->map.orig_base + b->orig, end = orig + b->orig_size;
	char *text = NULL, *nl;
	size_t n = 0;
	FILE *f = memory_need(open_memstream(&text, &n));
	int rc = insntext_print(&l->generation, at, b->gen_size, "", f, err);

	(void)fclose(f);		/* memory */
	wr_text(l->out, arena_printf(l->arena, "block\t0x%" PRIx64 "\t%" PRIu32 "\t0x%" PRIx64
				     "\n", at, b->gen_size, orig));
	for (char *line = text; rc == 0 && (nl = strchr(line, '\n')); line = nl + 1) {
		struct insn image, of = { 0 };
		bool has = orig < end && decode(&l->original, orig, &of) &&
			   decode(&l->generation, strtoull(line, NULL, 16), &image) &&
			   (of.kind == INSN_NOP) == (image.kind == INSN_NOP);

		*nl = '\0';
		put_insn(l, line, has, orig);
		orig += has ? of.len : 0;
	}
	free(text);
	return rc;
}

static int read_blocks(struct confinedjob *job, struct listing *l, struct err *err)
{
	if (samplelines_read(job->in[IN_BLOCKS].bytes, &l->original, job->arena, &l->blocks,
			     err) < 0)
		return confinedjob_wrap(job, IN_BLOCKS, err);
	for (uint32_t i = 1; i < l->blocks.n; i++)
		if (l->blocks.at[i].addr < l->blocks.at[i - 1].addr) {
			err_set(err, ERR_INPUT, "line %u: the blocks do not ascend", i + 1);
			return confinedjob_wrap(job, IN_BLOCKS, err);
		}
	return 0;
}

static int read_generation(struct confinedjob *job, struct listing *l, struct err *err)
{
	struct digest original = digest_of(job->in[IN_ORIGINAL].bytes);

	if (image_parse(job->in[IN_GENERATION].bytes, job->arena, &l->generation, err) < 0 ||
	    mapsection_read(&l->generation, &l->map, err) < 0)
		return confinedjob_wrap(job, IN_GENERATION, err);
	if (digest_equal(&l->map.original, &original))
		return 0;
	err_set(err, ERR_INPUT, "it is of another original");
	return confinedjob_wrap(job, IN_GENERATION, err);
}

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct listing l = { .arena = job->arena, .out = &job->out[0].bytes };
	int rc = -1;

	(void)ctx;
	if (image_parse(job->in[IN_ORIGINAL].bytes, job->arena, &l.original, err) < 0)
		return confinedjob_wrap(job, IN_ORIGINAL, err);
	if (read_blocks(job, &l, err) == 0)
		rc = read_generation(job, &l, err);
	if (rc == 0)
		wr_text(l.out, arena_printf(l.arena, "generation %" PRIu32 "\n",
					    l.map.generation));
	for (uint32_t i = 0; rc == 0 && i < l.map.nblock; i++)
		if (l.map.block[i].gen_size &&
		    is_wanted(&l, l.map.orig_base + l.map.block[i].orig))
			rc = put_row(&l, &l.map.block[i], err);
	blockmap_free(&l.map);
	return rc;
}

int cmd_placed(int argc, char **argv)
{
	struct confinedjob job = { .nin = 3, .work = work };

	return cmd_run(&job, argc, argv);
}
