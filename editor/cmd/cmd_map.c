/* cmd_map.c - the block map of a generation, by hand and for the Manager */
#include <inttypes.h>
#include <stdio.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/table.h"
#include "binary/mapsection.h"

struct ctx {
	char **address;
	int naddress;
	bool reverse, json;
};

/* The block map of the job's generation, and its bytes. */
static int read_map(struct confinedjob *job, struct blockmap *out, struct bytes *bytes,
		    struct err *err)
{
	struct image img = { 0 };

	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0 ||
	    mapsection_bytes(&img, bytes, err) < 0 || blockmap_read(*bytes, out, err) < 0)
		return confinedjob_wrap(job, 0, err);
	return 0;
}

static void lookup(const struct blockmap *map, uint64_t addr, bool reverse, struct table *t)
{
	const struct blockmap_block *b = reverse ? blockmap_find_orig(map, addr)
						 : blockmap_find_gen(map, addr);

	if (!b) {
		table_row(t, addr, addr, "not moved", (int64_t)0);
		return;
	}
	uint64_t to = reverse ? blockmap_gen_of(map, b, addr) : blockmap_orig_of(map, b, addr);
	uint64_t start = reverse ? map->gen_base + b->gen : map->orig_base + b->orig;

	table_row(t, addr, to, b->gen < map->hot_size ? "hot" : "fluff", (int64_t)(to - start));
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	static const struct table_column col[] = {
		{ "address", TABLE_HEX }, { "maps_to", TABLE_HEX }, { "text", TABLE_TEXT },
		{ "offset_in_block", TABLE_INT },
	};
	const struct ctx *ctx = arg;
	struct blockmap map = { 0 };
	struct bytes b;

	if (read_map(job, &map, &b, err) < 0)
		return -1;
	struct table *t = table_new("addresses", 4, col);
	for (int i = 0; i < ctx->naddress; i++) {
		uint64_t addr;

		if (cmd_number("ADDRESS", ctx->address[i], UINT64_MAX, &addr) < 0) {
			err_set(err, ERR_USAGE, "bad address");
			break;
		}
		lookup(&map, addr, ctx->reverse, t);
	}
	if (err->kind == ERR_NONE)
		table_print(t, stdout, ctx->json);
	table_free(t);
	blockmap_free(&map);
	return err->kind == ERR_NONE ? 0 : -1;
}

int cmd_map(int argc, char **argv)
{
	static const struct option options[] = {
		{ "reverse", no_argument, NULL, 'r' }, { "json", no_argument, NULL, 'j' }, { 0 }
	};
	struct ctx ctx = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			ctx.reverse = true;
		else if (c == 'j')
			ctx.json = true;
		else
			return CMD_USAGE;
	}
	if (argc - optind < 2)
		return CMD_USAGE;
	ctx.address = argv + optind + 1;
	ctx.naddress = argc - optind - 1;
	struct confinedjob job = {
		.in = { { .arg = argv[optind] } }, .nin = 1, .work = work, .ctx = &ctx
	};
	return confinedjob_run(&job);
}

static int extract(struct confinedjob *job, void *arg, struct err *err)
{
	struct blockmap map = { 0 };
	struct bytes b;

	(void)arg;
	if (read_map(job, &map, &b, err) < 0)
		return -1;
	blockmap_free(&map);
	wr_raw(&job->out[0].bytes, b.p, b.n);
	return 0;
}

int cmd_extract_map(int argc, char **argv)
{
	static const struct option none[] = { { 0 } };

	if (getopt_long(argc, argv, "", none, NULL) != -1 || argc - optind != 2)
		return CMD_USAGE;
	struct confinedjob job = {
		.in = { { .arg = argv[optind] } },
		.out = { { .arg = argv[optind + 1], .mode_from = -1 } },
		.nin = 1, .nout = 1, .work = extract,
	};
	return confinedjob_run(&job);
}
