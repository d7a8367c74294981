/* splicing.c - makes, proves and keeps generations for a process, and has morph-live map them
 *
 * Tested by tests/e2e/livectl.sh and tests/e2e/trypid.sh.
 */
#include "manager/try/splicing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "manager/parent/job.h"
#include "manager/parent/livefiles.h"
#include "manager/try/interrupt.h"
#include "policy/decide.h"

/* Chosen: what a job may take. */
enum { JOB_S = 600 };
static const size_t most_bytes = (size_t)1 << 30;

/* --- programs --- */

/* What it says until it ends.  One that may be told to end is, when we are. */
static void gather(int pipe, pid_t ends, struct splicing_said *said)
{
	struct pollfd p = { pipe, POLLIN, 0 };
	size_t n = 0;
	ssize_t got;

	if (ends > 0 && interrupt_poll(&p, 1, -1) < 0)
		(void)kill(ends, SIGTERM);	/* it has ended by itself */
	while ((got = read(pipe, said->text + n, sizeof(said->text) - 1 - n)) > 0)
		n += (size_t)got;
	said->text[n] = '\0';
}

/* Runs morph-live; what it says is in said->text.  Its exit code, -1 with *err. */
static int run_live(const struct splicing *s, char *const argv[], bool ends,
		    struct splicing_said *said, struct err *err)
{
	int out[2], status = 0;

	if (pipe(out) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		if (dup2(out[1], 1) < 0 || dup2(out[1], 2) < 0)
			_exit(1);
		close(out[0]);
		close(out[1]);
		execv(s->morph_live, argv);
		_exit(1);
	}
	close(out[1]);
	gather(out[0], ends ? pid : 0, said);
	close(out[0]);
	const char *symbols = strstr(said->text, "\nsymbols at 0x");
	if (!symbols || sscanf(symbols, "\nsymbols at 0x%" SCNx64, &said->base) != 1)
		said->base = 0;
	said->text[strcspn(said->text, "\n")] = '\0';
	if (sscanf(said->text, "done, pause %" SCNu64 " us", &said->pause_us) != 1)
		said->pause_us = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return err_set(err, ERR_SYS, "morph-live cannot be run");
	return WEXITSTATUS(status);
}

/* The sentence that it ends with becomes the error, without its name in front. */
static int need_live(const struct splicing *s, char *const argv[], bool ends,
		     struct splicing_said *said, struct err *err)
{
	int rc = run_live(s, argv, ends, said, err);
	const char *colon = strstr(said->text, ": ");

	if (rc > 0)
		err_set(err, rc == 3 ? ERR_REFUSED : ERR_SYS, "%s",
			colon ? colon + 2 : "morph-live failed and did not say why");
	return rc == 0 ? 0 : -1;
}

static void say_patience(const struct splicing *s, char out[40])
{
	(void)snprintf(out, 40, "--patience=%u", s->patience_ms);	/* fits */
}

/* morph-live COMMAND PID PLAN FILE */
static int ask_live(const struct splicing *s, const char *command, pid_t pid, int plan,
		    int file, struct splicing_said *said, struct err *err)
{
	char name[] = "morph-live", what[8], number[16], fd1[24], fd2[24], patience[40];
	char catches[] = "--nobody-catches";
	char *argv[8] = { name, what, number, fd1, fd2 };
	int n = 5;

	if (s->patience_ms)
		argv[n++] = patience;
	if (s->nobody_catches)
		argv[n++] = catches;
	(void)snprintf(what, sizeof(what), "%s", command);
	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(fd1, sizeof(fd1), "fd:%d", plan);
	(void)snprintf(fd2, sizeof(fd2), "fd:%d", file);
	say_patience(s, patience);
	return need_live(s, argv, false, said, err);
}

static int wait_for_job(struct job *job, struct job_result *r, struct err *err)
{
	struct pollfd f[2];

	while (!job_step(job, r)) {
		int timeout = job_poll(job, f);

		if (interrupt_poll(f, 2, timeout) < 0)
			return err_set(err, ERR_SYS, "interrupted");
	}
	return r->exit_code == 0 ? 0 :
	       err_set(err, r->exit_code == 3 ? ERR_REFUSED : ERR_SYS, "%s", r->reason);
}

/* in[1] may be -1: only one. */
/* Inputs that are -1 come last, and are none. */
static int run_job(const struct splicing *s, enum job_kind kind, const int in[JOB_MAX_IN],
		   uint64_t a, uint64_t b, struct job_result *r, struct err *err)
{
	struct job_spec spec = {
		.kind = kind, .morph_edit = s->morph_edit, .morph_verify = s->morph_verify,
		.memory_bytes = UINT64_MAX, .file_bytes = most_bytes, .cpu_s = JOB_S,
		.wall_s = JOB_S, .a = a, .b = b, .prompt = true,
	};

	while (spec.nin < JOB_MAX_IN && in[spec.nin] >= 0) {
		spec.in[spec.nin] = in[spec.nin];
		spec.nin++;
	}
	struct job *job = job_start(&spec, err);
	int rc = job ? wait_for_job(job, r, err) : -1;

	job_free(job);
	/* morph-live inherits the first one */
	if (rc == 0 && fcntl(r->out[0], F_SETFD, 0) < 0) {
		job_result_close(r);
		rc = err_set(err, ERR_SYS, "fcntl: %s", strerror(errno));
	}
	return rc;
}

/* --- exceptions --- */

static bool is_unwinder(const char *path)
{
	static const char *const name[] = { "libgcc_s", "libstdc++", "libunwind", "libc++" };
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(name) / sizeof(name[0]); i++)
		if (strncmp(slash + 1, name[i], strlen(name[i])) == 0)
			return true;
	return false;
}

static int file_catches(const struct splicing *s, const struct splicing_file *f,
			struct err *err)
{
	int fd = open(f->link, O_RDONLY | O_CLOEXEC);
	struct job_result r;

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", f->path, strerror(errno));
	int rc = run_job(s, JOB_CATCHES, (int[3]){ fd, -1, -1 }, 0, 0, &r, err);
	close(fd);
	if (rc == 0)
		job_result_close(&r);
	return rc < 0 ? err_wrap(err, "it may unwind its stack: '%s'", f->path) : 0;
}

int splicing_catches(struct splicing *s, const struct splicing_files *all, struct err *err)
{
	bool unwinder = false;

	s->nobody_catches = false;
	if (all->n == SPLICING_FILES)	/* there may be more, so morph-live decides */
		return 0;
	for (uint32_t i = 0; i < all->n; i++)
		unwinder |= is_unwinder(all->file[i].path);
	if (!unwinder)
		return 0;
	for (uint32_t i = 0; i < all->n; i++)
		if (file_catches(s, &all->file[i], err) < 0)
			return -1;
	s->nobody_catches = true;
	return 0;
}

/* --- one file of a process --- */

struct made {
	int original, profile, counted;	/* counted: an exact profile beside it */
	int generation, plan;
	bool counting;			/* the generation counts */
	int counts;			/* the file of counts of that one */
};

enum { COUNTING = 1, LIVE = 2 };	/* of JOB_VERIFY */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void take_stats(int fd, struct spliced *out)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *rest = NULL;

	text[n < 0 ? 0 : n] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {	/* other lines change nothing */
		(void)sscanf(line, "functions %" SCNu64, &out->functions);
		(void)sscanf(line, "functions_moved %" SCNu64, &out->moved);
	}
}

/* All of it but the inputs. */
static void close_made(struct made *m)
{
	close_fd(&m->generation);
	close_fd(&m->plan);
	close_fd(&m->counts);
}

static int lay_out(const struct splicing *s, struct made *m, uint64_t at, struct spliced *out,
		   struct err *err)
{
	enum { GENERATION, MAP, STATS };
	struct job_result r;

	if (run_job(s, JOB_OPTIMIZE, (int[3]){ m->original, m->profile, m->counted }, 1, at, &r,
		    err) < 0)
		return -1;
	take_stats(r.out[STATS], out);
	m->generation = r.out[GENERATION];
	close(r.out[MAP]);
	close(r.out[STATS]);
	return 0;
}

static int instrument(const struct splicing *s, struct made *m, uint64_t at, struct err *err)
{
	enum { GENERATION, COUNTS, STATS };
	struct job_result r;

	if (run_job(s, JOB_INSTRUMENT, (int[3]){ m->original, m->profile, -1 },
		    DECIDE_COUNT_PCT, at > 1 ? at : 0, &r, err) < 0)
		return -1;
	m->generation = r.out[GENERATION];
	m->counts = r.out[COUNTS];
	close(r.out[STATS]);
	return 0;
}

/* A generation whose new text is at that address, or anywhere (1), and its proof. */
static int make_one(const struct splicing *s, struct made *m, uint64_t at, struct spliced *out,
		    struct err *err)
{
	struct job_result r;

	close_made(m);
	if ((m->counting ? instrument(s, m, at, err) : lay_out(s, m, at, out, err)) < 0)
		return -1;
	if (run_job(s, JOB_VERIFY, (int[3]){ m->original, m->generation, -1 },
		    m->counting ? LIVE | COUNTING : LIVE, 0, &r, err) < 0)
		return interrupt_signal() ? -1 : err_wrap(err, "not shown to be fit for it");
	m->plan = r.out[0];
	return 0;
}

static int make_fitting(const struct splicing *s, struct made *m, pid_t pid,
			struct spliced *out, struct err *err)
{
	struct splicing_said said;
	uint64_t at = 1;
	char *end;

	for (int tries = 0; tries < 3; tries++) {
		if (make_one(s, m, at, out, err) < 0 ||
		    ask_live(s, "room", pid, m->plan, m->generation, &said, err) < 0)
			return -1;
		if (strcmp(said.text, "fits") == 0)
			return 0;
		at = strtoull(said.text, &end, 16);
		if (*end || at <= 1)
			break;
	}
	return err_set(err, ERR_REFUSED, "there is no room that lasts for new text");
}

/* What is known of the file, original, by such a name in the folder. */
static int name_profile(const char *folder, const struct splicing_file *f, int original,
			const char *suffix, char path[SPLICING_PATH], struct err *err)
{
	const char *base = strrchr(f->path, '/');
	struct digest digest;
	char hex[65];

	if (digest_fd(original, &digest, err) < 0)
		return -1;
	digest_hex(&digest, hex);
	(void)snprintf(path, SPLICING_PATH, "%s/%s.%.12s.%s", folder, base ? base + 1 : f->path,
		       hex, suffix);		/* fits */
	return 0;
}

static int open_profile(const struct splicing *s, const struct splicing_file *f, int original,
			struct err *err)
{
	char path[SPLICING_PATH];

	if (name_profile(s->profiles ? s->profiles : s->scratch, f, original, "profile", path,
			 err) < 0)
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_set(err, ERR_REFUSED, "no samples of it");
	return fd;
}

/* -1: nothing was counted. */
static int open_counted(const struct splicing *s, const struct splicing_file *f, int original)
{
	char path[SPLICING_PATH];
	struct err ignored;

	if (!s->scratch ||
	    name_profile(s->scratch, f, original, "counted", path, &ignored) < 0)
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

double splicing_samples(const struct splicing *s, const struct splicing_file *f)
{
	int original = open(f->link, O_RDONLY | O_CLOEXEC), profile = -1;
	struct arena *a = arena_new();
	struct profile p = { 0 };
	struct bytes text;
	struct err err;

	if (original >= 0)
		profile = open_profile(s, f, original, &err);
	if (profile < 0 || io_read_all(profile, most_bytes, a, &text, &err) < 0 ||
	    profile_read(text, a, &p, &err) < 0)
		p.samples = 0;
	close_fd(&profile);
	close_fd(&original);
	arena_free(a);
	return p.samples;
}

static int open_made(const struct splicing *s, const struct splicing_file *f, struct made *m,
		     struct err *err)
{
	*m = (struct made){ open(f->link, O_RDONLY | O_CLOEXEC), -1, -1, -1, -1, false, -1 };
	if (m->original < 0)
		return err_set(err, ERR_SYS, "'%s': %s", f->link, strerror(errno));
	m->profile = open_profile(s, f, m->original, err);
	return m->profile < 0 ? -1 : 0;
}

static void end_made(struct made *m)
{
	close_made(m);
	close_fd(&m->counted);
	close_fd(&m->profile);
	close_fd(&m->original);
}

int splicing_make(const struct splicing *s, pid_t pid, const struct splicing_file *f,
		  struct spliced *out, struct err *err)
{
	struct made m;
	int rc = 0;

	*out = (struct spliced){ .plan = -1, .file = -1 };
	if (open_made(s, f, &m, err) == 0) {
		m.counted = open_counted(s, f, m.original);
		rc = -1;
		if (make_fitting(s, &m, pid, out, err) == 0 &&
		    splicing_keep(s, m.generation, out, err) == 0) {
			out->plan = m.plan;
			m.plan = -1;
			rc = 1;
		}
	}
	end_made(&m);
	return rc;
}

void spliced_close(struct spliced *s)
{
	close_fd(&s->plan);
	close_fd(&s->file);
}

/* --- in and out --- */

int splicing_on(const struct splicing *s, pid_t pid, const struct spliced *what,
		struct splicing_said *said, struct err *err)
{
	return ask_live(s, "on", pid, what->plan, what->file, said, err);
}

int splicing_off(const struct splicing *s, pid_t pid, struct splicing_said *said,
		 struct err *err)
{
	char name[] = "morph-live", what[] = "off", number[16], folder[PATH_MAX], patience[40];
	char *argv[] = { name, what, number, folder, s->patience_ms ? patience : NULL, NULL };

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(folder, sizeof(folder), "%s", s->folder);
	say_patience(s, patience);
	return need_live(s, argv, false, said, err);
}

int splicing_off_all(const struct splicing *s, const struct spliced *what,
		     struct splicing_said *said, struct err *err)
{
	char name[] = "morph-live", command[] = "off-all", fd[24], patience[40];
	char *argv[] = { name, command, fd, s->patience_ms ? patience : NULL, NULL };

	*said = (struct splicing_said){ 0 };
	if (what->file < 0 || !what->ours || !livefiles_unused(what->file))
		return 0;
	(void)snprintf(fd, sizeof(fd), "fd:%d", what->file);
	say_patience(s, patience);
	return need_live(s, argv, false, said, err);
}

int splicing_has(const struct splicing *s, pid_t pid, struct err *err)
{
	char name[] = "morph-live", what[] = "look", number[16], folder[PATH_MAX];
	char *argv[] = { name, what, number, folder, NULL };
	struct splicing_said said;

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(folder, sizeof(folder), "%s", s->folder);
	if (need_live(s, argv, false, &said, err) < 0)
		return -1;
	return said.text[0] != '\0';
}

/* --- counting for a while --- */

/* It counts for so long, or until we are told to end, and runs its original again.  What it
 * counted, as a memory file; -1. */
static int count_for(const struct splicing *s, pid_t pid, const struct made *m, int file,
		     unsigned ms, uint64_t *pause_us, struct err *err)
{
	char name[] = "morph-live", what[] = "count", number[16], fd1[24], fd2[24], fd3[24];
	char length[24], patience[40], catches[] = "--nobody-catches";
	char *argv[10] = { name, what, number, fd1, fd2, fd3, length };
	int out = memfd_create("counters", 0), n = 7;
	struct splicing_said said;

	if (out < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	if (s->patience_ms)
		argv[n++] = patience;
	if (s->nobody_catches)
		argv[n++] = catches;
	(void)snprintf(number, sizeof(number), "%d", (int)pid);		/* all fit */
	(void)snprintf(fd1, sizeof(fd1), "fd:%d", m->plan);
	(void)snprintf(fd2, sizeof(fd2), "fd:%d", file);
	(void)snprintf(fd3, sizeof(fd3), "fd:%d", out);
	(void)snprintf(length, sizeof(length), "--for=%u", ms);
	say_patience(s, patience);
	int rc = need_live(s, argv, true, &said, err);
	if (rc < 0 && strstr(err->text, "goes on counting"))
		err_wrap(err, "`morphctl live --off %d` is needed", (int)pid);
	else if (rc == 0 && interrupt_signal())
		rc = err_set(err, ERR_SYS, "interrupted");
	else if (rc == 0 && (sscanf(said.text, "counted %*u ms, CPU time %*u ms, pause %"
				    SCNu64, pause_us) != 1 || lseek(out, 0, SEEK_SET) < 0))
		rc = err_set(err, ERR_SYS, "its counters cannot be read");
	if (rc == 0)
		return out;
	close(out);
	return -1;
}

/* The file of counts with what was counted, as a memory file. */
static int fill_counts(int counts, int counters, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes text, read;
	struct countsfile f;
	int out = -1;

	if (lseek(counts, 0, SEEK_SET) < 0 ||
	    io_read_all(counts, most_bytes, a, &text, err) < 0 ||
	    countsfile_read(text, a, &f, err) < 0 ||
	    io_read_all(counters, most_bytes, a, &read, err) < 0)
		goto out;
	if (read.n != f.size || f.offset + f.size > text.n) {
		err_set(err, ERR_SYS, "its counters are not as the file says");
		goto out;
	}
	uint8_t *whole = arena_dup(a, text.p, text.n);
	memcpy(whole + f.offset, read.p, read.n);
	whole[f.offset] |= 1;		/* how often it was begun: it was at work */
	out = io_memory_file((struct bytes){ whole, text.n }, err);
out:
	arena_free(a);
	return out;
}

static int keep_counted(const struct splicing *s, const struct splicing_file *f,
			const struct made *m, int counts, struct err *err)
{
	struct arena *a = arena_new();
	char path[SPLICING_PATH];
	struct profile p = { 0 };
	struct job_result r;
	struct bytes text;
	int rc = run_job(s, JOB_COUNTS, (int[3]){ m->original, counts, -1 }, 0, 0, &r, err);

	if (rc == 0) {
		rc = name_profile(s->scratch, f, m->original, "counted", path, err) < 0 ||
		     io_read_all(r.out[0], most_bytes, a, &text, err) < 0 ||
		     profile_read(text, a, &p, err) < 0 ? -1 : 0;
		if (rc == 0 && p.nedge == 0)
			rc = err_set(err, ERR_REFUSED, "nothing of what is uncertain ran "
				     "meanwhile");
		if (rc == 0)
			rc = io_write_file(path, 0600, text, err);
		job_result_close(&r);
	}
	arena_free(a);
	return rc;
}

int splicing_count(struct splicing *s, pid_t pid, const struct splicing_file *f, unsigned ms,
		   uint64_t *pause_us, struct err *err)
{
	struct spliced kept = { .plan = -1, .file = -1 };
	struct made m = { .original = -1 };
	int rc = -1, counters = -1, counts = -1;

	if (splicing_scratch(s, err) < 0)
		return -1;
	if (open_made(s, f, &m, err) < 0) {
		end_made(&m);
		return 0;
	}
	m.counting = true;
	if (make_fitting(s, &m, pid, NULL, err) == 0 &&
	    splicing_keep(s, m.generation, &kept, err) == 0) {
		/* before it is mapped: then it does not stay, however this ends */
		splicing_forget(s, &kept);
		if ((counters = count_for(s, pid, &m, kept.file, ms, pause_us, err)) >= 0 &&
		    (counts = fill_counts(m.counts, counters, err)) >= 0 &&
		    keep_counted(s, f, &m, counts, err) == 0)
			rc = 1;
	}
	close_fd(&counts);
	close_fd(&counters);
	spliced_close(&kept);
	end_made(&m);
	return rc;
}
