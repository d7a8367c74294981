/* work_live.c - generations in running processes: who has one, who gets one, who gives it back
 *
 * Processes that began before their program was laid out anew run its original.  Where the
 * policy says so (optimize.live), those that have taken enough CPU time get the generation all
 * the same: a form of it whose new text is where that process has room, made by the Editor from
 * what is known now, proven and mapped by the parent (manager/parent/livework.h).  One form
 * often fits many processes, so it is tried before another one is made.
 *
 * What processes have mapped, the parent tells (work_live_look()); nothing of it is remembered
 * here over an end of the Manager, but who is left alone: processes that were refused, for a
 * while, and those out of which somebody has taken it by hand, for good.  What is not wanted
 * any more goes, idle or not: the policy says off, the module has another generation, or its
 * original again.
 *
 * Tested by tests/e2e/livedaemon.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bootid.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/procstat.h"
#include "manager/store/ingest.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/share.h"

enum {
	PROCESSES = 512,		/* of a module, looked at */
	AT_ONCE = 8,			/* in one idle time, of a module */
	FORMS = 3,			/* made for one process, at most */
	AGAIN_MS = 600000, REFUSED_AGAIN_MS = 3600000,
};

struct live {
	struct live_row *row;
	uint32_t n;
	bool looked;
	char trouble[256];		/* said last; "" none */
	uint64_t look_ms;		/* after trouble: when to look again */
	char boot[BOOTID_MAX];		/* this one */
};

static struct live *state(struct work *w)
{
	if (!w->live) {
		w->live = memory_new(1, sizeof(*w->live));
		bootid_read(w->live->boot);
	}
	return w->live;
}

static void free_rows(struct live_row *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(row[i].path);
	free(row);
}

void work_live_free(struct work *w)
{
	if (w->live)
		free_rows(w->live->row, w->live->n);
	free(w->live);
	w->live = NULL;
}

const struct live_row *work_live_rows(const struct work *w, uint32_t *n)
{
	*n = w->live ? w->live->n : 0;
	return w->live ? w->live->row : NULL;
}

/* --- who has one --- */

/* PID START OWNER GENERATION [ORIGINAL PATH] */
static bool read_row(char *line, struct live_row *out)
{
	char generation[65], original[65];
	int pid, end = 0, more = 0;

	*out = (struct live_row){ 0 };
	if (sscanf(line, "%d %" SCNu64 " %" SCNu32 " %64[0-9a-f]%n", &pid, &out->start,
		   &out->uid, generation, &end) != 4 || pid <= 0 ||
	    digest_from_hex(generation, &out->generation) < 0)
		return false;
	out->pid = pid;
	if (!line[end])
		return true;
	if (sscanf(line + end, " %64[0-9a-f]%n", original, &more) != 1 ||
	    digest_from_hex(original, &out->original) < 0 || line[end + more] != ' ')
		return false;
	out->path = memory_need(strdup(line + end + more + 1));
	return true;
}

static void read_rows(char *text, struct live_row **row, uint32_t *n)
{
	char *rest = NULL;

	*row = NULL;
	*n = 0;
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		*row = memory_grow(*row, *n + (size_t)1, sizeof(**row));
		*n += read_row(line, &(*row)[*n]);
	}
}

static bool has(const struct live_row *row, uint32_t n, const struct live_row *r)
{
	for (uint32_t i = 0; i < n; i++)
		if (row[i].pid == r->pid && row[i].start == r->start &&
		    digest_equal(&row[i].generation, &r->generation))
			return true;
	return false;
}

/* --- who gives it back --- */

/* May processes of the module have its generation?  *policy is the one for it. */
static bool is_wanted(struct work *w, const struct store_module *m, struct policy *policy)
{
	if (!m->generation || m->refusal[0] || !policy_allows(w->policy, m->path))
		return false;
	const struct policy_rule *rule = work_rule(w, m->path, policy);
	return policy->live && !(rule && rule->refuse);
}

/* Not what others than we have mapped. */
static bool stays(struct work *w, const struct live_row *r)
{
	struct store_generation g;
	struct store_module m;
	struct policy policy;

	return !r->path ||
	       (store_module_by_path(w->store, r->path, &m, NULL) == 1 &&
		digest_equal(&m.original, &r->original) && is_wanted(w, &m, &policy) &&
		store_live_generation(w->store, &r->generation, &g, NULL) == 1 &&
		g.module == m.id && g.number == m.generation);
}

/* generation 0: any. */
static struct store_left name_left(struct work *w, pid_t pid, uint64_t start, int64_t module,
				   int64_t generation)
{
	struct store_left left = { .pid = pid, .start = start, .module = module,
				   .generation = generation };

	memcpy(left.boot, state(w)->boot, sizeof(left.boot));
	return left;
}

bool work_live_leaves(struct work *w, pid_t pid, uint64_t start, int64_t module)
{
	struct store_left left = name_left(w, pid, start, module, 0);

	return store_left_get(w->store, &left, NULL) == 1;
}

/* Somebody has taken out what we would leave: he does not want it, nor another one of the
 * module, as long as the process runs. */
static void leave_alone(struct work *w, const struct live_row *r)
{
	struct store_generation g;
	struct err err;

	if (!stays(w, r) || store_live_generation(w->store, &r->generation, &g, NULL) != 1)
		return;
	struct store_left left = name_left(w, r->pid, r->start, g.module, 0);
	left.until_ns = STORE_LEFT_FOREVER;
	if (store_left_put(w->store, &left, &err) < 0)
		role_log_err(&err);
}

/* What went out while its process runs on. */
static void tell_gone(struct work *w, const struct live_row *old, uint32_t nold)
{
	const struct live *l = w->live;
	struct procstat process;

	for (uint32_t i = 0; i < nold; i++) {
		const struct live_row *r = &old[i];

		if (!r->path || has(l->row, l->n, r) ||
		    !procstat_read(r->pid, &process) || process.start != r->start)
			continue;
		leave_alone(w, r);
		work_history(w, r->path, "live out", "process %d of user %" PRIu32
			     " runs the original", (int)r->pid, r->uid);
	}
}

static int take_rows(struct work *w, struct err *err)
{
	struct live *l = w->live;
	struct live_row *old = l->row;
	uint32_t nold = l->n;
	struct wr text = { 0 };
	int fd = ask_live_list(w->ask, err);

	if (fd < 0)
		return -1;
	int rc = work_read(fd, &text, err);
	close(fd);
	if (rc == 0) {
		wr_u8(&text, 0);
		read_rows((char *)text.p, &l->row, &l->n);
		tell_gone(w, old, nold);
		free_rows(old, nold);
		l->looked = true;
	}
	wr_free(&text);
	return rc;
}

int work_live_look(struct work *w)
{
	struct live *l = state(w);
	struct err err = { 0 };

	if (w->now_ms() < l->look_ms)
		return -1;
	if (take_rows(w, &err) == 0) {
		l->trouble[0] = '\0';
		return 0;
	}
	l->look_ms = w->now_ms() + AGAIN_MS;
	if (!w->ask->stop && strcmp(l->trouble, err.text) != 0)
		role_warn("which processes have generations: %.200s", err.text);
	(void)snprintf(l->trouble, sizeof(l->trouble), "%.250s", err.text);
	return -1;
}

void work_live_look_again(struct work *w)
{
	if (w->live && w->live->n)
		(void)work_live_look(w);	/* it says what fails */
}

/* True: something was. */
static bool take_out(struct work *w)
{
	const struct live *l = w->live;
	bool any = false;
	struct err err;

	for (uint32_t i = 0; i < l->n && !w->ask->stop; i++) {
		const struct live_row *r = &l->row[i];

		if (stays(w, r))
			continue;
		any = true;
		if (ask_live_off(w->ask, r->pid, &r->generation, &err) < 0 && !w->ask->stop)
			role_warn("%s: process %d keeps its generation for now: %s", r->path,
				 (int)r->pid, err.text);
	}
	return any;
}

/* From there on; pid 0: of any process; l->n: none. */
static uint32_t find_row(const struct live *l, uint32_t i, pid_t pid, const char *path)
{
	while (i < l->n && ((pid && l->row[i].pid != pid) || !l->row[i].path ||
			    strcmp(l->row[i].path, path) != 0))
		i++;
	return i;
}

void work_live_forget(struct work *w, pid_t pid, const char *path)
{
	struct live *l = state(w);
	uint32_t i = 0;

	while ((i = find_row(l, i, pid, path)) < l->n) {
		free(l->row[i].path);
		l->row[i] = l->row[--l->n];
	}
}

int work_live_give_back(struct work *w, pid_t pid, const char *path, struct err *err)
{
	const struct live *l = state(w);

	for (uint32_t i = 0; (i = find_row(l, i, pid, path)) < l->n; i++)
		if (ask_live_off(w->ask, pid, &l->row[i].generation, err) < 0)
			return -1;
	work_live_forget(w, pid, path);
	return 0;
}

/* --- who gets one --- */

struct form {
	struct work *w;
	struct store_module m;
	struct store_generation g;	/* that it is a form of */
	struct policy policy;
	struct ask_job job;		/* but for where the text is */
	int original_fd, profile_fd, counts_fd;
	int fd;				/* -1: none is made yet */
	struct digest digest;
	uint64_t bytes;			/* written for good */
};

static int open_form(struct form *f, struct err *err)
{
	struct work_evidence known = { 0 };
	struct work *w = f->w;
	struct wr text = { 0 };
	char counted[WORK_COUNTED_MAX];

	if (work_profile(w, &f->m, &known, &text, err) == 0)
		f->profile_fd = io_memory_file(wr_bytes(&text), err);
	wr_free(&text);
	if (f->profile_fd >= 0)
		f->original_fd = work_open_pristine(w, &f->m, err);
	struct err none = { 0 };
	if (f->original_fd >= 0)
		f->counts_fd = work_evidence_file(w, &f->m, &f->policy, &known.profile,
						  counted, &none);
	work_evidence_free(&known);
	f->job = (struct ask_job){ .kind = JOB_OPTIMIZE, .nin = 2 + (f->counts_fd >= 0),
				   .in = { f->original_fd, f->profile_fd, f->counts_fd },
				   .a = f->g.number, .passes = f->g.passes };
	return f->original_fd < 0 ? -1 : 0;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_form(struct form *f)
{
	drop(&f->original_fd);
	drop(&f->profile_fd);
	drop(&f->counts_fd);
	drop(&f->fd);
}

/* With its new text at that address, or where it comes to be (1).  The store knows it before
 * anybody has it. */
static int make_form(struct form *f, uint64_t at, struct err *err)
{
	struct ask_limits limits = work_limits(&f->policy);
	struct wr map = { 0 };
	int out[3];

	drop(&f->fd);
	f->job.b = at;
	if (ask_run_job(f->w->ask, &f->job, &limits, out, 3, err) < 0)
		return -1;
	f->fd = out[0];
	int rc = digest_fd(f->fd, &f->digest, err);
	if (rc == 0)
		rc = work_read(out[1], &map, err);
	if (rc == 0)
		rc = store_live_put(f->w->store, &f->digest, f->g.id, wr_bytes(&map), err);
	off_t size = lseek(f->fd, 0, SEEK_END);
	f->bytes += map.n + (size > 0 ? (uint64_t)size : 0);
	wr_free(&map);
	close(out[1]);
	close(out[2]);
	return rc;
}

/* The form that there is, then those that are made for where there is room. */
static int map_form(struct form *f, pid_t pid, uint64_t start, char said[256], struct err *err)
{
	struct ask_limits limits = work_limits(&f->policy);
	uint64_t at = 1;

	for (int i = 0; i <= FORMS; i++) {
		if ((i || f->fd < 0) && make_form(f, at, err) < 0)
			return -1;
		struct ask_live l = { .path = f->m.path, .installed = f->m.present,
				      .original = f->m.original, .generation = f->digest,
				      .pid = pid, .start = start, .generation_fd = f->fd };
		if (ask_live_on(f->w->ask, &l, &limits, said, err) < 0)
			return -1;
		if (strncmp(said, "at ", 3) != 0)
			return 0;
		at = strtoull(said + 3, NULL, 16);
		if (at <= 1)
			break;
	}
	return err_set(err, ERR_REFUSED, "there is no room that lasts for new text");
}

/* Told when it is new; tried again later. */
static void note_refused(struct form *f, pid_t pid, uint64_t start, const struct err *why)
{
	struct store_left left = name_left(f->w, pid, start, f->m.id, f->g.id);
	bool refused = why->kind == ERR_REFUSED;
	struct err err;

	if (store_left_get(f->w->store, &left, NULL) != 1)
		work_history(f->w, f->m.path, "live refused", "process %d: %s", (int)pid,
			     why->text);
	left.until_ns = store_now_ns() +
			UINT64_C(1000000) * (refused ? REFUSED_AGAIN_MS : AGAIN_MS);
	if (store_left_put(f->w->store, &left, &err) < 0)
		role_log_err(&err);
}

/* Has it taken enough, and not refused a while ago? */
static bool is_due(struct form *f, pid_t pid, uint64_t *start)
{
	struct live *l = f->w->live;
	struct procstat process;

	if (find_row(l, 0, pid, f->m.path) < l->n || !procstat_read(pid, &process) ||
	    process.cpu_ticks < f->policy.live_cpu_s * (uint64_t)sysconf(_SC_CLK_TCK))
		return false;
	*start = process.start;
	struct store_left left = name_left(f->w, pid, *start, f->m.id, f->g.id);
	if (work_live_leaves(f->w, pid, *start, f->m.id))
		return false;
	/* a clock that was set back holds up nobody */
	uint64_t now_ns = store_now_ns(), most_ns = UINT64_C(1000000) * REFUSED_AGAIN_MS;
	return store_left_get(f->w->store, &left, NULL) != 1 || now_ns >= left.until_ns ||
	       left.until_ns > now_ns + most_ns;
}

/* True: at least one has got one. */
static bool put_in_all(struct form *f, const uint32_t *pid, uint32_t n)
{
	struct work *w = f->w;
	bool opened = false, any = false;
	struct err err = { 0 };
	char said[256];
	uint64_t start;
	int tries = 0;

	for (uint32_t i = 0; i < n && tries < AT_ONCE && !w->ask->stop; i++) {
		if (!is_due(f, (pid_t)pid[i], &start))
			continue;
		if (!opened && open_form(f, &err) < 0) {
			role_warn("%s: %s", f->m.path, err.text);
			break;
		}
		opened = true;
		tries++;
		if (map_form(f, (pid_t)pid[i], start, said, &err) == 0) {
			any = true;
			work_history_of(w, f->m.path, f->g.number, "live", "process %u runs "
					"generation %" PRIu32 ": %s", (unsigned)pid[i],
					f->g.number, said);
		} else if (w->ask->yield.done || w->ask->stop) {
			break;			/* others need the machine: the next time */
		} else {
			note_refused(f, (pid_t)pid[i], start, &err);
		}
	}
	return any;
}

/* A form tells who has it mapped how its module is used, as the file does who reads that; and
 * may what it costs be spent? */
static bool may_make(struct work *w, const struct store_module *m, const struct policy *p)
{
	struct share s;

	return work_share(w, m, p, &s, NULL) == 0 && s.enough &&
	       work_budget_left(w, m->owner, m->seen.size, p, NULL) > 0;
}

struct round {
	struct work *w;
	bool any;
};

static bool put_in(void *ctx, const struct store_module *m)
{
	struct round *r = ctx;
	struct work *w = r->w;
	static uint32_t pid[PROCESSES];
	struct form f = { .w = w, .original_fd = -1, .profile_fd = -1, .counts_fd = -1,
			  .fd = -1 };
	struct store_counting c;

	if (!is_wanted(w, m, &f.policy) ||
	    store_counting_get(w->store, m->id, &c, NULL) != 0 ||
	    store_generation_by_digest(w->store, &m->present, &f.g, NULL) != 1)
		return true;
	uint32_t n = ingest_processes(w->ingest, m->path, &m->original, pid, PROCESSES);
	if (!n || !may_make(w, m, &f.policy))
		return true;
	f.m = *m;
	work_charge(w, 0, 0, 0);		/* what others have left */
	r->any |= put_in_all(&f, pid, n);
	work_charge(w, m->id, m->owner, f.bytes);
	close_form(&f);
	return !w->ask->yield.done && !w->ask->stop;
}

void work_live_first(struct work *w)
{
	if (!state(w)->looked)
		work_live(w, false);
}

void work_live(struct work *w, bool idle)
{
	struct live *l = state(w);
	struct round r = { w, false };
	struct err err = { 0 };

	if ((!policy_live(w->policy) && l->looked && !l->n) || work_live_look(w) < 0)
		return;
	bool any = take_out(w);
	if (idle && policy_live(w->policy) && !w->ask->stop) {
		w->ask->yields = YIELD_ENDS;
		w->ask->yield = (struct yield){ 0 };	/* of a question before these */
		if (store_module_each(w->store, put_in, &r, &err) < 0)
			role_log_err(&err);
		w->ask->yields = YIELD_NEVER;
	}
	if ((any || r.any) && !w->ask->stop)
		(void)work_live_look(w);		/* says what fails */
}
