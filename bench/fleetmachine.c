/* fleetmachine.c - one machine of a fleet: what its Manager gives, or makes of what it takes
 *
 *	fleetmachine MORPH_SHARE CONNINFO FILE TABLE give SAMPLES [COUNTS]
 *	fleetmachine MORPH_SHARE CONNINFO FILE TABLE take OWN SAMPLES COUNTED
 *
 * The Manager's own code on a store of its own, with a parent made up here that starts
 * morph-share as the real one does.  TABLE is FILE's block table (morph-edit analyze --table).
 * `give` gives the profile SAMPLES as if it had just been sampled, COUNTS as if a counting
 * generation had just counted that; "" is none.  `take` has the samples of OWN, asks for the
 * fleet's, and writes what the Editor would get to lay FILE out: --profile SAMPLES --counted
 * COUNTED, which is empty if there is nothing.  Prints what came of the exchange, and what that
 * is made of.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"
#include "lib/io.h"
#include "lib/msg.h"
#include "lib/profile.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/policy.h"

enum { PARENT_FD = 3, LARGEST = 1 << 30 };

static struct ask ask;
static struct role_options options = { .foreground = true, .host = "/" };
static struct work w = { .options = &options, .ask = &ask, .now_ms = role_now_ms };
static struct store_module m;
static struct arena *a;
static struct err err;
static char dir[] = "/var/tmp/morph-machine-XXXXXX";
static const char *table_path;
static int parent;			/* its end of the socket */

static _Noreturn void leave(const char *what)
{
	(void)fprintf(stderr, "fleetmachine: %s: %s\n", what, err.text);
	exit(1);
}

static struct bytes file_of(const char *path)
{
	struct bytes b;
	int fd = io_open_read(path, &err);

	if (fd < 0 || io_read_all(fd, LARGEST, a, &b, &err) < 0)
		leave(path);
	close(fd);
	return b;
}

static void write_file(const char *path, const struct wr *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || io_write_all(fd, text->p, text->n, &err) < 0 || close(fd) < 0)
		leave(path);
}

/* --- services of the parent --- */

static int open_file(void *ctx, const char *path, struct err *e)
{
	(void)ctx;
	return io_open_read(path, e);
}

static int analyze(void *ctx, const char *path, int fd, struct wr *table, struct err *e)
{
	struct bytes b = file_of(table_path);

	(void)ctx, (void)path, (void)fd, (void)e;
	wr_raw(table, b.p, b.n);
	return 0;
}

static bool allows(void *ctx, const char *path)
{
	(void)ctx, (void)path;
	return true;
}

/* --- the machine --- */

static void make_policy(const char *conninfo, const char *path)
{
	char *text = arena_printf(a, "modules: {include: [\"%s\"], hard_links: true}\nshare:\n"
				     "  conninfo: \"%s\"\n  send: [\"%s\"]\n", path, conninfo,
				  path);

	w.policy = policy_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, "policy",
				&err);
	if (!w.policy)
		leave("policy");
}

static void make_machine(const char *conninfo, const char *path)
{
	const struct module_services by = { .open = open_file, .analyze = analyze,
					    .allows = allows };
	enum module_look how;
	uint64_t born;
	int pair[2];

	if (!mkdtemp(dir) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
		leave(dir);
	ask.sock = pair[1];
	parent = pair[0];
	options.store = dir;
	make_policy(conninfo, path);
	w.store = store_open(dir, &err);
	if (!w.store || store_born(w.store, &born, &err) < 0)
		leave(dir);
	w.modules = modules_new(w.store, &by);
	if (modules_look(w.modules, path, &how, &m, &err) < 0 ||
	    modules_analyze(w.modules, &m, &err) <= 0)
		leave(path);
}

static void remove_machine(void)
{
	char command[sizeof(dir) + 16];

	store_close(w.store);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	(void)system(command);
}

static struct blocktable table_of_module(void)
{
	struct blocktable t;

	if (work_table(&w, &m, &t, &err) < 0)
		leave(m.path);
	return t;
}

/* As attribute_resolve() would have made it of a spool. */
static struct attribute_module sampled(const char *path)
{
	struct attribute_module out = { .module = (uint64_t)m.id };
	struct blocktable t = table_of_module();
	struct profile p;

	if (profile_read(file_of(path), a, &p, &err) < 0 ||
	    edgecounts_of(&p, &t, &out.edges, &err) < 0)
		leave(path);
	out.count = arena_array(a, p.nblock, sizeof(*out.count));
	for (uint32_t i = 0; i < p.nblock; i++) {
		uint32_t b = blocktable_find(&t, p.block[i].addr);

		if (b != UINT32_MAX)
			out.count[out.ncount++] =
				(struct blockcount){ b, (uint32_t)p.block[i].samples };
		out.samples += (uint64_t)p.block[i].samples;
	}
	blocktable_free(&t);
	return out;
}

static void give_samples(const char *path)
{
	struct attribute_module s = sampled(path);

	work_fleet_seen(&w, &(struct attribution){ .nmodule = 1, .module = &s });
}

static void have_samples(const char *path)
{
	struct attribute_module s = sampled(path);
	struct store_profile p = { .ncount = s.ncount };

	p.count = arena_array(a, s.ncount, sizeof(*p.count));
	for (uint32_t i = 0; i < s.ncount; i++)
		p.count[i] = (struct store_count){ s.count[i].block,
						   (uint64_t)s.count[i].samples * STORE_UNIT };
	edgecounts_add(&p.edges, &s.edges, STORE_UNIT);
	if (store_profile_put(w.store, m.id, &p, 0, &err) < 0)
		leave(path);
}

static void give_counts(const char *path)
{
	struct store_counting c = { .module = m.id, .original = m.original, .runs = 1 };
	struct bytes b = file_of(path);
	struct wr text = { 0 };

	wr_raw(&text, b.p, b.n);
	if (work_evidence_keep(&w, &m, &c, &text, &err) < 0)
		leave(path);
	wr_free(&text);
}

/* --- an exchange --- */

/* The parent's part of it: the request to morph-share, its answer to the Manager. */
static void carry(const char *morph_share)
{
	struct msg q = { 0 }, r = { 0 };
	int pair[2];

	if (msg_receive(parent, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &q, &err) != 1 ||
	    q.type != MSG_SHARE || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		leave("request");
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(pair[1], PARENT_FD) == PARENT_FD)
			execl(morph_share, "morphd: share", "exchange", NULL);
		_exit(127);
	}
	close(pair[1]);
	q.type = MSG_EXCHANGE;
	if (msg_send(pair[0], &q, &err) < 0 ||
	    msg_receive(pair[0], MSG_ROLE_SHARE, MSG_ROLE_PARENT, &r, &err) != 1)
		leave("exchange");
	(void)waitpid(pid, NULL, 0);
	close(pair[0]);
	r.type = MSG_SHARED;
	if (msg_send(parent, &r, &err) < 0 || ask_receive(&ask, &err) < 0)
		leave("answer");
}

static void exchange(const char *morph_share)
{
	if (work_fleet_now(&w, &err) < 0)
		leave("exchange");
	carry(morph_share);
	work_fleet_answer(&w);
	if (w.fleet.trouble[0]) {
		err_set(&err, ERR_SYS, "%s", w.fleet.trouble);
		leave("exchange");
	}
	printf("given %u, refused %u, taken %u, left out %u\n", w.fleet.taken,
	       w.fleet.refused, w.fleet.fleet, w.fleet.left_out);
}

/* --- what it is laid out by --- */

static void write_evidence(const char *samples, const char *counted)
{
	char of_counts[WORK_COUNTED_MAX], of_fleet[96];
	struct work_evidence e = { 0 };
	struct wr text = { 0 }, counts = { 0 };

	if (work_profile(&w, &m, &e, &text, &err) < 0 ||
	    work_evidence_text(&w, &m, w.policy, &e.profile, &counts, of_counts, &err) < 0)
		leave("evidence");
	work_fleet_text(&e.fleet, of_fleet, sizeof(of_fleet));
	printf("%.0f samples%s%s%s\n", e.own, of_fleet,
	       of_counts[0] ? " and the counts of " : "", of_counts);
	write_file(samples, &text);
	write_file(counted, &counts);
	wr_free(&text);
	wr_free(&counts);
	work_evidence_free(&e);
}

int main(int argc, char **argv)
{
	bool give = argc >= 7 && strcmp(argv[5], "give") == 0;

	if (!give && !(argc == 9 && strcmp(argv[5], "take") == 0)) {
		(void)fputs("usage: fleetmachine MORPH_SHARE CONNINFO FILE TABLE "
			    "give SAMPLES [COUNTS] | take OWN SAMPLES COUNTED\n", stderr);
		return 2;
	}
	a = arena_new();
	table_path = argv[4];
	make_machine(argv[2], argv[3]);
	if (give) {
		if (argv[6][0])
			give_samples(argv[6]);
		if (argc > 7)
			give_counts(argv[7]);
		exchange(argv[1]);
	} else {
		have_samples(argv[6]);
		exchange(argv[1]);
		write_evidence(argv[7], argv[8]);
	}
	remove_machine();
	arena_free(a);
	return 0;
}
