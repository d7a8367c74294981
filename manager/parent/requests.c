/* requests.c - what the parent does for the manager, and what it refuses
 *
 * The manager may have been taken over by what it reads.  So every request is checked here as
 * if it came from an enemy:
 *
 *	which files	open_elf(): only programs and libraries in ELF, in the folders that
 *			root's command line allows (folders.c), so nothing secret
 *	jobs		job.c: a cage before the program starts, and limits of memory, time
 *			and output
 *	content		prove_install(): a sealed file, proven by a verifier that this process
 *			starts, before finish_install(); install.c takes all digests anew
 *	the path	install_file.c, install.c: what may be replaced, and by what; its
 *			other names only as far as they are found to be the same file's
 *			(install_set.c)
 *	what comes back	install.c: only what root's own ledger binds to the path (ledger.h)
 *	processes	prove_live(): a sealed file, proven for them by such a verifier, of an
 *			original that the ledger knows; livework.c maps it, and takes it out
 *			before its program's file is replaced (take_out_next()); one that
 *			counts, for seconds only
 *	made code	madefile.c: what a process has written of it, as its own user and
 *			nobody else would read it, a copy of some size
 *	order		requests_take(): one request at a time; a second one is a lie
 *
 * Whatever is swapped, restored or refused is logged here, by root.
 *
 * Tested by tests/unit/manager/parent/test_requests.c, tests/e2e/hostile/.
 */
#include "manager/parent/requests.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/counting.h"
#include "manager/parent/folders.h"
#include "manager/parent/install.h"
#include "manager/parent/ledger.h"
#include "manager/parent/livework.h"
#include "manager/parent/program.h"
#include "manager/parent/requests_log.h"

enum { SYNC_MS = 30000, WALL_FACTOR = 4, WALL_EXTRA_S = 60 };
enum { COUNTING = 1, LIVE = 2 };	/* of JOB_VERIFY */
static const uint64_t max_file_bytes = (uint64_t)1 << 30;

/* What was given up has taken its time as well. */
static void end_job(struct requests *p)
{
	if (p->job)
		p->job_cpu_ms += job_end(p->job);
	job_free(p->job);
	p->job = NULL;
}

static void forget(struct requests *p)
{
	end_job(p);
	livework_leave(p->live);
	madefile_end(&p->made);
	msg_close_fds(&p->request);
	p->names.n = p->names.bytes = p->name_at = 0;
	p->busy = p->syncing = false;
}

static int reply(struct requests *p, enum err_kind kind, int exit_code, const char *reason,
		 int nfd,  const int *fd, struct err *err)
{
	struct msg m = { .type = MSG_REPLY, .serial = p->request.serial, .nfd = nfd };

	m.num[MSG_REPLY_status] = kind;
	m.num[MSG_REPLY_exit_code] = p->not_run ? JOB_NOT_RUN : (uint64_t)exit_code;
	p->not_run = false;
	end_job(p);
	m.num[MSG_REPLY_cpu_ms] = p->job_cpu_ms < UINT32_MAX ? p->job_cpu_ms : UINT32_MAX;
	p->job_cpu_ms = 0;
	for (size_t i = 0; i < MSG_MAX_TEXT && reason[i]; i++)
		m.text[i] = reason[i];
	for (int i = 0; i < nfd; i++)
		m.fd[i] = fd[i];
	forget(p);
	return msg_send(p->reply_sock, &m, err);
}

static int reply_err(struct requests *p, const struct err *why, struct err *err)
{
	return reply(p, why->kind, err_exit_code(why), why->text, 0, NULL, err);
}

/* With what was done, or would be, under other names. */
static int reply_done(struct requests *p, const struct install_done *done, struct err *err)
{
	char text[1024];

	install_done_text(done, text, sizeof(text));
	return reply(p, ERR_NONE, 0, text, 0, NULL, err);
}

/* Hands over fd, which the parent then closes, with a text; fd < 0: *why says what happened. */
static int reply_fd_with(struct requests *p, int fd, const char *text, const struct err *why,
			 struct err *err)
{
	if (fd < 0)
		return reply_err(p, why, err);
	int rc = reply(p, ERR_NONE, 0, text, 1, &fd, err);
	close(fd);
	return rc;
}

static int reply_fd(struct requests *p, int fd, const struct err *why, struct err *err)
{
	return reply_fd_with(p, fd, "", why, err);
}

/* In a folder for programs; or one that was swapped, before root took its folder off the
 * command line: its original can still be wanted back. */
static bool may_open(const struct requests *p, const char *path, struct err *err)
{
	return folders_check(p->options->folders, path, err) == 0 ||
	       (folders_spelled(path, NULL) == 0 && ledger_knows(p->ledger_fd, path, NULL) > 0);
}

/* Programs and libraries only: whatever the manager may be made to ask for, nothing secret
 * is of that form. */
static int open_elf(const struct requests *p, const char *path, struct err *err)
{
	return may_open(p, path, err) ? program_open_elf(path, err) : -1;
}

/* A generation for a running process; the numbers of all three begin alike. */
static bool is_live(const struct msg *m)
{
	static_assert((int)MSG_LIVE_COUNT_background == (int)MSG_LIVE_ON_background &&
		      (int)MSG_LIVE_TURNS_background == (int)MSG_LIVE_ON_background &&
		      (int)MSG_LIVE_TURNS_ms == (int)MSG_LIVE_COUNT_ms, "in lib/msg.def");
	return m->type == MSG_LIVE_ON || m->type == MSG_LIVE_COUNT || m->type == MSG_LIVE_TURNS;
}

/* What takes the file at a path away, once that is proven to be right. */
static bool is_swap(const struct msg *m)
{
	return m->type == MSG_INSTALL ||
	       (m->type == MSG_RESTORE && !m->num[MSG_RESTORE_dry_run]);
}

static struct job *start(const struct requests *p, enum job_kind kind, const int *in, int nin,
			 unsigned memory_mib, unsigned cpu_s, const struct msg *m,
			 struct err *err)
{
	struct job_spec spec = {
		.kind = kind, .morph_edit = p->options->morph_edit,
		.morph_verify = p->options->morph_verify, .user = p->job_user,
		.memory_bytes = (uint64_t)memory_mib << 20, .file_bytes = max_file_bytes,
		.cpu_s = cpu_s, .wall_s = WALL_FACTOR * cpu_s + WALL_EXTRA_S, .nin = nin,
	};

	for (int i = 0; i < nin; i++)
		spec.in[i] = in[i];
	spec.background = m->num[m->type == MSG_INSTALL	  ? MSG_INSTALL_background
				 : m->type == MSG_RESTORE ? MSG_RESTORE_background
				 : is_live(m)		  ? MSG_LIVE_ON_background
							  : MSG_RUN_JOB_background] != 0;
	if (m->type == MSG_INSTALL)
		spec.a = m->num[MSG_INSTALL_counting] ? COUNTING : 0;
	if (is_live(m))
		spec.a = m->type == MSG_LIVE_COUNT ? LIVE | COUNTING : LIVE;
	if (m->type == MSG_RUN_JOB) {
		spec.a = m->num[MSG_RUN_JOB_a];
		spec.b = m->num[MSG_RUN_JOB_b];
		spec.passes = m->text;
	}
	return job_start(&spec, err);
}

static int run_job(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };

	static_assert((int)JOB_EXPORT == 17, "the last one for the manager, in lib/msg.def");
	p->job = start(p, (enum job_kind)m->num[MSG_RUN_JOB_kind], m->fd, m->nfd,
		       (unsigned)m->num[MSG_RUN_JOB_memory_mib],
		       (unsigned)m->num[MSG_RUN_JOB_cpu_s], m, &why);
	return p->job ? 0 : reply_err(p, &why, err);
}

/* The file at the path of the request, with the very content that the manager named. */
static int open_expected(const struct requests *p, const struct msg *m, struct err *err)
{
	struct digest d;
	int fd = open_elf(p, m->text, err);

	if (fd < 0)
		return -1;
	int rc = digest_fd(fd, &d, err);
	if (rc == 0 && !digest_equal(&d, &m->digest[0]))
		rc = err_set(err, ERR_REFUSED, "'%s': changed meanwhile", m->text);
	if (rc < 0)
		close(fd);
	return rc < 0 ? -1 : fd;
}

/* The original that the proof is about: what is at the path, or what the ledger says is the
 * original of that. */
static int open_proof_original(const struct requests *p, const struct msg *m, struct err *err)
{
	if (folders_check(p->options->folders, m->text, err) < 0)
		return -1;
	if (digest_equal(&m->digest[0], &m->digest[1]))
		return open_expected(p, m, err);
	if (install_bound(p->ledger_fd, m->text, &m->digest[0], &m->digest[1], err) < 0)
		return -1;
	return install_open_original(p->originals_fd, &m->digest[1], err);
}

/* The request is answered with the reason, which is logged; a swap may have left traces. */
static int refuse(struct requests *p, const struct err *why, struct err *err)
{
	requests_log_refused(&p->request, why);
	p->swap_failed |= is_swap(&p->request);
	return reply_err(p, why, err);
}

/* digest[]: expected at the path, original, generation.  First the proof, see
 * finish_install(). */
static int prove_install(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };
	int original, in[2];

	if (m->nfd != 1)
		return err_set(err, ERR_INPUT, "INSTALL without a generation");
	if (!io_is_sealed(m->fd[0]))
		return err_set(err, ERR_INPUT, "INSTALL of a file that could still change");
	original = open_proof_original(p, m, &why);
	if (original < 0)
		return refuse(p, &why, err);
	in[0] = original;
	in[1] = m->fd[0];
	p->job = start(p, JOB_VERIFY, in, 2, (unsigned)m->num[MSG_INSTALL_memory_mib],
		       (unsigned)m->num[MSG_INSTALL_cpu_s], m, &why);
	close(original);
	return p->job ? 0 : refuse(p, &why, err);
}

static void forget_counting(struct requests *p, const struct install_done *done)
{
	counting_forget(p->counting, p->request.text);
	for (unsigned i = 0; i < done->also.n; i++)
		counting_forget(p->counting, names_at(&done->also, i));
}

static int finish_install(struct requests *p, const struct job_result *proof, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };
	uint64_t at = 0, size = 0;
	bool counts = m->num[MSG_INSTALL_counting] != 0;

	if (proof->exit_code) {
		err_set(&why, job_proof_kind(proof), "'%s': not proven to be the same program: "
			"%s", m->text, proof->reason);
		return refuse(p, &why, err);
	}
	/* What would count for nobody is not installed. */
	if (counts && (counting_find(proof->out[0], m->text, &at, &size, &why) < 0 ||
		       counting_may_watch(p->counting, m->text, at, size, &why) < 0))
		return refuse(p, &why, err);
	struct install_done done;
	struct install_request r = {
		.path = m->text, .expected = m->digest[0], .original = m->digest[1],
		.generation = m->digest[2], .generation_fd = m->fd[0],
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd,
		.names = &p->names, .done = &done,
		.allow_hard_links = m->num[MSG_INSTALL_hard_links] != 0,
	};
	if (install_generation(&r, &why) < 0)
		return refuse(p, &why, err);
	requests_log_done(&p->request, &done);
	forget_counting(p, &done);
	if (counts && counting_watch(p->counting, m->text, &m->digest[2], at, size, &why) < 0)
		role_warn("it counts for nobody: %s", why.text);
	return reply_done(p, &done, err);
}

/* No list of folders here: the ledger knows the path, and who took a folder off the command
 * line wants the originals in it back. */
static int restore(struct requests *p, bool edited, struct err *err)
{
	const struct msg *m = &p->request;
	struct install_done done;
	struct restore_request r = {
		.path = m->text, .expected = m->digest[0], .original = m->digest[1],
		.edited = edited ? &m->digest[2] : NULL,
		.dry_run = !is_swap(m), .done = &done,
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd,
	};
	struct err why = { 0 };

	if (install_restore(&r, &why) < 0)
		return refuse(p, &why, err);
	requests_log_done(&p->request, &done);
	if (is_swap(m))
		forget_counting(p, &done);
	return reply_done(p, &done, err);
}

/* digest[]: expected at the path, original, the generation that the ledger knows.  When the
 * first and the last differ, somebody edited the generation, which is to be shown, with the
 * generation's block map: see finish_restore(). */
static int prove_restore(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };
	int in[3] = { -1, -1, -1 };

	if (digest_equal(&m->digest[0], &m->digest[2]))
		return restore(p, false, err);
	if (m->nfd != 1)
		return err_set(err, ERR_INPUT, "RESTORE over another file without a map");
	if (install_bound(p->ledger_fd, m->text, &m->digest[2], &m->digest[1], &why) < 0)
		return refuse(p, &why, err);
	in[0] = install_open_original(p->originals_fd, &m->digest[1], &why);
	in[1] = in[0] < 0 ? -1 : open_expected(p, m, &why);
	in[2] = m->fd[0];
	if (in[1] >= 0)
		p->job = start(p, JOB_DERIVED, in, 3, (unsigned)m->num[MSG_RESTORE_memory_mib],
			       (unsigned)m->num[MSG_RESTORE_cpu_s], m, &why);
	for (int i = 0; i < 2; i++)
		if (in[i] >= 0)
			close(in[i]);
	return p->job ? 0 : refuse(p, &why, err);
}

static int finish_restore(struct requests *p, const struct job_result *proof, struct err *err)
{
	struct err why = { 0 };

	if (proof->exit_code == 0)
		return restore(p, true, err);
	err_set(&why, job_proof_kind(proof), "'%s': not shown to be an edited generation: %s",
		p->request.text, proof->reason);
	return refuse(p, &why, err);
}

/* --- running processes --- */

/* digest[]: what is at the path, its original, the one to be mapped. */
static int map_live(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	unsigned ms = (unsigned)m->num[MSG_LIVE_COUNT_ms];
	struct livebook_entry e = { .pid = (pid_t)m->num[MSG_LIVE_ON_pid],
				    .start = m->num[MSG_LIVE_ON_start],
				    .original = m->digest[1], .generation = m->digest[2] };
	struct err why = { 0 };

	memcpy(e.path, m->text, sizeof(m->text));
	int rc = m->type == MSG_LIVE_ON ? livework_on(p->live, &e, m->fd[0], &why) :
		 m->type == MSG_LIVE_COUNT ?
			 livework_count(p->live, &e, m->fd[0], ms, &why) :
			 livework_turns(p->live, &e, m->fd[0], ms, &why);
	return rc == 0 ? 0 : refuse(p, &why, err);
}

/* The original: what the ledger says is that of the generation at the path; for counting the
 * file itself will do, for nothing of it stays.  *owner: whose program it is. */
static int open_live_original(const struct requests *p, const struct msg *m, uint32_t *owner,
			      struct err *err)
{
	struct ledger_entry e;
	struct stat st;

	if (folders_check(p->options->folders, m->text, err) < 0)
		return -1;
	if (m->type == MSG_LIVE_COUNT && digest_equal(&m->digest[0], &m->digest[1])) {
		int fd = open_expected(p, m, err);

		*owner = fd >= 0 && fstat(fd, &st) == 0 ? st.st_uid : UINT32_MAX;
		return fd;
	}
	if (install_bound(p->ledger_fd, m->text, &m->digest[0], &m->digest[1], err) < 0 ||
	    ledger_find(p->ledger_fd, m->text, &m->digest[0], &e, err) != 1)
		return -1;
	*owner = e.owner;
	return install_open_original(p->originals_fd, &m->digest[1], err);
}

static struct livework_proof live_proof(const struct msg *m)
{
	return (struct livework_proof){ m->digest[1], m->digest[2],
					m->type == MSG_LIVE_COUNT };
}

/* What a process has is in root's own folder: the manager names it only. */
static int take_live_file(struct requests *p, struct err *err)
{
	struct msg *m = &p->request;

	if (m->type != MSG_LIVE_TURNS)
		return 0;
	m->fd[0] = livework_open_file(p->live, &m->digest[2], err);
	m->nfd = m->fd[0] >= 0;
	return m->nfd ? 0 : -1;
}

static int prove_live(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct livework_proof proof = live_proof(m);
	struct err why = { 0 };
	struct digest d;
	uint32_t owner;
	int in[2] = { -1, -1 };

	if (take_live_file(p, &why) < 0)
		return refuse(p, &why, err);
	if (m->nfd != 1 || (m->type != MSG_LIVE_TURNS && !io_is_sealed(m->fd[0])))
		return err_set(err, ERR_INPUT, "%s of a file that could still change",
			       msg_name(m->type));
	in[1] = m->fd[0];
	in[0] = open_live_original(p, m, &owner, &why);
	int rc = in[0] < 0 ||
		 livework_check_owner((pid_t)m->num[MSG_LIVE_ON_pid], m->num[MSG_LIVE_ON_start],
				      m->text, owner, &why) < 0 ||
		 digest_fd(m->fd[0], &d, &why) < 0 ? -1 : 0;
	if (rc == 0 && !digest_equal(&d, &m->digest[2]))
		rc = err_set(err, ERR_INPUT, "%s of another file than it says",
			     msg_name(m->type));
	else if (rc < 0)
		rc = refuse(p, &why, err);
	else if (livework_is_proven(p->live, &proof))
		rc = map_live(p, err);
	else if (!(p->job = start(p, JOB_VERIFY, in, 2,
				  (unsigned)m->num[MSG_LIVE_ON_memory_mib],
				  (unsigned)m->num[MSG_LIVE_ON_cpu_s], m, &why)))
		rc = refuse(p, &why, err);
	if (in[0] >= 0)
		close(in[0]);
	return rc;
}

static int finish_live(struct requests *p, const struct job_result *proof, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };

	if (proof->exit_code) {
		err_set(&why, job_proof_kind(proof), "'%s': not proven to be fit for running "
			"processes: %s", m->text, proof->reason);
		return refuse(p, &why, err);
	}
	end_job(p);
	const struct livework_proof what = live_proof(m);
	livework_proven(p->live, &what, proof->out[0]);
	return map_live(p, err);
}

/* A program that processes have a generation of is replaced only after they have given it
 * back, under whichever of its names.  One that cannot just now keeps it, and is asked again by
 * whoever looks at the list. */
static int take_out_next(struct requests *p, struct err *err)
{
	while (p->name_at <= p->names.n) {
		const char *path = p->name_at ? names_at(&p->names, p->name_at - 1)
					      : p->request.text;
		struct err why = { 0 };

		p->name_at++;
		if (livework_knows(p->live, path) &&
		    livework_off_path(p->live, path, &why) == 0)
			return 0;
		if (why.kind)
			requests_log_refused(&p->request, &why);
	}
	return p->request.type == MSG_INSTALL ? prove_install(p, err) : prove_restore(p, err);
}

/* Of what is swapped or put back: names as the manager has told them, or, for what comes back,
 * as root's ledger has them. */
static int begin_swap(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct ledger_entry e;
	struct err why;

	if (m->type == MSG_INSTALL &&
	    folders_check_names(p->options->folders, &p->names, &why) < 0)
		return refuse(p, &why, err);
	if (m->type == MSG_RESTORE &&
	    ledger_find(p->ledger_fd, m->text, &m->digest[2], &e, NULL) > 0)
		p->names = e.also;
	return is_swap(m) ? take_out_next(p, err) : prove_restore(p, err);
}

static int after_live(struct requests *p, struct livework_result *r, struct err *err)
{
	if (is_swap(&p->request))
		return take_out_next(p, err);
	if (r->err.kind)
		return reply_err(p, &r->err, err);
	if (r->list_fd >= 0)
		return reply_fd(p, r->list_fd, &r->err, err);
	int rc = reply(p, ERR_NONE, 0, r->said, r->counters_fd >= 0, &r->counters_fd, err);
	if (r->counters_fd >= 0)
		close(r->counters_fd);
	return rc;
}

/* Those that need no proof. */
static int begin_live(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	struct err why = { 0 };
	int rc = m->type == MSG_LIVE_LIST ? livework_list(p->live, &why) :
		 livework_off(p->live, (pid_t)m->num[MSG_LIVE_OFF_pid], &m->digest[0], &why);

	return rc == 0 ? 0 : refuse(p, &why, err);
}

static int check(struct requests *p, struct err *err)
{
	bool some = p->request.num[MSG_CHECK_hard_links] != 0;
	struct install_done done;
	char text[NAMES_BYTES];
	struct err why = { 0 };

	if (folders_check(p->options->folders, p->request.text, &why) < 0 ||
	    folders_check_names(p->options->folders, &p->names, &why) < 0 ||
	    install_check(p->request.text, &p->names, some, &done, &why) < 0)
		return reply_err(p, &why, err);
	names_lines(&done.also, text);
	return reply(p, ERR_NONE, 0, text, 0, NULL, err);
}

static int begin_made(struct requests *p, struct err *err)
{
	const struct msg *m = &p->request;
	const struct madefile_request r = { (pid_t)m->num[MSG_MADE_CODE_pid],
					    m->num[MSG_MADE_CODE_at_ns],
					    m->num[MSG_MADE_CODE_max_bytes], m->text,
					    p->job_user };
	struct err why = { 0 };

	return madefile_start(&p->made, &r, &why) < 0 ? reply_err(p, &why, err) : 0;
}

int requests_take(struct requests *p, struct msg *m, struct err *err)
{
	struct err why = { 0 };
	int fd;

	if (p->busy) {
		msg_close_fds(m);
		return err_set(err, ERR_INPUT,
			       "a second request before the first was answered");
	}
	if (m->type == MSG_NAME)
		return names_add(&p->names, m->text) < 0 ?
		       err_set(err, ERR_INPUT, "more names than a file may have") : 0;
	p->busy = true;
	p->request = *m;
	switch (m->type) {
	case MSG_OPEN_FILE:
		return reply_fd(p, open_elf(p, m->text, &why), &why, err);
	case MSG_OPEN_POLICY:
		fd = dropins_open(p->options->policy, ROLE_POLICY_MAX, &why);
		return reply_fd(p, fd, &why, err);
	case MSG_OPEN_ORIGINAL:
		fd = install_open_original(p->originals_fd, &m->digest[0], &why);
		return reply_fd(p, fd, &why, err);
	case MSG_CHECK:
		return check(p, err);
	case MSG_RUN_JOB:
		return run_job(p, err);
	case MSG_INSTALL:
	case MSG_RESTORE:
		return begin_swap(p, err);
	case MSG_LIVE_ON:
	case MSG_LIVE_COUNT:
	case MSG_LIVE_TURNS:
		return prove_live(p, err);
	case MSG_LIVE_OFF:
	case MSG_LIVE_LIST:
		return begin_live(p, err);
	case MSG_LIVE_OPEN:
		fd = livework_open_file(p->live, &m->digest[0], &why);
		return reply_fd(p, fd, &why, err);
	case MSG_MADE_CODE:
		return begin_made(p, err);
	case MSG_SYNC:
		p->syncing = true;
		p->sync = patience_begin(role_now_ms(), SYNC_MS);
		return 0;
	default:
		forget(p);
		return err_set(err, ERR_INPUT, "%s is no request", msg_name(m->type));
	}
}

int requests_step(struct requests *p, struct err *err)
{
	struct livework_result live;
	struct job_result result;
	struct err why = { 0 };
	char owner[MADEFILE_OWNER];
	int rc, fd;

	if (livework_step(p->live, &live))
		return after_live(p, &live, err);
	if (madefile_step(&p->made, &fd, owner, &why))
		return reply_fd_with(p, fd, owner, &why, err);
	if (p->syncing && patience_over(&p->sync, role_now_ms())) {
		p->monitor_silent = true;
		return requests_synced(p, false, "the monitor does not answer", -1, err);
	}
	if (!p->job || !job_step(p->job, &result))
		return 0;
	p->job_cpu_ms += result.cpu_ms;
	p->not_run = result.exit_code == JOB_NOT_RUN;
	if (p->request.type == MSG_INSTALL)
		rc = finish_install(p, &result, err);
	else if (p->request.type == MSG_RESTORE)
		rc = finish_restore(p, &result, err);
	else if (is_live(&p->request))
		rc = finish_live(p, &result, err);
	else
		rc = reply(p, job_err_kind(&result), result.exit_code, result.reason,
			   result.nout, result.out, err);
	job_result_close(&result);
	return rc;
}

int requests_yield(struct requests *p, const struct msg *m, struct err *err)
{
	struct err why = { 0 };

	if (m->serial != p->request.serial)
		return 0;
	uint64_t act = m->num[MSG_YIELD_act];
	if (!p->job && (act == YIELD_HURRY || act == YIELD_GIVE_UP))
		livework_hurry(p->live);	/* what was counted so far is of use */
	if (!p->job)
		return 0;
	switch (act) {
	case YIELD_STOP:
		job_stop(p->job);
		return 0;
	case YIELD_GO_ON:
		job_go_on(p->job);
		return 0;
	case YIELD_HURRY:
		job_hurry(p->job);
		return 0;
	default:
		err_set(&why, ERR_SYS, "given up: the machine is not idle any more, or nobody "
			"waits for it");
		return reply_err(p, &why, err);
	}
}

pid_t requests_job_pid(const struct requests *p)
{
	return p->job ? job_process(p->job) : 0;
}

int requests_synced(struct requests *p, bool ok, const char *reason, int states_fd,
		    struct err *err)
{
	if (!p->syncing)
		return 0;
	return reply(p, ok ? ERR_NONE : ERR_SYS, ok ? 0 : 1, reason, ok && states_fd >= 0,
		     &states_fd, err);
}

void requests_abort(struct requests *p)
{
	forget(p);
}

int requests_poll(const struct requests *p, struct pollfd f[2])
{
	f[0] = f[1] = (struct pollfd){ -1, 0, 0 };
	if (livework_busy(p->live)) {
		livework_poll(p->live, f);
		return -1;
	}
	if (p->job)
		return job_poll(p->job, f);
	if (p->made.child)
		return madefile_poll(&p->made, f);
	return p->syncing ? patience_poll(&p->sync) : -1;
}
