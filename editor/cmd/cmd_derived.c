/* cmd_derived.c - was this file once a generation of that original, whatever was done to it
 * since?
 *
 * For who wants an original back from under a generation that somebody stripped or edited:
 * nothing else may be taken for one, a newer version of the program least of all.  Shown by the
 * code: all of the original's is at its addresses, byte for byte but for the entry jumps of the
 * block map, each of which is there and leads into the new text, which is code of the file
 * where the original has nothing.  The map is of whoever asks: it could as well name jumps that
 * the program has anyway, and call what they lead to new.  What the file has become besides is
 * not looked at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "binary/image.h"

enum { JMP_BYTES = 5, JMP = 0xe9 };

struct derived {
	struct image original, file;
	struct blockmap map;
	struct arena *arena;
	uint32_t jumps;		/* seen in the file */
};

static bool leads_to_new_text(const struct blockmap *map, vaddr at, struct bytes jmp)
{
	struct rd r = rd_of(jmp);

	if (rd_u8(&r) != JMP)
		return false;
	new_vaddr to = at + JMP_BYTES + (uint64_t)(int64_t)(int32_t)rd_u32(&r);
	return to - map->gen_base < (uint64_t)map->hot_size + map->fluff_size;
}

/* That code of the original, with the file's jumps in it, is the file's. */
static int same_code(struct derived *d, vaddr from, uint64_t size, struct err *err)
{
	struct bytes was = image_at(&d->original, from, size),
		     is = image_at(&d->file, from, size);

	if (!was.p || !is.p)
		return err_set(err, ERR_REFUSED,
			       "the original's code at 0x%" PRIx64 " is not there", from);
	uint8_t *expected = arena_dup(d->arena, was.p, was.n);
	for (uint32_t i = 0; i < d->map.nentry; i++) {
		vaddr at = d->map.orig_base + d->map.entry[i];
		uint64_t off = at - from;
		struct bytes jmp = bytes_at(is, off, JMP_BYTES);

		if (!jmp.p)
			continue;	/* elsewhere */
		if (!leads_to_new_text(&d->map, at, jmp))
			return err_set(err, ERR_REFUSED, "no jump to new text at 0x%" PRIx64,
				       at);
		memcpy(expected + off, jmp.p, JMP_BYTES);
		d->jumps++;
	}
	for (uint64_t i = 0; i < was.n; i++)
		if (expected[i] != is.p[i])
			return err_set(err, ERR_REFUSED, "other code at 0x%" PRIx64, from + i);
	return 0;
}

static int check_new_text(const struct derived *d, struct err *err)
{
	uint64_t size = (uint64_t)d->map.hot_size + d->map.fluff_size;
	new_vaddr from = d->map.gen_base, to = from + size;
	const Elf64_Phdr *code = image_segment(&d->file, from);

	if (!size || !code || !(code->p_flags & PF_X) ||
	    size > code->p_memsz - (from - code->p_vaddr))
		return err_set(err, ERR_REFUSED, "its new text is no code of the file");
	for (uint32_t i = 0; i < d->original.nph; i++) {
		const Elf64_Phdr *ph = &d->original.ph[i];

		if (ph->p_type == PT_LOAD && from < ph->p_vaddr + ph->p_memsz &&
		    ph->p_vaddr < to)
			return err_set(err, ERR_REFUSED, "its new text is the original's");
	}
	return 0;
}

/* By sections, because headers and notes can be in an executable segment, and are what strip
 * changes. */
static int compare(struct derived *d, struct err *err)
{
	const struct image *img = &d->original;
	uint32_t nsection = 0;

	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if (h->sh_type != SHT_PROGBITS || !(h->sh_flags & SHF_EXECINSTR) || !h->sh_size)
			continue;
		if (same_code(d, h->sh_addr, h->sh_size, err) < 0)
			return -1;
		nsection++;
	}
	for (uint32_t i = 0; i < img->nph && !nsection; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) &&
		    same_code(d, ph->p_vaddr, ph->p_filesz, err) < 0)
			return -1;
	}
	if (!d->jumps || d->jumps != d->map.nentry)
		return err_set(err, ERR_REFUSED, "%" PRIu32 " jumps to new text of %" PRIu32,
			       d->jumps, d->map.nentry);
	return 0;
}

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct derived d = { .arena = job->arena };
	char hex[65];

	(void)ctx;
	if (image_parse(job->in[0].bytes, job->arena, &d.original, err) < 0)
		return confinedjob_wrap(job, 0, err);
	if (image_parse(job->in[1].bytes, job->arena, &d.file, err) < 0)
		return confinedjob_wrap(job, 1, err);
	if (blockmap_read(job->in[2].bytes, &d.map, err) < 0)
		return confinedjob_wrap(job, 2, err);
	struct digest digest = digest_of(job->in[0].bytes);
	int rc = digest_equal(&digest, &d.map.original) ? check_new_text(&d, err) :
		 err_set(err, ERR_REFUSED, "the block map is of another original");
	if (rc == 0)
		rc = compare(&d, err);
	digest_hex(&digest, hex);
	if (rc == 0)
		printf("generation %" PRIu32 " of %s, edited (%" PRIu32 " entries)\n",
		       d.map.generation, hex, d.jumps);
	blockmap_free(&d.map);
	return rc < 0 ? confinedjob_wrap(job, 1, err) : 0;
}

int cmd_derived(int argc, char **argv)
{
	static const struct option none[] = { { 0 } };

	if (getopt_long(argc, argv, "", none, NULL) != -1 || argc - optind != 3)
		return CMD_USAGE;
	struct confinedjob job = {
		.in = { { .arg = argv[optind] }, { .arg = argv[optind + 1] },
			{ .arg = argv[optind + 2] } },
		.nin = 3, .work = work,
	};
	return confinedjob_run(&job);
}
