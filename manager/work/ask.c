/* ask.c - questions to the privileged parent, each as one message and its reply; see ask.h
 *
 * The parent checks everything anew (manager/parent/requests.c); what is checked here only
 * gives better sentences.
 *
 * Tested by tests/unit/manager/work/test_ask.c.
 */
#include "manager/work/ask.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"

enum { ANY_NFD = -1 };
/* Then it is others' turn: what the monitor tells may come faster than it is read. */
enum { MESSAGES_A_TURN = 64 };

int ask_receive(struct ask *a, struct err *err)
{
	struct msg m = { 0 };

	for (int i = 0; i < MESSAGES_A_TURN; i++) {
		int rc = msg_receive(a->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, err);

		if (rc <= 0)
			return rc;
		switch (m.type) {
		case MSG_REPLY:
			if (a->waiting && m.serial == a->serial) {
				a->reply = m;
				a->waiting = false;
				continue;
			}
			break;
		case MSG_ROLES:
			a->roles = m;
			break;
		case MSG_COUNTS:
			a->counts = m;
			break;
		case MSG_LACKS:
			a->lacks = m;
			break;
		case MSG_RECOVERED:
			if (a->nrecovered < ASK_MOST_RECOVERED)
				a->recovered[a->nrecovered++] = m;
			break;
		case MSG_COUNTED:
			if (m.nfd != 1 || a->ncounted == ASK_MOST_COUNTED)
				break;
			a->counted[a->ncounted++] = m;
			continue;
		case MSG_SHARED:
			msg_close_fds(&a->shared);
			a->shared = m;
			continue;
		case MSG_CRASHED_TOLD:
			a->crashed = true;
			break;
		case MSG_RELOAD:
			a->reload = true;
			break;
		default:
			a->stop = true;
		}
		msg_close_fds(&m);
	}
	return 0;
}

static enum ask_cost cost_of(const struct msg *m)
{
	if (m->type != MSG_RUN_JOB)
		return ASK_PROOFS;	/* before anything is swapped */
	switch ((enum job_kind)m->num[MSG_RUN_JOB_kind]) {
	case JOB_ANALYZE:
	case JOB_SIGNATURE:
	case JOB_INHERIT:
	case JOB_DERIVED:
	case JOB_MAP:
		return ASK_ANALYSES;
	case JOB_OPTIMIZE:
	case JOB_INSTRUMENT:
	case JOB_COUNTS:
		return ASK_LAYOUTS;
	case JOB_VERIFY:
		return ASK_PROOFS;
	case JOB_INTERPRET:
		return ASK_REGISTERS;
	default:
		return ASK_OTHERS;
	}
}

/* Sends *m and waits.  0: a->reply is filled and its `nfd` descriptors are the caller's; with
 * ANY_NFD there may be one or none. */
static int ask(struct ask *a, struct msg *m, int nfd, struct err *err)
{
	assert(!a->waiting && !a->quick);
	if (a->stop)
		return err_set(err, ERR_SYS, "morphd is stopping");
	m->serial = ++a->serial;
	if (msg_send(a->sock, m, err) < 0)
		return -1;
	a->waiting = true;
	a->dropped = false;
	a->yield = (struct yield){ 0 };
	while (a->waiting && !a->stop)
		a->turn(a->ctx);
	a->droppable = false;
	if (a->waiting) {
		a->waiting = false;
		return err_set(err, ERR_SYS, "morphd is stopping");
	}
	struct msg *r = &a->reply;
	a->job_cpu_ms += r->num[MSG_REPLY_cpu_ms];
	a->cost_ms[cost_of(m)] += r->num[MSG_REPLY_cpu_ms];
	if (r->num[MSG_REPLY_exit_code] == JOB_NOT_RUN)
		(void)snprintf(a->not_run, sizeof(a->not_run), "%.150s", r->text);
	else if (m->type == MSG_RUN_JOB || m->type == MSG_INSTALL)
		a->not_run[0] = '\0';
	if (r->num[MSG_REPLY_status] == ERR_NONE &&
	    (r->nfd == nfd || (nfd == ANY_NFD && r->nfd <= 1)))
		return 0;
	if (r->num[MSG_REPLY_status] == ERR_NONE)
		err_set(err, ERR_SYS, "%s was answered with %d descriptors", msg_name(m->type),
			r->nfd);
	else
		err_set(err, (enum err_kind)r->num[MSG_REPLY_status], "%s", r->text);
	msg_close_fds(r);
	return -1;
}

static int set_path(struct msg *m, const char *path, struct err *err)
{
	size_t n = strlen(path);

	if (n > MSG_MAX_TEXT)
		return err_set(err, ERR_USAGE, "a path longer than %d bytes", MSG_MAX_TEXT);
	memcpy(m->text, path, n + 1);
	return 0;
}

static int ask_fd(struct ask *a, struct msg *m, struct err *err)
{
	return ask(a, m, 1, err) < 0 ? -1 : a->reply.fd[0];
}

int ask_open_file(struct ask *a, const char *path, struct err *err)
{
	struct msg m = { .type = MSG_OPEN_FILE };

	return set_path(&m, path, err) < 0 ? -1 : ask_fd(a, &m, err);
}

int ask_open_policy(struct ask *a, struct err *err)
{
	struct msg m = { .type = MSG_OPEN_POLICY };

	return ask_fd(a, &m, err);
}

int ask_open_original(struct ask *a, const struct digest *d, struct err *err)
{
	struct msg m = { .type = MSG_OPEN_ORIGINAL, .digest = { *d } };

	return ask_fd(a, &m, err);
}

/* What the next question is about as well. */
static int tell_names(struct ask *a, const struct names *names, struct err *err)
{
	for (unsigned i = 0; names && !a->stop && i < names->n; i++) {
		struct msg m = { .type = MSG_NAME };

		if (set_path(&m, names_at(names, i), err) < 0 || msg_send(a->sock, &m, err) < 0)
			return -1;
	}
	return 0;
}

int ask_check(struct ask *a, const char *path, const struct names *names, bool hard_links,
	      struct err *err)
{
	struct msg m = { .type = MSG_CHECK };

	m.num[MSG_CHECK_hard_links] = hard_links;
	return set_path(&m, path, err) < 0 || tell_names(a, names, err) < 0 ? -1 :
	       ask(a, &m, 0, err);
}

/* What it makes is kept nowhere else, and nothing waits for it but its request. */
static bool is_droppable(enum job_kind kind)
{
	return kind == JOB_OPTIMIZE || kind == JOB_VERIFY || kind == JOB_SYMBOLS ||
	       kind == JOB_DISASSEMBLE || kind == JOB_PLACED || kind == JOB_EXPLAIN ||
	       kind == JOB_ANNOTATE || kind == JOB_PLACES || kind == JOB_EXPORT;
}

int ask_run_job(struct ask *a, const struct ask_job *job, const struct ask_limits *limits,
		int *out, int nout, struct err *err)
{
	struct msg m = { .type = MSG_RUN_JOB, .nfd = job->nin };

	m.num[MSG_RUN_JOB_kind] = job->kind;
	a->droppable = is_droppable(job->kind);
	m.num[MSG_RUN_JOB_memory_mib] = limits->memory_mib;
	m.num[MSG_RUN_JOB_cpu_s] = limits->cpu_s;
	m.num[MSG_RUN_JOB_a] = job->a;
	m.num[MSG_RUN_JOB_b] = job->b;
	m.num[MSG_RUN_JOB_background] = a->yields != YIELD_NEVER;
	(void)snprintf(m.text, 64, "%s", job->passes ? job->passes : "");	/* shorter */
	for (int i = 0; i < job->nin; i++)
		m.fd[i] = job->in[i];
	if (ask(a, &m, nout, err) < 0)
		return -1;
	memcpy(out, a->reply.fd, sizeof(int) * (size_t)nout);
	return 0;
}

int ask_install(struct ask *a, const struct ask_install *i, const struct ask_limits *limits,
		struct err *err)
{
	struct msg m = { .type = MSG_INSTALL, .nfd = 1, .fd = { i->generation_fd },
			 .digest = { i->expected, i->original, i->generation } };

	a->droppable = true;		/* while it is proven */
	m.num[MSG_INSTALL_hard_links] = i->hard_links;
	m.num[MSG_INSTALL_counting] = i->counting;
	m.num[MSG_INSTALL_memory_mib] = limits->memory_mib;
	m.num[MSG_INSTALL_cpu_s] = limits->cpu_s;
	m.num[MSG_INSTALL_background] = a->yields != YIELD_NEVER;
	return set_path(&m, i->path, err) < 0 || tell_names(a, i->names, err) < 0 ? -1 :
	       ask(a, &m, 0, err);
}

int ask_restore(struct ask *a, const struct ask_restore *r, const struct ask_limits *limits,
		struct err *err)
{
	struct msg m = { .type = MSG_RESTORE, .nfd = r->map_fd >= 0, .fd = { r->map_fd },
			 .digest = { r->expected, r->original, r->generation } };

	m.num[MSG_RESTORE_memory_mib] = limits->memory_mib;
	m.num[MSG_RESTORE_cpu_s] = limits->cpu_s;
	m.num[MSG_RESTORE_background] = a->yields != YIELD_NEVER;
	m.num[MSG_RESTORE_dry_run] = r->dry_run;
	return set_path(&m, r->path, err) < 0 ? -1 : ask(a, &m, 0, err);
}

/* The numbers of all three begin alike. */
static int ask_live(struct ask *a, enum msg_type type, const struct ask_live *l,
		    const struct ask_limits *limits, struct err *err)
{
	struct msg m = { .type = type, .nfd = type != MSG_LIVE_TURNS,
			 .fd = { l->generation_fd },
			 .digest = { l->installed, l->original, l->generation } };

	static_assert((int)MSG_LIVE_COUNT_background == (int)MSG_LIVE_ON_background &&
		      (int)MSG_LIVE_TURNS_background == (int)MSG_LIVE_ON_background &&
		      (int)MSG_LIVE_TURNS_ms == (int)MSG_LIVE_COUNT_ms, "in lib/msg.def");
	m.num[MSG_LIVE_ON_pid] = (uint64_t)l->pid;
	m.num[MSG_LIVE_ON_start] = l->start;
	m.num[MSG_LIVE_ON_memory_mib] = limits->memory_mib;
	m.num[MSG_LIVE_ON_cpu_s] = limits->cpu_s;
	m.num[MSG_LIVE_ON_background] = a->yields != YIELD_NEVER;
	if (type != MSG_LIVE_ON)
		m.num[MSG_LIVE_COUNT_ms] = l->ms;
	return set_path(&m, l->path, err) < 0 ? -1 :
	       ask(a, &m, type == MSG_LIVE_COUNT ? ANY_NFD : 0, err);
}

int ask_live_on(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		char said[256], struct err *err)
{
	if (ask_live(a, MSG_LIVE_ON, l, limits, err) < 0)
		return -1;
	(void)snprintf(said, 256, "%.255s", a->reply.text);
	return 0;
}

int ask_live_count(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		   char said[256], int *counters, struct err *err)
{
	if (ask_live(a, MSG_LIVE_COUNT, l, limits, err) < 0)
		return -1;
	(void)snprintf(said, 256, "%.255s", a->reply.text);
	*counters = a->reply.nfd ? a->reply.fd[0] : -1;
	return 0;
}

int ask_live_turns(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		   char said[256], struct err *err)
{
	if (ask_live(a, MSG_LIVE_TURNS, l, limits, err) < 0)
		return -1;
	(void)snprintf(said, 256, "%.255s", a->reply.text);
	return 0;
}

int ask_live_off(struct ask *a, pid_t pid, const struct digest *generation, struct err *err)
{
	struct msg m = { .type = MSG_LIVE_OFF, .digest = { *generation } };

	m.num[MSG_LIVE_OFF_pid] = (uint64_t)pid;
	return ask(a, &m, 0, err);
}

int ask_live_list(struct ask *a, struct err *err)
{
	struct msg m = { .type = MSG_LIVE_LIST };

	return ask_fd(a, &m, err);
}

int ask_live_open(struct ask *a, const struct digest *generation, struct err *err)
{
	struct msg m = { .type = MSG_LIVE_OPEN, .digest = { *generation } };

	return ask_fd(a, &m, err);
}

int ask_sync(struct ask *a, int *states_fd, struct err *err)
{
	struct msg m = { .type = MSG_SYNC };

	if (ask(a, &m, ANY_NFD, err) < 0)
		return -1;
	*states_fd = a->reply.nfd ? a->reply.fd[0] : -1;
	return 0;
}

int ask_made_code(struct ask *a, const struct ask_made *made, uint32_t *owner, struct err *err)
{
	struct msg m = { .type = MSG_MADE_CODE };

	/* by the spool, which may say anything */
	if (made->pid < 1 || made->pid > INT32_MAX || made->at_ns > INT64_MAX)
		return err_set(err, ERR_INPUT, "no process of number %u", made->pid);
	m.num[MSG_MADE_CODE_pid] = made->pid;
	m.num[MSG_MADE_CODE_at_ns] = made->at_ns;
	m.num[MSG_MADE_CODE_max_bytes] = made->max_bytes;
	if (set_path(&m, made->dump, err) < 0 || ask(a, &m, 1, err) < 0)
		return -1;
	*owner = (uint32_t)strtoul(a->reply.text, NULL, 10);
	return a->reply.fd[0];
}

int ask_config(struct ask *a, const struct ask_config *c, struct err *err)
{
	struct msg m = { .type = MSG_CONFIG };

	m.num[MSG_CONFIG_clock] = c->clock;
	m.num[MSG_CONFIG_rate_hz] = c->rate_hz;
	m.num[MSG_CONFIG_drain_s] = c->drain_s;
	m.num[MSG_CONFIG_spool_max_mib] = c->spool_max_mib;
	m.num[MSG_CONFIG_switched] = c->switched;
	m.num[MSG_CONFIG_stack_bytes] = c->stack_bytes;
	m.num[MSG_CONFIG_memory] = c->memory;
	m.num[MSG_CONFIG_branches_hz] = c->branches_hz;
	return msg_send(a->sock, &m, err);
}

int ask_registers(struct ask *a, bool on, struct err *err)
{
	struct msg m = { .type = MSG_REGISTERS };

	m.num[MSG_REGISTERS_on] = on;
	return msg_send(a->sock, &m, err);
}

int ask_pause(struct ask *a, bool on, struct err *err)
{
	struct msg m = { .type = MSG_PAUSE };

	m.num[MSG_PAUSE_on] = on;
	return msg_send(a->sock, &m, err);
}

int ask_yield(struct ask *a, enum yield_act act, struct err *err)
{
	struct msg m = { .type = MSG_YIELD, .serial = a->serial };

	m.num[MSG_YIELD_act] = act;
	return msg_send(a->sock, &m, err);
}

void ask_drop(struct ask *a)
{
	struct err ignored;

	if (!a->waiting || !a->droppable || a->dropped)
		return;
	a->dropped = true;
	(void)ask_yield(a, YIELD_GIVE_UP, &ignored);	/* then it ends by itself */
}

int ask_share(struct ask *a, const char *conninfo, int request_fd, struct err *err)
{
	struct msg m = { .type = MSG_SHARE, .nfd = 1, .fd = { request_fd } };

	(void)snprintf(m.text, 1024, "%s", conninfo);	/* the policy's are shorter */
	return msg_send(a->sock, &m, err);
}
