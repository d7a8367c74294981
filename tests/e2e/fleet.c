/* fleet.c - one exchange of morph-share with a fleet's database, as the parent would start it:
 *
 *	fleet MORPH_SHARE CONNINFO CLASS MACHINE
 *	      [give SEED KIND EPOCH SEQUENCE COUNTS [EDGES]]... [want SEED]...
 *
 * MACHINE is a number; a digest is 32 times the byte SEED; COUNTS are BLOCK:COUNT,... and EDGES
 * FROM-TO:COUNT,...  EPOCH counts from this one.  Prints "status N TEXT", a line for each thing
 * told and taken, and what was left out.  "fleet epoch" prints the epoch.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"
#include "lib/io.h"
#include "lib/msg.h"

enum { PARENT_FD = 3, MOST = 4096, WEEK_S = 604800 };

static struct fleet_request q;
static struct fleet_evidence give[MOST];
static struct digest want[MOST];

static uint32_t epoch_now(void)
{
	return (uint32_t)(time(NULL) / WEEK_S);
}

static struct digest digest_of_seed(const char *seed)
{
	struct digest d;

	memset(d.b, atoi(seed), sizeof(d.b));
	return d;
}

static void read_blocks(char *text, struct fleet_evidence *e)
{
	e->block = calloc(MOST, sizeof(*e->block));
	for (char *t = strtok(text, ","); t; t = strtok(NULL, ",")) {
		struct fleet_block *b = &e->block[e->nblock++];

		if (sscanf(t, "%" SCNu32 ":%" SCNu64, &b->block, &b->count) != 2)
			exit(2);
	}
}

static void read_edges(char *text, struct fleet_evidence *e)
{
	e->edge = calloc(MOST, sizeof(*e->edge));
	for (char *t = strtok(text, ","); t; t = strtok(NULL, ",")) {
		struct fleet_edge *n = &e->edge[e->nedge++];

		if (sscanf(t, "%" SCNu32 "-%" SCNu32 ":%" SCNu64, &n->from, &n->to,
			   &n->count) != 3)
			exit(2);
	}
}

/* Returns how many arguments it was. */
static int add_give(char **arg)
{
	struct fleet_evidence *e = &give[q.ngive++];
	bool edges = arg[6] && strchr(arg[6], '-') && strchr(arg[6], ':');

	e->digest = digest_of_seed(arg[1]);
	e->kind = (enum fleet_kind)atoi(arg[2]);
	e->epoch = epoch_now() + (uint32_t)atoi(arg[3]);
	e->sequence = strtoull(arg[4], NULL, 10);
	read_blocks(arg[5], e);
	if (edges)
		read_edges(arg[6], e);
	return 6 + edges;
}

static void start(const char *conninfo, int sock)
{
	struct wr w = { 0 };
	struct msg m = { .type = MSG_EXCHANGE, .nfd = 1 };
	struct err err;

	fleet_request_write(&q, &w);
	m.fd[0] = memfd_create("request", 0);
	(void)snprintf(m.text, 1024, "%s", conninfo);
	if (m.fd[0] < 0 || io_write_all(m.fd[0], w.p, w.n, &err) < 0 ||
	    msg_send(sock, &m, &err) < 0)
		exit(1);
	close(m.fd[0]);
	wr_free(&w);
}

static void show(const struct msg *m)
{
	static const char *const told[] = { "taken", "known", "refused" };
	struct arena *a = arena_new();
	struct fleet_answer n = { 0 };
	struct bytes b;
	struct err err;

	printf("status %" PRIu64 "%s%s\n", m->num[MSG_EXCHANGED_status], m->text[0] ? " " : "",
	       m->text);
	if (m->nfd != 1 || io_read_all(m->fd[0], FLEET_FILE_MAX, a, &b, &err) < 0 ||
	    fleet_answer_read(b, a, &n, &err) < 0) {
		printf("no answer\n");
		exit(1);
	}
	for (uint32_t i = 0; i < n.ntold; i++)
		printf("told %u %s\n", n.told[i].index, told[n.told[i].told]);
	for (uint32_t i = 0; i < n.nfleet; i++) {
		const struct fleet_evidence *e = &n.fleet[i];

		printf("fleet %u %d of %u:", e->digest.b[0], (int)e->kind, e->contributors);
		for (uint32_t k = 0; k < e->nblock; k++)
			printf(" %u:%" PRIu64, e->block[k].block, e->block[k].count);
		for (uint32_t k = 0; k < e->nedge; k++)
			printf(" %u-%u:%" PRIu64, e->edge[k].from, e->edge[k].to,
			       e->edge[k].count);
		printf("\n");
	}
	printf("left out %u\n", n.left_out);
	arena_free(a);
}

int main(int argc, char **argv)
{
	struct msg m = { 0 };
	struct err err = { 0 };
	int pair[2], status;

	if (argc == 2 && strcmp(argv[1], "epoch") == 0)
		return printf("%u\n", epoch_now()) < 0;
	if (argc < 5 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return 2;
	q.give = give;
	q.want = want;
	(void)snprintf(q.class, sizeof(q.class), "%s", argv[3]);
	q.machine[0] = (uint8_t)atoi(argv[4]);
	for (int i = 5; i < argc; ) {
		if (strcmp(argv[i], "give") == 0 && i + 5 < argc && q.ngive < MOST) {
			i += add_give(argv + i);
		} else if (strcmp(argv[i], "want") == 0 && i + 1 < argc && q.nwant < MOST) {
			want[q.nwant++] = digest_of_seed(argv[i + 1]);
			i += 2;
		} else {
			return 2;
		}
	}
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);	/* as a role's */
		if (dup2(pair[1], PARENT_FD) == PARENT_FD)
			execl(argv[1], "morphd: share", "exchange", NULL);
		_exit(127);
	}
	close(pair[1]);
	start(argv[2], pair[0]);
	int rc = msg_receive(pair[0], MSG_ROLE_SHARE, MSG_ROLE_PARENT, &m, &err);
	(void)waitpid(pid, &status, 0);
	if (rc != 1)
		return printf("it ended: %d %s\n", status, err.text), 1;
	show(&m);
	return m.num[MSG_EXCHANGED_status] != 0;
}
