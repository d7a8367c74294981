/* verify.c - shows that a generation is the original in another order, or refuses it
 *
 * See parts.h for what is shown where.  This file reads the claim, runs the parts and
 * has the few questions that several of them ask.
 */
#include "verify/parts.h"
#include "binary/loadtables.h"

const struct verify_part verify_parts[] = {
	{ "headers", verify_headers,
	  "ELF and program headers are the original's, plus new read-only segments" },
	{ "front", verify_front,
	  "what gave way to the program headers is elsewhere, unchanged, and found" },
	{ "keptbytes", verify_keptbytes,
	  "every other byte of the original's file is what and where it was" },
	{ "frames", verify_frames,
	  "the unwind tables can be read, and the original's cannot be written to" },
	{ "callsites", verify_callsites,
	  "exceptions at each image go where they go at its original (asked by code.c)" },
	{ "entries", verify_entries,
	  "entry jumps lead to images, and no instruction leads inside one" },
	{ "holders", verify_holders, "nor does any address that the program keeps as data" },
	{ "code", verify_code,
	  "each image does what its original block does, and leads where that leads" },
	{ "casetables", verify_casetables, "a new jump table leads where the old one leads" },
	{ "dataflow", verify_dataflow,
	  "nothing but the dispatch sees the address of a new jump table" },
	{ "unwindrows", verify_unwindrows,
	  "unwinding through an image is unwinding through its original" },
	{ "redirected", verify_redirected,
	  "a redirected pointer leads to the image of what it led to" },
	{ "labelwords", verify_labelwords,
	  "so does one to a label, and no jump of its function calculates with it" },
	{ "stalepointers", verify_stalepointers,
	  "no code that can run gets at the old value of a redirected pointer" },
	{ "watchedcode", verify_watchedcode,
	  "code whose inner addresses others know has no image" },
	{ "sections", verify_sections,
	  "section headers are the original's, and the new ones are what they say" },
	{ "symbols", verify_symbols,
	  "added symbols name images by the names of their functions" },
	{ "probenotes", verify_probenotes,
	  "each static probe point of a moved function has a note for its image" },
	{ "account", verify_account, "there is no byte in the file that no part answers for" },
	{ NULL, NULL, NULL },
};

static int open_files(struct verify *v, struct bytes original, struct bytes generation)
{
	if (image_parse(original, v->a, &v->orig, v->err) < 0 ||
	    loadtables_check(&v->orig, v->err) < 0)
		return err_wrap(v->err, "original");
	if (image_parse(generation, v->a, &v->gen, v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return err_wrap(v->err, "generation");
	}
	if (image_section(&v->gen, ".morph.counters"))
		return refuse(v, "an instrumented program: it counts what it does besides");
	const struct section *map = image_section(&v->gen, ".morph.map");
	if (!map || map->h.sh_type == SHT_NOBITS)
		return refuse(v, "no section .morph.map: not a generation");
	if (blockmap_read(bytes_at(generation, map->h.sh_offset, map->h.sh_size), &v->map,
			  v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return -1;
	}
	struct digest digest = digest_of(original);
	if (!digest_equal(&v->map.original, &digest)) {
		char hex[65];

		digest_hex(&v->map.original, hex);
		return refuse(v, "made from another original, with SHA-256 %s", hex);
	}
	v->stats->generation = v->map.generation;
	v->stats->original = v->map.original;
	return 0;
}

static int run(struct verify *v, struct bytes original, struct bytes generation)
{
	if (open_files(v, original, generation) < 0)
		return -1;
	for (uint32_t i = 0; verify_parts[i].name; i++)
		if (verify_parts[i].run(v) < 0)
			return -1;
	v->stats->blocks = v->map.nblock;
	v->stats->entries = v->map.nentry;
	v->stats->tables = v->map.ntable;
	return 0;
}

int verify_generation(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err)
{
	struct err unwanted;
	struct verify_stats filled = { 0 };
	struct verify v = { .a = a, .run = arena_new(), .err = err ? err : &unwanted,
		.stats = &filled };

	int rc = run(&v, original, generation);
	blockmap_free(&v.map);
	arena_free(v.run);
	if (rc == 0)
		*stats = filled;
	return rc;
}

