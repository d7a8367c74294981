/* livework.c - maps proven generations in running processes and takes them out; see livework.h
 *
 *	on         room: does its new text fit there?  keep: its file and its entry, then map
 *	off        the generation's file is the one that goes
 *	list       who has what; entries follow: one is made of forks where no other is left, of
 *	           those that have nothing mapped any more they go, and so do files that nobody
 *	           has
 *	off path   list, then off of each
 *
 * A kill at any point leaves at most an entry of which nothing is mapped, and a file.
 *
 * Tested by tests/unit/manager/parent/test_livework.c and tests/e2e/livedaemon.sh.
 */
#include "manager/parent/livework.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/procstat.h"
#include "manager/parent/liverun.h"
#include "manager/parent/printable.h"
#include "manager/parent/role.h"

enum { ROWS = 4096, LEFT = 8, OFF_ALL_MS = 20000 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
static const char pause_ms[] = "--pause=5", patience_on[] = "--patience=5000",
		  patience_off[] = "--patience=3000";

enum stage { IDLE, ROOM, MAP, OFF, LIST, OFF_EACH };

/* How often one thing may be done: so many times at once, then one in `refill_ms`. */
struct allowance {
	unsigned left;
	uint64_t since_ms;
};
enum allowed { ALLOWED_ON, ALLOWED_OFF, ALLOWED_LIST, NALLOWED };
static const struct {
	unsigned burst, refill_ms;
} bound[NALLOWED] = {
	[ALLOWED_ON] = { LIVEWORK_BURST, LIVEWORK_REFILL_MS },
	[ALLOWED_OFF] = { LIVEWORK_OFF_BURST, LIVEWORK_OFF_REFILL_MS },
	[ALLOWED_LIST] = { LIVEWORK_BURST, LIVEWORK_OFF_REFILL_MS },
};

struct row {				/* what a process has mapped */
	pid_t pid;
	uint64_t start;
	uint32_t owner;
	struct digest generation;
	const struct livebook_entry *entry;	/* of livework.entry; NULL: none */
	bool own;	/* that is of this process; else it is a fork, or says so */
};

struct livework {
	const char *morph_live;
	struct livebook book;
	struct liverun run;
	enum stage stage;
	bool of_path, of_all;		/* what follows the list */
	void (*tell)(const char *text);
	struct livebook_entry now;	/* what is done, or of which path */
	int file_fd;			/* of the generation under way, -1 */
	int plan_fd;			/* -1: nothing is proven */
	struct digest proven_original, proven_generation;
	struct livebook_entry *entry;	/* of the last list */
	uint32_t nentry;
	struct row *row;		/* [ROWS + LIVEBOOK_ENTRIES] */
	uint32_t nrow, at;
	bool more;			/* than these there may be */
	bool forks;			/* off each: those come last */
	uint64_t end_ms;		/* then the rest keeps what it has */
	struct err trouble;		/* of the last that could not be taken out */
	struct allowance allowance[NALLOWED];
	pid_t left[LEFT];		/* nobody waits for these */
};

static void log_line(const char *text)
{
	role_log("%s", text);
}

void livework_tell(struct livework *l, void (*tell)(const char *text))
{
	l->tell = tell;
}

struct livework *livework_new(const char *store_dir, const char *morph_live, struct err *err)
{
	struct livework *l = calloc(1, sizeof(*l));
	struct row *row = calloc(ROWS + LIVEBOOK_ENTRIES, sizeof(*row));

	if (!l || !row || livebook_open(&l->book, store_dir, err) < 0) {
		if (!l || !row)
			err_set(err, ERR_SYS, "out of memory");
		free(l);
		free(row);
		return NULL;
	}
	l->morph_live = morph_live;
	l->row = row;
	l->plan_fd = l->file_fd = -1;
	l->tell = log_line;
	for (int i = 0; i < NALLOWED; i++)
		l->allowance[i] = (struct allowance){ bound[i].burst, role_now_ms() };
	return l;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void livework_free(struct livework *l)
{
	if (!l)
		return;
	drop(&l->plan_fd);
	drop(&l->file_fd);
	liverun_free(&l->run);
	livebook_close(&l->book);
	free(l->entry);
	free(l->row);
	free(l);
}

bool livework_is_proven(const struct livework *l, const struct digest *original,
			const struct digest *generation)
{
	return l && l->plan_fd >= 0 && digest_equal(&l->proven_original, original) &&
	       digest_equal(&l->proven_generation, generation);
}

void livework_proven(struct livework *l, const struct digest *original,
		     const struct digest *generation, int plan_fd)
{
	if (!l)
		return;
	drop(&l->plan_fd);
	l->plan_fd = fcntl(plan_fd, F_DUPFD_CLOEXEC, 0);
	l->proven_original = *original;
	l->proven_generation = *generation;
}

/* --- one run --- */

static int run(struct livework *l, enum stage stage, const char *const *arg, const int *fd,
	       int nfd, struct err *err)
{
	bool stops = stage == MAP || stage == OFF || stage == OFF_EACH;

	if (liverun_start(&l->run, l->morph_live, arg, fd, nfd, stops, err) < 0)
		return -1;
	l->stage = stage;
	return 0;
}

static int run_list(struct livework *l, struct err *err)
{
	return run(l, LIST, (const char *const[]){ "list", l->book.folder, NULL }, NULL, 0,
		   err);
}

/* morph-live COMMAND PID PLAN GENERATION */
static int run_plan(struct livework *l, enum stage stage, struct err *err)
{
	const int fd[] = { l->plan_fd, l->file_fd };
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)l->now.pid);	/* fits */
	if (stage == ROOM)
		return run(l, stage, (const char *const[]){ "room", pid, "fd:3", "fd:4", NULL },
			   fd, 2, err);
	return run(l, stage, (const char *const[]){ "on", pid, "fd:3", "fd:4", pause_ms,
						    patience_on, NULL }, fd, 2, err);
}

static int run_off(struct livework *l, enum stage stage, pid_t of,
		   const struct digest *generation, struct err *err)
{
	char pid[16], hex[65], file[PATH_MAX + 80];

	digest_hex(generation, hex);
	(void)snprintf(pid, sizeof(pid), "%d", (int)of);		/* both fit */
	(void)snprintf(file, sizeof(file), "%s/%s", l->book.folder, hex);
	return run(l, stage, (const char *const[]){ "off", pid, file, pause_ms, patience_off,
						    NULL }, NULL, 0, err);
}

/* --- what begins --- */

static int check_here(const struct livework *l, struct err *err)
{
	if (!l)
		return err_set(err, ERR_REFUSED, "running processes are left alone: the "
			       "daemon's log says why");
	if (l->stage != IDLE)
		return err_set(err, ERR_REFUSED, "another process is under way");
	return 0;
}

static int take_one(struct livework *l, enum allowed what, struct err *err)
{
	struct allowance *a = &l->allowance[what];
	uint64_t n = (role_now_ms() - a->since_ms) / bound[what].refill_ms;

	a->since_ms += n * bound[what].refill_ms;
	a->left = n < bound[what].burst - a->left ? a->left + (unsigned)n : bound[what].burst;
	if (!a->left)
		return err_set(err, ERR_REFUSED, "too many processes in so short a time");
	a->left--;
	return 0;
}

int livework_on(struct livework *l, const struct livebook_entry *e, int generation_fd,
		struct err *err)
{
	struct procstat process;

	if (check_here(l, err) < 0)
		return -1;
	if (!livework_is_proven(l, &e->original, &e->generation))
		return err_set(err, ERR_REFUSED, "'%s': not proven to be fit for it", e->path);
	l->now = *e;
	if (e->pid == getpid() || !procstat_read(e->pid, &process) ||
	    process.start != e->start)
		return err_set(err, ERR_REFUSED, "process %d is not there any more",
			       (int)e->pid);
	l->now.owner = process.owner;
	if (take_one(l, ALLOWED_ON, err) < 0)
		return -1;
	l->file_fd = fcntl(generation_fd, F_DUPFD_CLOEXEC, 0);
	if (l->file_fd < 0)
		return err_set(err, ERR_SYS, "fcntl: %s", strerror(errno));
	if (run_plan(l, ROOM, err) == 0)
		return 0;
	drop(&l->file_fd);
	return -1;
}

int livework_off(struct livework *l, pid_t pid, const struct digest *generation,
		 struct err *err)
{
	if (check_here(l, err) < 0 || take_one(l, ALLOWED_OFF, err) < 0)
		return -1;
	l->now = (struct livebook_entry){ .pid = pid, .generation = *generation };
	return run_off(l, OFF, pid, generation, err);
}

int livework_list(struct livework *l, struct err *err)
{
	if (check_here(l, err) < 0 || take_one(l, ALLOWED_LIST, err) < 0)
		return -1;
	l->of_path = l->of_all = false;
	return run_list(l, err);
}

int livework_off_path(struct livework *l, const char *path, struct err *err)
{
	if (check_here(l, err) < 0)
		return -1;
	l->of_path = true;
	l->of_all = !path;
	l->trouble = (struct err){ 0 };
	(void)snprintf(l->now.path, sizeof(l->now.path), "%s", path ? path : "");
	return run_list(l, err);
}

static int count_entries(const struct livework *l, const char *path, uint32_t *of_path)
{
	struct livebook_entry *e;
	uint32_t n;

	*of_path = 0;
	if (livebook_all(&l->book, &e, &n, NULL) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		*of_path += !path || strcmp(e[i].path, path) == 0;
	free(e);
	return (int)n;
}

bool livework_knows(const struct livework *l, const char *path)
{
	uint32_t n;

	return l && count_entries(l, path, &n) >= 0 && n > 0;
}

int livework_open_file(const struct livework *l, const struct digest *generation,
		       struct err *err)
{
	if (!l)
		return err_set(err, ERR_REFUSED, "there are no generations for running "
			       "processes here");
	return livebook_open_file(&l->book, generation, err);
}

/* --- the list --- */

/* "PID ADDRESS FOLDER/GENERATION", perhaps with more behind it. */
static bool read_row(const struct livework *l, const char *line, struct row *out)
{
	size_t n = strlen(l->book.folder);
	struct procstat process;
	char hex[65], *end;
	long pid = strtol(line, &end, 10);

	if (pid <= 0 || pid > INT32_MAX || *end != ' ' || !(end = strchr(end + 1, ' ')) ||
	    strncmp(end + 1, l->book.folder, n) != 0 || end[1 + n] != '/')
		return false;
	(void)snprintf(hex, sizeof(hex), "%s", end + 2 + n);
	struct digest generation;
	if (digest_from_hex(hex, &generation) < 0 || !procstat_read((pid_t)pid, &process))
		return false;
	*out = (struct row){ .pid = (pid_t)pid, .start = process.start, .owner = process.owner,
			     .generation = generation };
	return true;
}

static const struct livebook_entry *entry_of(const struct livework *l, const struct row *r,
					     bool exactly)
{
	for (uint32_t i = 0; i < l->nentry; i++) {
		const struct livebook_entry *e = &l->entry[i];

		if (digest_equal(&e->generation, &r->generation) &&
		    (!exactly || (e->pid == r->pid && e->start == r->start)))
			return e;
	}
	return NULL;
}

static void find_entry(const struct livework *l, struct row *r)
{
	r->entry = entry_of(l, r, true);
	r->own = r->entry != NULL;
	if (!r->own)
		r->entry = entry_of(l, r, false);
}

/* Another one that has the generation, and an entry; NULL. */
static const struct row *own_like(const struct livework *l, const struct row *of)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (l->row[i].own && &l->row[i] != of &&
		    digest_equal(&l->row[i].generation, &of->generation))
			return &l->row[i];
	return NULL;
}

/* Forks of which none has an entry: one gets it, so that it stays known what they have.  Not
 * all, for anybody can have many. */
static void enter_fork(struct livework *l, struct row *r)
{
	struct err err;

	if (!r->entry || r->own || own_like(l, r))
		return;
	struct livebook_entry e = *r->entry;
	e.pid = r->pid;
	e.start = r->start;
	e.owner = r->owner;
	if (livebook_put(&l->book, &e, &err) < 0)
		l->tell(err.text);
	else
		r->own = true;
}

static bool has(void *ctx, const struct digest *generation)
{
	const struct livework *l = ctx;

	for (uint32_t i = 0; i < l->nrow; i++)
		if (digest_equal(&l->row[i].generation, generation))
			return true;
	return l->more;
}

static bool has_row(const struct livework *l, const struct livebook_entry *e)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (l->row[i].pid == e->pid && l->row[i].start == e->start &&
		    digest_equal(&l->row[i].generation, &e->generation))
			return true;
	return false;
}

/* Which the list has not: where it has no end, because somebody sees to that, a process of an
 * entry has its generation still. */
static bool is_gone(struct livework *l, const struct livebook_entry *e)
{
	struct procstat process;

	if (!l->more || !procstat_read(e->pid, &process) || process.start != e->start)
		return true;
	l->row[l->nrow++] = (struct row){
		.pid = e->pid, .start = e->start, .owner = process.owner,
		.generation = e->generation, .entry = e, .own = true,
	};
	return false;
}

static void read_rows(struct livework *l)
{
	char *rest = NULL;

	l->nrow = 0;
	l->more = l->run.nsaid == LIVERUN_SAID - 1;
	for (char *line = strtok_r(l->run.said, "\n", &rest); line && l->nrow < ROWS;
	     line = strtok_r(NULL, "\n", &rest))
		l->nrow += read_row(l, line, &l->row[l->nrow]);
	l->more |= l->nrow == ROWS;
}

/* What is mapped decides. */
static int reconcile(struct livework *l, struct err *err)
{
	read_rows(l);
	free(l->entry);
	l->entry = NULL;
	l->nentry = 0;
	if (livebook_all(&l->book, &l->entry, &l->nentry, err) < 0)
		return -1;
	for (uint32_t i = 0; i < l->nrow; i++)
		find_entry(l, &l->row[i]);
	uint32_t listed = l->nrow;
	for (uint32_t i = 0; i < l->nentry; i++)
		if (!has_row(l, &l->entry[i]) && is_gone(l, &l->entry[i]))
			(void)livebook_remove(&l->book, &l->entry[i], NULL);	/* the next */
	for (uint32_t i = 0; i < listed; i++)
		enter_fork(l, &l->row[i]);
	livebook_sweep(&l->book, has, l);
	return 0;
}

static int write_row(int fd, const struct row *r, struct err *err)
{
	char generation[65], original[65], line[PATH_MAX + 256];

	digest_hex(&r->generation, generation);
	int n = snprintf(line, sizeof(line), "%d %" PRIu64 " %" PRIu32 " %s", (int)r->pid,
			 r->start, r->owner, generation);
	if (r->entry) {
		digest_hex(&r->entry->original, original);
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s %s", original,
			      r->entry->path);
	}
	line[n] = '\n';				/* all of it fits */
	return io_write_all(fd, line, (size_t)n + 1, err);
}

static int write_list(const struct livework *l, struct err *err)
{
	int fd = memfd_create("morph-live", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	for (uint32_t i = 0; i < l->nrow; i++)
		if (write_row(fd, &l->row[i], err) < 0) {
			close(fd);
			return -1;
		}
	if (lseek(fd, 0, SEEK_SET) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	err_set(err, ERR_SYS, "seal: %s", strerror(errno));
	close(fd);
	return -1;
}

/* --- what has ended --- */

static void log_off(const struct livework *l, pid_t pid, const struct digest *generation,
		    const struct err *why)
{
	char hex[65], text[PRINTABLE_MAX], line[1024];

	digest_hex(generation, hex);
	printable(why->kind ? why->text : l->run.said, text);
	(void)snprintf(line, sizeof(line), "generation %.16s out of process %d: %.800s", hex,
		       (int)pid, text);		/* cut: tells enough */
	l->tell(line);
}

static void log_on(const struct livework *l, const struct err *why)
{
	char hex[65], path[PRINTABLE_MAX], text[PRINTABLE_MAX], line[1024];

	digest_hex(&l->now.generation, hex);
	printable(l->now.path, path);
	printable(why->kind ? why->text : l->run.said, text);
	(void)snprintf(line, sizeof(line), "generation %.16s of '%.400s' into process %d of "
		       "user %u: %.400s", hex, path, (int)l->now.pid, (unsigned)l->now.owner,
		       text);			/* cut: tells enough */
	l->tell(line);
}

static int check_entries(const struct livework *l, struct err *err)
{
	uint32_t of_path;
	int n = count_entries(l, NULL, &of_path);

	if (n < 0 || n >= LIVEBOOK_ENTRIES)
		return err_set(err, ERR_REFUSED, "%d processes have generations already",
			       LIVEBOOK_ENTRIES);
	return 0;
}

/* "fits", or where it would. */
static bool after_room(struct livework *l, struct livework_result *out)
{
	struct err *err = &out->err;

	if (strcmp(l->run.said, "fits") != 0) {
		(void)snprintf(out->said, sizeof(out->said), "at %.32s", l->run.said);
		return true;
	}
	if (check_entries(l, err) < 0 ||
	    livebook_keep(&l->book, l->file_fd, &l->now.generation, err) < 0)
		return true;
	drop(&l->file_fd);
	l->file_fd = livebook_open_file(&l->book, &l->now.generation, err);
	if (l->file_fd < 0 || livebook_put(&l->book, &l->now, err) < 0)
		return true;
	if (run_plan(l, MAP, err) == 0)
		return false;
	(void)livebook_remove(&l->book, &l->now, NULL);		/* the next list does it */
	return true;
}

static bool is_next(const struct livework *l, const struct row *r)
{
	return r->own != l->forks &&
	       (l->of_all || (r->entry && strcmp(r->entry->path, l->now.path) == 0));
}

/* Those that we have mapped it in, then forks: of these anybody can have many, so there is an
 * end. */
static bool off_next(struct livework *l, struct livework_result *out)
{
	for (; l->at < l->nrow || !l->forks; l->at++) {
		if (l->at == l->nrow) {
			l->forks = true;
			l->at = 0;
		}
		const struct row *r = &l->row[l->at];
		if (l->at == l->nrow || !is_next(l, r))
			continue;
		if (role_now_ms() >= l->end_ms) {
			err_set(&l->trouble, ERR_REFUSED, "others keep it for now: it took too "
				"long to ask all");
			break;
		}
		if (run_off(l, OFF_EACH, r->pid, &r->generation, &l->trouble) == 0)
			return false;
	}
	out->err = l->trouble;
	return true;
}

static bool after_list(struct livework *l, struct livework_result *out)
{
	if (reconcile(l, &out->err) < 0)
		return true;
	if (!l->of_path) {
		out->list_fd = write_list(l, &out->err);
		return true;
	}
	l->at = 0;
	l->forks = false;
	l->end_ms = role_now_ms() + OFF_ALL_MS;
	return off_next(l, out);
}

/* Others may have it by this entry alone. */
static bool is_only(const struct livework *l, const struct row *of)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (&l->row[i] != of && digest_equal(&l->row[i].generation, &of->generation))
			return false;
	return !l->more;
}

static bool after_off_each(struct livework *l, const struct err *why,
			   struct livework_result *out)
{
	const struct row *r = &l->row[l->at++];
	struct livebook_entry e = { .pid = r->pid, .start = r->start,
				    .generation = r->generation };

	log_off(l, r->pid, &r->generation, why);
	if (why->kind)
		l->trouble = *why;
	else if (is_only(l, r))
		(void)livebook_remove(&l->book, &e, NULL);	/* the next list does it */
	return off_next(l, out);
}

/* What came of the run is said; the next stage of the same may have begun. */
static bool after(struct livework *l, enum stage stage, const struct err *why,
		  struct livework_result *out)
{
	if (stage == OFF_EACH)
		return after_off_each(l, why, out);
	if (stage == MAP || (stage == ROOM && why->kind))
		log_on(l, why);
	if (stage == OFF)
		log_off(l, l->now.pid, &l->now.generation, why);
	out->err = *why;
	if (why->kind) {
		/* one that was ended half way may have mapped it: the next list tells */
		if (stage == MAP && why->kind == ERR_REFUSED)
			(void)livebook_remove(&l->book, &l->now, NULL);
		return true;
	}
	if (stage == ROOM)
		return after_room(l, out);
	if (stage == LIST)
		return after_list(l, out);
	(void)snprintf(out->said, sizeof(out->said), "%.250s", l->run.said);
	return true;
}

bool livework_busy(const struct livework *l)
{
	return l && l->stage != IDLE;
}

void livework_poll(const struct livework *l, struct pollfd p[2])
{
	liverun_poll(&l->run, p);
}

static void reap_left(struct livework *l)
{
	for (int i = 0; i < LEFT; i++)
		if (l->left[i] && waitpid(l->left[i], NULL, WNOHANG) != 0)
			l->left[i] = 0;
}

bool livework_step(struct livework *l, struct livework_result *out)
{
	struct err why = { 0 };

	if (l)
		reap_left(l);
	if (!livework_busy(l))
		return false;
	int code = liverun_step(&l->run);
	if (code < 0)
		return false;
	*out = (struct livework_result){ .list_fd = -1 };
	enum stage stage = l->stage;
	if (stage != LIST)
		l->run.said[strcspn(l->run.said, "\n")] = '\0';
	if (code)
		err_set(&why, code == 3 ? ERR_REFUSED : ERR_SYS, "%.400s",
			strncmp(l->run.said, "morph-live: ", 12) == 0 ? l->run.said + 12
								      : l->run.said);
	l->stage = IDLE;
	if (!after(l, stage, &why, out))
		return false;
	drop(&l->file_fd);
	return true;
}

void livework_leave(struct livework *l)
{
	if (!livework_busy(l))
		return;
	pid_t pid = liverun_leave(&l->run);
	for (int i = 0; pid && i < LEFT; i++)
		if (!l->left[i]) {
			l->left[i] = pid;
			break;
		}
	drop(&l->file_fd);
	l->stage = IDLE;
}
