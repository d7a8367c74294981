/* evidence.c - what recordings and profiles show, place by place, with names
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/report/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "manager/report/evidence_log.h"
#include "manager/report/evidence_names.h"

/* Bytes of a profile; chosen. */
enum { PROFILE_MAX = 1 << 30 };

/* --- profiles --- */

static void add_place(struct evidence *e, const struct evidence_place *p)
{
	vec_push(e->arena, &e->place, *p);
	evidence_add_alone(e, e->place.n - 1);
	e->total += p->count;
}

/* The calls of an exact profile, direct and indirect, within its module; what was called and
 * from where become places without executions, whose names are asked for in *lines. */
static int add_calls(struct evidence *e, const struct profile *p, int fd,
		     const struct evidence_source *source, uint32_t module, struct wr *lines,
		     struct err *err)
{
	const struct evidence_place place = { .program = EVIDENCE_NONE, .module = module,
					      .function = EVIDENCE_NONE };
	struct modulefile_job job = { .kind = JOB_EXPORT, .nin = 2, .in = { fd, -1 },
				      .a = JOB_CALLS };
	struct wr profile = { 0 };
	struct bytes text;
	uint64_t at, to;
	double count;

	profile_write(p, &profile);
	job.in[1] = io_memory_file(wr_bytes(&profile), err);
	wr_free(&profile);
	if (job.in[1] < 0)
		return -1;
	int rc = modulefile_text(source->at.morph_edit, &job, e->arena, &text, err);
	close(job.in[1]);
	if (rc < 0)
		return -1;
	char *rest = arena_alloc(e->arena, text.n + 1);
	memcpy(rest, text.p, text.n);
	for (char *line; (line = strsep(&rest, "\n")) && rest; ) {
		if (sscanf(line, "call 0x%" SCNx64 " 0x%" SCNx64 " %lf", &at, &to,
			   &count) != 3 || !(count > 0 && count < 1e18))
			return err_set(err, ERR_INPUT, "what tells of its calls is malformed");
		struct evidence_call call = { e->place.n, e->place.n + 1, count };
		vec_push(e->arena, &e->call, call);
		wr_text(lines, arena_printf(e->arena, "0x%" PRIx64 "\n0x%" PRIx64 "\n", to,
					    at));
		vec_push(e->arena, &e->place, place);
		vec_push(e->arena, &e->place, place);
	}
	return 0;
}

static void add_blocks(struct evidence *e, const struct profile *p,
		       const struct evidence_source *source)
{
	struct evidence_place place = { .program = EVIDENCE_NONE, .function = EVIDENCE_NONE };
	uint32_t first = e->place.n;
	struct wr lines = { 0 };
	struct err why;

	place.module = evidence_module(e, p->module, true);
	for (uint32_t i = 0; i < p->nblock; i++) {
		wr_text(&lines, arena_printf(e->arena, "0x%" PRIx64 "\n", p->block[i].addr));
		place.addr = place.block = p->block[i].addr;
		place.count = p->block[i].samples;
		add_place(e, &place);
	}
	int fd = p->nblock ? modulefile_of_profile(&source->at, source->binary,
						   source->nbinary, p, &why)
			   : -1;
	if (p->nblock &&
	    (fd < 0 ||
	     (source->calls && profile_is_exact(p) &&
	      add_calls(e, p, fd, source, place.module, &lines, &why) < 0) ||
	     evidence_ask_names(e, source->at.morph_edit, fd, &lines, first, &why) < 0))
		e->module.v[place.module].note = arena_printf(e->arena, "%s", why.text);
	if (fd >= 0)
		close(fd);
	wr_free(&lines);
	place.addr = place.block = 0;
	place.count = p->outside;
	if (p->outside > 0)
		add_place(e, &place);
}

static int add_profile(struct evidence *e, int fd, const struct evidence_source *source,
		       struct err *err)
{
	struct profile p;
	struct bytes b;

	if (io_read_all(fd, PROFILE_MAX, e->arena, &b, err) < 0 ||
	    profile_read(b, e->arena, &p, err) < 0)
		return -1;
	if (source->since_ns || source->until_ns)
		return err_set(err, ERR_USAGE, "a profile has no times: --since and --until "
			       "are for recordings");
	if (e->clock && e->executions != profile_has_executions(&p))
		return err_set(err, ERR_USAGE, "samples and executions do not add up: this is "
			       "by '%s', what is in front of it by '%s'", p.clock, e->clock);
	e->executions = profile_has_executions(&p);
	e->clock = p.clock;
	add_blocks(e, &p, source);
	return 0;
}

int evidence_open_both(const struct evidence_module *m, const struct evidence_source *source,
		       int *generation, struct err *err)
{
	const char *path = m->path;
	struct blockmap map = { 0 };
	struct stat st;

	*generation = -1;
	for (uint32_t i = 0; i < source->nbinary; i++)
		if (strcmp(evidence_base(source->binary[i]), evidence_base(path)) == 0)
			path = source->binary[i];
	int fd = modulefile_open(path, &st, err);
	if (fd < 0 || !blockmap_may_be_in(fd))
		return fd;
	int original = modulefile_original(&source->at, fd, &map, err);
	blockmap_free(&map);
	if (original >= 0)
		*generation = fd;
	else
		close(fd);
	return original;
}

int evidence_open(const struct evidence_module *m, const struct evidence_source *source,
		  struct err *err)
{
	int generation, fd = evidence_open_both(m, source, &generation, err);

	if (generation >= 0)
		close(generation);
	return fd;
}

int evidence_add(struct evidence *e, const char *path, const struct evidence_source *source,
		 struct err *err)
{
	int fd = modulefile_recording(path, err), rc;
	uint64_t damaged = e->damaged;

	if (fd < 0)
		return -1;
	int is = profile_is_in(fd);
	if (is < 0)
		rc = err_set(err, ERR_SYS, "read: %s", strerror(errno));
	else if (is)
		rc = add_profile(e, fd, source, err);
	else if (e->executions)
		rc = err_set(err, ERR_USAGE, "samples and executions do not add up: this is a "
			     "log, what is in front of it by '%s'", e->clock);
	else
		rc = evidence_add_log(e, fd, source, err);
	close(fd);
	if (e->damaged > damaged)
		e->damaged_in = e->damaged_in
			? arena_printf(e->arena, "%s, '%s'", e->damaged_in, path)
			: arena_printf(e->arena, "'%s'", path);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}
