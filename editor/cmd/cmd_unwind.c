/* cmd_unwind.c - the unwind rows of a file, and the callers on stacks by the rows of many files
 * (editor/interpret/unwindtable.h, lib/callstack.h) */
#include "editor/cmd/cmd.h"

#include "binary/image.h"
#include "editor/interpret/unwindwalk.h"
#include "lib/arena.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { IN_ROWS, IN_SAMPLES };

/* --- rows of a file --- */

static int write_rows(struct confinedjob *job, void *ctx, struct err *err)
{
	struct image img;
	struct cfi cfi;

	(void)ctx;
	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0 ||
	    cfi_parse(&img, job->arena, &cfi, err) < 0)
		return confinedjob_wrap(job, 0, err);
	unwindtable_write(&img, &cfi, &job->out[0].bytes);
	return 0;
}

/* --- stacks --- */

/* All that stand one after the other. */
static int read_tables(struct confinedjob *job, struct unwindwalk *out, struct err *err)
{
	struct rd r = rd_of(job->in[IN_ROWS].bytes);
	VEC(struct unwindtable) table = { 0 };
	struct unwindtable t;

	while (rd_left(&r)) {
		if (unwindtable_open(&r, &t, err) < 0)
			return confinedjob_wrap(job, IN_ROWS, err);
		vec_push(job->arena, &table, t);
	}
	*out = (struct unwindwalk){ table.v, table.n };
	return 0;
}

static int unwind_all(struct confinedjob *job, const struct unwindwalk *w, struct err *err)
{
	VEC(struct bytes) space = { 0 };
	struct callstack_sample sample;
	struct callstack_reader r;
	struct callstack stack;
	struct bytes s;
	int rc;

	if (callstack_open(job->in[IN_SAMPLES].bytes, &r, err) < 0)
		return -1;
	while ((rc = callstack_read(&r, &s, &sample, err)) > CALLSTACK_END) {
		if (rc == CALLSTACK_SPACE) {
			vec_push(job->arena, &space, s);
			continue;
		}
		unwindwalk_sample(w, space.v[sample.space], &sample, &stack);
		callstack_write(&stack, &job->out[0].bytes);
	}
	return rc;
}

static int unwind(struct confinedjob *job, void *ctx, struct err *err)
{
	struct unwindwalk w;

	(void)ctx;
	if (read_tables(job, &w, err) < 0)
		return -1;
	return unwind_all(job, &w, err) < 0 ? confinedjob_wrap(job, IN_SAMPLES, err) : 0;
}

/* --- the commands --- */

int cmd_unwind_rows(int argc, char **argv)
{
	struct confinedjob job = { .nin = 1, .work = write_rows };

	return cmd_run(&job, argc, argv);
}

int cmd_unwind(int argc, char **argv)
{
	struct confinedjob job = { .nin = 2, .work = unwind };

	return cmd_run(&job, argc, argv);
}
