/* ctl_annotate.c - morphctl annotate: where the cycles of a function go, by the daemon, or by
 * recordings without it
 *
 * Tested by tests/e2e/annotate.sh; by the daemon, tests/e2e/daemon.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/say.h"
#include "manager/ctl/ctl_evidence.h"
#include "manager/report/evidence_names.h"
#include "manager/work/annotation.h"

struct asking {
	const struct ctl_evidence *o;
	struct arena *arena;
	struct evidence e;
	uint32_t module, function;	/* in e */
	/* the original, what is at its path if that is a generation; -1: none */
	int fd, generation, counts;
	struct annotation said;
};

/* --- what is asked for --- */

/* All samples of the module, a line for each place. */
static int write_samples(const struct asking *a, struct err *err)
{
	struct wr w = { 0 };

	for (uint32_t i = 0; i < a->e.place.n; i++) {
		const struct evidence_place *p = &a->e.place.v[i];

		if (p->module == a->module && p->addr)
			wr_text(&w, arena_printf(a->arena, "0x%" PRIx64 " %.0f\n", p->addr,
						 p->count));
	}
	int fd = io_memory_file(wr_bytes(&w), err);
	wr_free(&w);
	return fd;
}

/* Of this machine, as the kernel has it now; 0: not known. */
static double megahertz(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz = 0, v;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu MHz : %lf", &v) == 1 && v > mhz)
			mhz = v;
	if (f)
		(void)fclose(f);	/* was read */
	return mhz;
}

/* --- the answers --- */

static int ask_cycles(struct asking *a, double cycles, struct err *err)
{
	struct modulefile_job job = {
		.kind = JOB_ANNOTATE, .nin = a->counts < 0 ? 2 : 3,
		.in = { a->fd, write_samples(a, err), a->counts },
		.a = a->e.module.v[a->module].function[a->function].entry,
		.b = (uint64_t)(cycles * 1000),
	};
	struct bytes b;

	if (job.in[1] < 0)
		return -1;
	int rc = modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b, err);
	close(job.in[1]);
	if (rc < 0)
		return -1;
	annotation_take(&a->said, b);
	return 0;
}

/* The text of instructions, a range of addresses at a time; what cannot be had is left out. */
static void ask_text(struct asking *a)
{
	enum { INSN_MAX = 15 };
	const struct annotation *said = &a->said;

	for (uint32_t i = 0, k; i < said->line.n; i = k) {
		struct modulefile_job job = { .kind = JOB_DISASSEMBLE, .nin = 1,
					      .in = { a->fd }, .a = said->line.v[i].addr };
		struct bytes b;
		struct err err;

		k = annotation_range(said, i);
		/* the last one may be so long; behind it there may be nothing */
		for (uint32_t len = INSN_MAX; len > 0; len = len == INSN_MAX ? 1 : 0) {
			job.b = said->line.v[k - 1].addr + len - job.a;
			b = (struct bytes){ NULL, 0 };
			if (modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b,
					    &err) == 0)
				break;
		}
		annotation_take_text(&a->said, b);
	}
}

static void ask_source(struct asking *a)
{
	struct wr places = { 0 };
	struct bytes answer;
	struct err err;

	annotation_write_places(&a->said, &places);
	if (places.n && evidence_places_text(a->arena, a->o->source.at.morph_edit, a->fd,
					     &places, &answer, &err) == 0)
		(void)annotation_take_source(&a->said, answer);
	wr_free(&places);
}

/* As the function lies in the generation. */
static int ask_placed(struct asking *a, struct err *err)
{
	struct modulefile_job job = { .kind = JOB_PLACED, .nin = 3,
				      .in = { a->fd, a->generation, -1 } };
	struct wr blocks = { 0 };
	struct bytes b;
	uint32_t n;

	if (a->generation < 0)
		return err_set(err, ERR_INPUT, "no generation is there, but an original");
	annotation_write_blocks(&a->said, &blocks);
	job.in[2] = io_memory_file(wr_bytes(&blocks), err);
	wr_free(&blocks);
	if (job.in[2] < 0)
		return -1;
	int rc = modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b, err);
	close(job.in[2]);
	if (rc < 0)
		return -1;
	uint32_t number = annotation_take_placed(&a->said, b, &n);
	if (a->o->generation && number != a->o->generation)
		return err_set(err, ERR_INPUT, "generation %" PRIu32 " is there, not %" PRIu32,
			       number, a->o->generation);
	return n ? 0 : err_set(err, ERR_INPUT, "generation %" PRIu32
			       " has left the function where it was", number);
}

/* --- the command --- */

/* A pipe will do: it is read once. */
static int open_counts(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)))
		return fd;
	close(fd);
	return err_set(err, ERR_INPUT, "'%s': neither a regular file nor a pipe", path);
}

static int annotate(struct asking *a, const char *module, const char *function,
		    struct err *err)
{
	double mhz = a->o->mhz ? a->o->mhz : megahertz();

	if (a->e.executions)
		return err_set(err, ERR_USAGE, "executions are no samples: --log takes logs, "
			       "--counts exact profiles");
	if (ctl_evidence_function(&a->e, module, function, &a->module, &a->function, err) < 0)
		return -1;
	a->fd = evidence_open_both(&a->e.module.v[a->module], &a->o->source, &a->generation,
				   err);
	if (a->fd < 0)
		return err_wrap(err, "'%s'", a->e.module.v[a->module].path);
	if (a->o->counts) {
		a->counts = open_counts(a->o->counts, err);
		if (a->counts < 0)
			return -1;
	}
	if (ask_cycles(a, (double)a->e.period_ns / 1e9 * mhz * 1e6, err) < 0 ||
	    (a->o->placed && ask_placed(a, err) < 0))
		return err_wrap(err, "'%s'", a->e.module.v[a->module].path);
	return 0;
}

static int show(const struct ctl *ctl, const struct ctl_evidence *o, const char *module,
		const char *function)
{
	struct asking a = { .o = o, .arena = arena_new(), .fd = -1, .generation = -1,
			    .counts = -1 };
	struct ctl_tables t = { 0 };
	struct err err = { 0 };
	int code = ctl_evidence_read(o, o->log, o->nlog, a.arena, &a.e);

	annotation_begin(&a.said, a.arena);
	if (code == 0 && annotate(&a, module, function, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	if (code == 0) {
		t.at[t.n++] = a.said.fn;
		t.at[t.n++] = a.said.causes;
		t.at[t.n++] = o->blocks ? annotation_hottest(a.said.blocks, o->limit)
					: a.said.blocks;
		if (!o->blocks) {
			ask_text(&a);
			ask_source(&a);
			t.at[t.n++] = annotation_insns(&a.said);
		} else {
			table_free(a.said.blocks);
		}
		code = ctl_print(ctl, &t, 0);
	} else {
		table_free(a.said.fn);
		table_free(a.said.causes);
		table_free(a.said.blocks);
	}
	if (a.fd >= 0)
		close(a.fd);
	if (a.generation >= 0)
		close(a.generation);
	if (a.counts >= 0)
		close(a.counts);
	arena_free(a.arena);
	return code;
}

int ctl_annotate(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const not_its[] = { "--since=", "--until=", "--counts=",
					       "--mhz=", "--binary=", "--store=", NULL };
	struct ctl_evidence o;

	if (!ctl_evidence_find(argc, argv, "--log="))
		return ctl_evidence_only_logs(ctl, argc, argv, not_its)
			       ? 2
			       : ctl_ask_module(ctl, argc, argv);
	int code = ctl_evidence_options(ctl, argc, argv, UINT32_MAX, &o);
	if (code)
		return code;
	if (o.limit != UINT32_MAX && !o.blocks) {
		say_line(stderr, "morphctl annotate: --limit is for --blocks");
		code = 2;
	} else {
		o.source.module = argv[optind];
		code = show(ctl, &o, argv[optind], argv[optind + 1]);
	}
	ctl_evidence_free(&o);
	return code;
}
