/* livework.c - maps proven generations in running processes and takes them out; see livework.h
 *
 *	on         room: does its new text fit there?  keep: its file and its entry, then map
 *	count      the same, and out again, which is one run of morph-live: then neither file
 *	           nor entry is left
 *	off        the generation's file is the one that goes
 *	list       who has what; entries follow (livelist.h)
 *	off path   list, then off of each
 *
 * A kill at any point leaves at most an entry of which nothing is mapped, and a file.
 *
 * Tested by tests/unit/manager/parent/test_livework.c and test_livecount.c, and by
 * tests/e2e/livedaemon.sh.
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

#include "lib/procstat.h"
#include "manager/parent/livefiles.h"
#include "manager/parent/livelist.h"
#include "manager/parent/liverun.h"
#include "manager/parent/printable.h"
#include "manager/parent/role.h"

enum { LEFT = 8, OFF_ALL_MS = 20000 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
static const char pause_ms[] = "--pause=5", patience_on[] = "--patience=5000",
		  patience_off[] = "--patience=3000";

enum stage { IDLE, ROOM, MAP, COUNT, TURNS, OFF, LIST, OFF_EACH };

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

struct livework {
	const char *morph_live;
	struct livebook book;
	struct liverun run;
	enum stage stage;
	bool of_path, of_all;		/* what follows the list */
	void (*tell)(const char *text);
	struct livebook_entry now;	/* what is done, or of which path */
	enum stage after_room;		/* MAP, COUNT or TURNS */
	unsigned ms;			/* the last two: so long */
	int file_fd;			/* of the generation under way, -1 */
	int counters_fd;		/* what it counts comes there; -1 */
	int lock_fd;			/* the process is ours; -1 */
	int plan_fd;			/* -1: nothing is proven */
	struct livework_proof proven;
	struct livelist list;		/* the last one */
	uint32_t at;			/* of its rows */
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
	l->tell = l->list.tell = tell;
}

struct livework *livework_new(const char *store_dir, const char *morph_live, struct err *err)
{
	struct livework *l = calloc(1, sizeof(*l));

	if (!l)
		err_set(err, ERR_SYS, "out of memory");
	if (!l || livelist_open(&l->list, &l->book, err) < 0 ||
	    livebook_open(&l->book, store_dir, err) < 0) {
		if (l)
			livelist_close(&l->list);
		free(l);
		return NULL;
	}
	l->morph_live = morph_live;
	l->plan_fd = l->file_fd = l->counters_fd = l->lock_fd = -1;
	livework_tell(l, log_line);
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
	drop(&l->counters_fd);
	drop(&l->lock_fd);
	liverun_free(&l->run);
	livebook_close(&l->book);
	livelist_close(&l->list);
	free(l);
}

bool livework_is_proven(const struct livework *l, const struct livework_proof *p)
{
	return l && l->plan_fd >= 0 && l->proven.counts == p->counts &&
	       digest_equal(&l->proven.original, &p->original) &&
	       digest_equal(&l->proven.generation, &p->generation);
}

void livework_proven(struct livework *l, const struct livework_proof *p, int plan_fd)
{
	if (!l)
		return;
	drop(&l->plan_fd);
	l->plan_fd = fcntl(plan_fd, F_DUPFD_CLOEXEC, 0);
	l->proven = *p;
}

/* --- one run --- */

static int run(struct livework *l, enum stage stage, const char *const *arg, const int *fd,
	       int nfd, struct err *err)
{
	bool stops = stage != ROOM && stage != LIST;

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

/* morph-live COMMAND PID PLAN GENERATION, and COUNTERS when it is to count */
static int run_plan(struct livework *l, enum stage stage, struct err *err)
{
	const int fd[] = { l->plan_fd, l->file_fd, l->counters_fd };
	char pid[16], ms[24];

	(void)snprintf(pid, sizeof(pid), "%d", (int)l->now.pid);	/* fits */
	(void)snprintf(ms, sizeof(ms), "--for=%u", l->ms);		/* too */
	if (stage == ROOM)
		return run(l, stage, (const char *const[]){ "room", pid, "fd:3", "fd:4", NULL },
			   fd, 2, err);
	if (stage == TURNS)
		return run(l, stage, (const char *const[]){ "turns", pid, "fd:3", "fd:4", ms,
			   pause_ms, patience_on, NULL }, fd, 2, err);
	if (stage == COUNT)
		return run(l, stage, (const char *const[]){ "count", pid, "fd:3", "fd:4",
			   "fd:5", ms, pause_ms, patience_on, NULL }, fd, 3, err);
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

static int prepare(struct livework *l, enum stage after_room, unsigned ms, struct err *err)
{
	if (check_here(l, err) < 0)
		return -1;
	l->after_room = after_room;
	l->ms = ms;
	return 0;
}

static int begin_map(struct livework *l, const struct livebook_entry *e, int generation_fd,
		     struct err *err)
{
	const struct livework_proof proof = { e->original, e->generation,
					      l->after_room == COUNT };
	struct procstat process;

	if (!livework_is_proven(l, &proof))
		return err_set(err, ERR_REFUSED, "'%s': not proven to be fit for it", e->path);
	l->now = *e;
	if (e->pid == getpid() || !procstat_read(e->pid, &process) ||
	    process.start != e->start)
		return err_set(err, ERR_REFUSED, "process %d is not there any more",
			       (int)e->pid);
	l->now.owner = process.owner;
	if (take_one(l, ALLOWED_ON, err) < 0)
		return -1;
	l->lock_fd = livefiles_lock(l->book.folder, e->pid, err);
	if (l->lock_fd < 0)
		return -1;
	l->file_fd = fcntl(generation_fd, F_DUPFD_CLOEXEC, 0);
	if (l->file_fd < 0)
		err_set(err, ERR_SYS, "fcntl: %s", strerror(errno));
	else if (run_plan(l, ROOM, err) == 0)
		return 0;
	drop(&l->file_fd);
	drop(&l->lock_fd);
	return -1;
}

int livework_on(struct livework *l, const struct livebook_entry *e, int generation_fd,
		struct err *err)
{
	return prepare(l, MAP, 0, err) < 0 ? -1 : begin_map(l, e, generation_fd, err);
}

int livework_turns(struct livework *l, const struct livebook_entry *e, int generation_fd,
		   unsigned ms, struct err *err)
{
	return prepare(l, TURNS, ms, err) < 0 ? -1 : begin_map(l, e, generation_fd, err);
}

int livework_count(struct livework *l, const struct livebook_entry *e, int generation_fd,
		   unsigned ms, struct err *err)
{
	return prepare(l, COUNT, ms, err) < 0 ? -1 : begin_map(l, e, generation_fd, err);
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
		       "user %u%s: %.400s", hex, path, (int)l->now.pid, (unsigned)l->now.owner,
		       l->after_room == COUNT ? ", to count" :
		       l->after_room == TURNS ? ", in turns" : "", text);	/* cut */
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

static int open_counters(struct livework *l, struct err *err)
{
	l->counters_fd = memfd_create("morph-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return l->counters_fd < 0 ? err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno))
				  : 0;
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
	if (l->file_fd < 0 || (l->after_room == COUNT && open_counters(l, err) < 0) ||
	    livebook_put(&l->book, &l->now, err) < 0)
		return true;
	if (run_plan(l, l->after_room, err) == 0)
		return false;
	(void)livebook_remove(&l->book, &l->now, NULL);		/* the next list does it */
	return true;
}

static bool is_next(const struct livework *l, const struct livelist_row *r)
{
	return r->own != l->forks &&
	       (l->of_all || (r->entry && strcmp(r->entry->path, l->now.path) == 0));
}

/* Those that we have mapped it in, then forks: of these anybody can have many, so there is an
 * end. */
static bool off_next(struct livework *l, struct livework_result *out)
{
	for (; l->at < l->list.nrow || !l->forks; l->at++) {
		if (l->at == l->list.nrow) {
			l->forks = true;
			l->at = 0;
		}
		const struct livelist_row *r = &l->list.row[l->at];
		if (l->at == l->list.nrow || !is_next(l, r))
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
	if (livelist_take(&l->list, l->run.said, l->run.nsaid == LIVERUN_SAID - 1,
			  &out->err) < 0)
		return true;
	if (!l->of_path) {
		out->list_fd = livelist_write(&l->list, &out->err);
		return true;
	}
	l->at = 0;
	l->forks = false;
	l->end_ms = role_now_ms() + OFF_ALL_MS;
	return off_next(l, out);
}

static bool after_off_each(struct livework *l, const struct err *why,
			   struct livework_result *out)
{
	const struct livelist_row *r = &l->list.row[l->at++];
	struct livebook_entry e = { .pid = r->pid, .start = r->start,
				    .generation = r->generation };

	log_off(l, r->pid, &r->generation, why);
	if (why->kind)
		l->trouble = *why;
	else if (livelist_is_only(&l->list, r))
		(void)livebook_remove(&l->book, &e, NULL);	/* the next list does it */
	return off_next(l, out);
}

/* It is out again: of the generation there is nothing to be known any more. */
static bool after_count(struct livework *l, struct livework_result *out)
{
	(void)livebook_remove(&l->book, &l->now, NULL);		/* the next list does it */
	livebook_drop_file(&l->book, &l->now.generation);
	(void)snprintf(out->said, sizeof(out->said), "%.250s", l->run.said);
	if (fcntl(l->counters_fd, F_ADD_SEALS, SEALS) < 0) {
		err_set(&out->err, ERR_SYS, "seal: %s", strerror(errno));
		return true;
	}
	out->counters_fd = l->counters_fd;
	l->counters_fd = -1;
	return true;
}

/* What came of the run is said; the next stage of the same may have begun. */
static bool after(struct livework *l, enum stage stage, const struct err *why,
		  struct livework_result *out)
{
	if (stage == OFF_EACH)
		return after_off_each(l, why, out);
	if (stage == MAP || stage == COUNT || stage == TURNS || (stage == ROOM && why->kind))
		log_on(l, why);
	if (stage == OFF)
		log_off(l, l->now.pid, &l->now.generation, why);
	out->err = *why;
	if (why->kind) {
		/* one that was ended half way may have mapped it: the next list tells */
		if ((stage == MAP || stage == COUNT) && why->kind == ERR_REFUSED)
			(void)livebook_remove(&l->book, &l->now, NULL);
		return true;
	}
	if (stage == ROOM)
		return after_room(l, out);
	if (stage == LIST)
		return after_list(l, out);
	if (stage == COUNT)
		return after_count(l, out);
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
	*out = (struct livework_result){ .list_fd = -1, .counters_fd = -1 };
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
	drop(&l->counters_fd);
	drop(&l->lock_fd);
	return true;
}

void livework_hurry(const struct livework *l)
{
	if (l && (l->stage == COUNT || l->stage == TURNS))
		liverun_hurry(&l->run);
}

void livework_leave(struct livework *l)
{
	if (!livework_busy(l))
		return;
	livework_hurry(l);		/* it leaves nothing that is not known */
	pid_t pid = liverun_leave(&l->run);
	for (int i = 0; pid && i < LEFT; i++)
		if (!l->left[i]) {
			l->left[i] = pid;
			break;
		}
	drop(&l->file_fd);
	drop(&l->counters_fd);
	drop(&l->lock_fd);
	l->stage = IDLE;
}

int livework_check_owner(pid_t pid, uint64_t start, const char *path, uint32_t owner,
			 struct err *err)
{
	struct procstat process;

	if (!procstat_read(pid, &process) || process.start != start)
		return err_set(err, ERR_REFUSED, "process %d is not there any more",
			       (int)pid);
	return owner == 0 || owner == process.owner ? 0 :
	       err_set(err, ERR_REFUSED, "'%s': user %u's, and no process of his", path,
		       (unsigned)owner);
}
