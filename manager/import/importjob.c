/* importjob.c - a forked child gives up all rights, and only then looks into the recording
 *
 *   recording --bytes--> child: lib/confinedjob.h, perfdata.c or perftext.c
 *             --memory files--> a log of spool events, and facts as text
 *
 * Of what comes back nothing is believed: the log is read as any log is (monitor/spool.h), and
 * the facts line by line:
 *
 *   clock WORD
 *   count N N N N N N	as struct import_counts has them
 *   id HEX PATH		control bytes in the path: the line is left out
 *
 * Tested by tests/unit/manager/import/test_importjob.c and tests/e2e/import.sh.
 */
#include "manager/import/importjob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/search.h"

/* Bytes of facts; chosen: 65,536 paths of 250 bytes. */
enum { FACTS_MAX = 16 << 20, ID_MAX = 20, REASON_MAX = 1000 };

/* What the reader may use.  Memory: the recording, it unpacked, and 32 bytes for each record,
 * in arrays that double.  The figures are chosen. */
#define RECORDING_MAX (UINT64_C(1) << 30)
#define MEMORY_BASE (UINT64_C(256) << 20)
#define MEMORY_MAX (UINT64_C(12) << 30)
enum { MEMORY_EACH = 64, CPU_BASE_S = 30 };

struct limits {
	uint64_t memory_bytes;
	unsigned cpu_s;
};

/* --- limits --- */

static uint64_t at_most(int resource, uint64_t want)
{
	struct rlimit r;

	return getrlimit(resource, &r) == 0 && r.rlim_cur < want ? r.rlim_cur : want;
}

static struct limits limits_of(int in)
{
	struct stat st;
	uint64_t n = fstat(in, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size
								 : RECORDING_MAX;
	if (n > RECORDING_MAX)
		n = RECORDING_MAX;
	uint64_t memory = MEMORY_BASE + MEMORY_EACH * n;

	return (struct limits){
		at_most(RLIMIT_AS, memory < MEMORY_MAX ? memory : MEMORY_MAX),
		(unsigned)at_most(RLIMIT_CPU, CPU_BASE_S + (n >> 20)),
	};
}

/* --- in the child --- */

struct child {
	struct confinedjob *job;
	struct spool_writer *log;
	struct err trouble;		/* of the log; kind ERR_NONE: none */
};

static void write_event(void *ctx, const struct spool_event *ev)
{
	struct child *c = ctx;
	struct err err;

	if (spool_write(c->log, ev, &err) < 0 && c->trouble.kind == ERR_NONE)
		c->trouble = err;
}

static void write_id(void *ctx, struct bytes id, const char *path)
{
	struct child *c = ctx;
	struct wr *out = &c->job->out[0].bytes;
	char hex[2 * ID_MAX + 1];

	for (const char *s = path; *s; s++)
		if ((unsigned char)*s < 0x20)
			return;
	if (id.n > ID_MAX || out->n + strlen(path) + sizeof(hex) + 8 > FACTS_MAX / 2)
		return;
	for (uint64_t i = 0; i < id.n; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id.p[i]);	/* fits */
	wr_text(out, "id ");
	wr_text(out, hex);
	wr_text(out, " ");
	wr_text(out, path);
	wr_text(out, "\n");
}

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct child *c = ctx;
	struct import_sink sink = { write_event, write_id, c };
	struct import_counts n = { 0 };
	struct bytes in = job->in[0].bytes;

	c->job = job;
	int rc = perfdata_is(in) ? perfdata_read(in, job->arena, &sink, &n, err)
				 : perftext_read(in, job->arena, &sink, &n, err);
	if (rc < 0)
		return -1;
	if (spool_flush(c->log, true, &c->trouble) < 0 || c->trouble.kind != ERR_NONE) {
		*err = c->trouble;
		return -1;
	}
	wr_text(&job->out[0].bytes,
	    arena_printf(job->arena,
			 "clock %s\ncount %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			 " %" PRIu64 " %" PRIu64 "\n",
			 n.clock, n.samples, n.stacks, n.chosen, n.others, n.unknown, n.lost));
	return 0;
}

/* Never returns. */
static void run_child(int in, int log, int facts, int reason, struct limits limits)
{
	char in_arg[16], out_arg[16];
	struct child c = { 0 };
	struct confinedjob job = { .nin = 1, .nout = 1, .work = work, .ctx = &c,
				   .memory_bytes = limits.memory_bytes,
				   .cpu_s = limits.cpu_s,
				   .in = { { .arg = in_arg } },
				   .out = { { .arg = out_arg, .mode_from = -1 } } };
	struct err err;

	(void)snprintf(in_arg, sizeof(in_arg), "fd:%d", in);		/* fits */
	(void)snprintf(out_arg, sizeof(out_arg), "fd:%d", facts);	/* fits */
	if (dup2(reason, STDERR_FILENO) < 0)
		_exit(1);
	c.log = spool_writer_new_file(log, "import", 0, &err);
	if (c.log)
		(void)confinedjob_run(&job);	/* ends the process */
	_exit(1);
}

/* --- in the parent --- */

/* What the child said why it failed, without its name in front. */
static int say_why(int reason, int status, struct limits limits, struct err *err)
{
	char text[REASON_MAX + 1];
	ssize_t n = pread(reason, text, REASON_MAX, 0);
	enum err_kind kind = WIFEXITED(status) && WEXITSTATUS(status) == 3 ? ERR_REFUSED
									   : ERR_INPUT;

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	const char *colon = strstr(text, ": ");
	if (strcmp(text, "out of memory") == 0)
		return err_set(err, ERR_REFUSED, "its reader needs more than %" PRIu64 " MiB, "
			       "the limit for its size", limits.memory_bytes >> 20);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return err_set(err, ERR_REFUSED, "its reader needs more than %u s of CPU time, "
			       "the limit for its size", limits.cpu_s);
	if (WIFSIGNALED(status))
		return err_set(err, ERR_INPUT, "its reader died of signal %d",
			       WTERMSIG(status));
	return err_set(err, kind, "%s", colon ? colon + 2 : "its reader failed");
}

static int by_path(const void *a, const void *b)
{
	const struct import_id *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : strcmp(x->hex, y->hex);
}

/* Recordings of old fill them up with zeros. */
static bool same_id(const char *shorter, const char *longer)
{
	size_t n = strlen(shorter);

	return strncmp(shorter, longer, n) == 0 &&
	       strspn(longer + n, "0") == strlen(longer + n);
}

static bool read_id(char *line, struct import_id *out)
{
	char *blank = strchr(line, ' ');
	size_t n = blank ? (size_t)(blank - line) : 0;

	if (!n || n >= sizeof(out->hex) || strspn(line, "0123456789abcdef") != n)
		return false;
	*out = (struct import_id){ .path = blank + 1 };
	memcpy(out->hex, line, n);
	return true;
}

static void read_facts(char *text, struct arena *a, struct imported *im)
{
	VEC(struct import_id) ids = { 0 };
	struct import_counts *n = &im->counts;
	struct import_id id;
	char clock[17];

	n->clock = "other";
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (sscanf(line, "clock %16[a-z-]", clock) == 1)
			n->clock = arena_printf(a, "%s", clock);
		else if (strncmp(line, "count ", 6) == 0)
			(void)sscanf(line + 6, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
				     " %" SCNu64 " %" SCNu64, &n->samples, &n->stacks,
				     &n->chosen, &n->others, &n->unknown,
				     &n->lost);		/* else they stay 0 */
		else if (strncmp(line, "id ", 3) == 0 && read_id(line + 3, &id))
			vec_push(a, &ids, id);
	}
	if (ids.n)
		qsort(ids.v, ids.n, sizeof(*ids.v), by_path);
	im->id = ids.v;
	for (uint32_t i = 0; i < ids.n; i++)
		if (!im->nid || strcmp(im->id[im->nid - 1].path, ids.v[i].path) != 0)
			im->id[im->nid++] = ids.v[i];
		else if (!same_id(im->id[im->nid - 1].hex, ids.v[i].hex))
			im->id[im->nid - 1].several = true;
}

const struct import_id *imported_id(const struct imported *im, const char *path)
{
	uint32_t i = search_first(k, 0, im->nid, strcmp(im->id[k].path, path) < 0);

	return i < im->nid && strcmp(im->id[i].path, path) == 0 ? &im->id[i] : NULL;
}

static int memory_file(const char *name, struct err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno)) : fd;
}

static int take_facts(int facts, struct arena *a, struct imported *out, struct err *err)
{
	struct bytes b;

	if (lseek(facts, 0, SEEK_SET) < 0 || io_read_all(facts, FACTS_MAX, a, &b, err) < 0)
		return -1;
	char *text = arena_alloc(a, b.n + 1);
	memcpy(text, b.p, b.n);
	read_facts(text, a, out);
	return 0;
}

int importjob_run(const char *path, struct arena *a, struct imported *out, struct err *err)
{
	struct imported im = { .log_fd = memory_file("log", err) };
	int facts = memory_file("facts", err), reason = memory_file("reason", err);
	int in = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC), status = 0, rc = -1;
	struct limits limits;

	if (im.log_fd < 0 || facts < 0 || reason < 0)
		goto out;
	if (in < 0) {
		err_set(err, ERR_SYS, "open: %s", strerror(errno));
		goto out;
	}
	limits = limits_of(in);
	/* else the child, too, writes what stdio still has */
	if (fflush(NULL) != 0) {
		err_set(err, ERR_SYS, "standard output: %s", strerror(errno));
		goto out;
	}
	pid_t pid = fork();
	if (pid == 0)
		run_child(in, im.log_fd, facts, reason, limits);
	if (pid < 0) {
		err_set(err, ERR_SYS, "fork: %s", strerror(errno));
		goto out;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	rc = status ? say_why(reason, status, limits, err) : take_facts(facts, a, &im, err);
out:
	if (in >= 0)
		close(in);
	if (facts >= 0)
		close(facts);
	if (reason >= 0)
		close(reason);
	if (rc == 0)
		*out = im;
	else if (im.log_fd >= 0)
		close(im.log_fd);
	return rc;
}
