/* main.c - morph-share: everything of Morph that talks to a database over a network
 *
 *	morph-share exchange		the role `morphd: share`, started by the parent for
 *					one exchange: a request comes as a message, an
 *					answer goes back
 *	morph-share init CONNINFO	makes the fleet's schema, or brings it up to date
 *	morph-share test CONNINFO	says in a line what works and what does not
 *
 * Made of share/ and lib/ alone.  libpq and what it is made of are here and nowhere else: this
 * process reads nothing of the machine but how to reach the server, and what it hands back is
 * read as a stranger's.
 *
 * Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confine.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/msg.h"
#include "lib/say.h"
#include "lib/usage.h"
#include "share/db.h"
#include "share/exchange.h"
#include "share/schema.h"
#include "share/tryout.h"

enum {
	PARENT_FD = 3, EXCHANGE_MS = 300000, INIT_MS = 600000, TEST_MS = 30000,
	MEMORY_BYTES = 1 << 30,		/* what a server can make us take */
	ROLE_CPU_S = 30, HAND_CPU_S = 5,	/* and compute; chosen */
};

static const char usage[] = "exchange | init CONNINFO | test [--user=NAME] CONNINFO";

/* No core files, no new privileges, no endless memory, no endless computing, which ends by
 * SIGXCPU. */
static int limit(rlim_t cpu_s, struct err *err)
{
	const struct rlimit none = { 0, 0 }, cpu = { cpu_s, cpu_s + 5 };
#ifndef MORPH_SANITIZED
	const struct rlimit memory = { MEMORY_BYTES, MEMORY_BYTES };

	if (setrlimit(RLIMIT_AS, &memory) < 0)
		return err_set(err, ERR_SYS, "setrlimit: %s", strerror(errno));
#endif
	if (setrlimit(RLIMIT_CPU, &cpu) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_set(err, ERR_SYS, "prctl: %s", strerror(errno));
	return 0;
}

static int confine(rlim_t cpu_s, struct err *err)
{
	if (limit(cpu_s, err) < 0)
		return -1;
	return confine_role(CONFINE_SHARE, NULL, NULL, err) < 0 ? -1 : 0;
}

/* --- the role --- */

static int work(const struct msg *m, struct arena *a, struct wr *out, struct err *err)
{
	struct fleet_request q;
	struct fleet_answer answer = { 0 };
	struct db db = { .deadline_ms = db_now_ms() + EXCHANGE_MS };
	struct bytes b;

	if (io_read_all(m->fd[0], FLEET_FILE_MAX, a, &b, err) < 0 ||
	    fleet_request_read(b, a, &q, err) < 0)
		return -1;
	int rc = db_open(&db, m->text, err);
	if (rc == 0)
		rc = exchange(&db, &q, a, &answer, err);
	db_close(&db);
	fleet_answer_write(&answer, out);
	return rc;
}

static int answer_file(struct bytes answer, struct err *err)
{
	int fd = io_memory_file(answer, err);

	if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE |
			    F_SEAL_SEAL) == 0)
		return fd;
	close(fd);
	return -1;
}

static int run_exchange(void)
{
	struct msg m = { 0 }, said = { .type = MSG_EXCHANGED };
	struct err err = { 0 };
	struct wr answer = { 0 };

	if (confine(ROLE_CPU_S, &err) < 0 ||
	    msg_receive(PARENT_FD, MSG_ROLE_PARENT, MSG_ROLE_SHARE, &m, &err) != 1) {
		say_line(stderr, "morph-share: %s",
			 err.text[0] ? err.text : "started without its parent");
		return 1;
	}
	if (m.type != MSG_EXCHANGE || m.nfd != 1)
		return 1;
	struct arena *a = arena_new();
	if (work(&m, a, &answer, &err) < 0) {
		said.num[MSG_EXCHANGED_status] = err.kind;
		(void)snprintf(said.text, 1024, "%s", err.text);
	}
	said.fd[0] = answer_file(wr_bytes(&answer), &err);
	said.nfd = said.fd[0] >= 0;
	int rc = msg_send(PARENT_FD, &said, &err);
	wr_free(&answer);
	arena_free(a);
	return rc < 0;
}

/* --- by hand --- */

static struct {
	struct db db;
	int to;				/* a descriptor */
	const char *begin;		/* of what is said there when it fails */
} hand;

static void say_text(const char *text)
{
	(void)!write(hand.to, text, strlen(text));	/* nowhere else to say it */
}

/* libpq computes without end: nothing of it can be used any more. */
static void too_long(int sig)
{
	(void)sig;
	say_text(hand.begin);
	say_text("connection: server ");
	say_text(hand.db.server);
	say_text(": it asks for more computing than 5 s of CPU time\n");
	_exit(1);
}

static struct db *begin(uint64_t most_ms, int to, const char *words)
{
	const struct sigaction a = { .sa_handler = too_long };

	_Static_assert(HAND_CPU_S == 5, "too_long() says so");
	hand.db.deadline_ms = db_now_ms() + most_ms;
	hand.to = to;
	hand.begin = words;
	(void)sigaction(SIGXCPU, &a, NULL);	/* cannot fail for these */
	return &hand.db;
}

static int finish(struct db *db, int rc, const struct err *err)
{
	db_close(db);
	if (rc < 0)
		say_line(stderr, "%s%s", hand.begin, err->text);
	return rc < 0 ? err_exit_code(err) : 0;
}

static int run_init(const char *conninfo)
{
	struct db *db = begin(INIT_MS, STDERR_FILENO, "morphctl: share init: ");
	struct err err = { 0 };
	int from = 0;

	int rc = limit(HAND_CPU_S, &err);
	if (rc == 0)
		rc = db_open(db, conninfo, &err);
	if (rc == 0)
		rc = schema_install(db, &from, &err);
	if (rc == 0 && from == schema_version())
		say_line(stdout, "schema %d is there already; its functions are these", from);
	else if (rc == 0)
		say_line(stdout, "schema %d in the place of %d; contributors are logins in "
				 "role morph_contributor", schema_version(), from);
	return finish(db, rc, &err);
}

static int become(const char *name, struct err *err)
{
	struct passwd *pw = getpwnam(name);

	if (!pw)
		return err_set(err, ERR_USAGE, "user '%s' does not exist", name);
	if (geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
	     setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0))
		return err_set(err, ERR_SYS, "change of user: %s", strerror(errno));
	return 0;
}

static int run_test(const char *user, const char *conninfo)
{
	struct db *db = begin(TEST_MS, STDOUT_FILENO, "does not work: ");
	char line[512] = "";
	struct err err = { 0 };

	int rc = user && become(user, &err) < 0 ? -1 : confine(HAND_CPU_S, &err);
	if (rc == 0)
		rc = db_open(db, conninfo, &err);
	if (rc == 0)
		rc = tryout_run(db, line, &err);
	db_close(db);
	if (rc < 0)
		say_line(stdout, "%s%s%s%s", hand.begin, line, line[0] ? "; " : "", err.text);
	else
		say_line(stdout, "works: %s", line);
	return rc < 0 ? err_exit_code(&err) : 0;
}

int main(int argc, char **argv)
{
	const char *user = NULL;

	io_hold_standard();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		say_line(stdout, "usage: morph-share %s", usage);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)puts("morph-share " MORPH_VERSION);
		return 0;
	}
	bool good = usage_check("morph-share", usage, "[--help] [-h] [--version]", &argc, argv);
	if (good && argc == 2 && strcmp(argv[1], "exchange") == 0)
		return run_exchange();
	if (good && argc == 3 && strcmp(argv[1], "init") == 0)
		return run_init(argv[2]);
	if (good && argc == 4 && strncmp(argv[2], "--user=", 7) == 0) {
		user = argv[2] + 7;
		argv[2] = argv[3];
		argc--;
	}
	if (good && argc == 3 && strcmp(argv[1], "test") == 0)
		return run_test(user, argv[2]);
	say_line(stderr, "usage: morph-share %s", usage);
	return 2;
}
