/* workscene.h - a manager's work on one module, of which generation 1 is at its path, with a
 * parent made up here that gives files and puts the original back */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/policy.h"

static char dir[64], path[80], original[80];
static int parent;			/* its end of the socket */
static struct ask ask;
static struct role_options options;
static struct work w;
static struct store_module m;
static unsigned restores;		/* that were asked for */
static bool refuses;
static const char *live_list;		/* what processes have; NULL: nobody is asked */
static const char *turns_said;		/* of LIVE_TURNS; NULL: no */
static unsigned turns;			/* that were asked for */
static bool (*also)(const struct msg *q, struct msg *r);	/* answers; or does not; NULL */

static int text_file(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}
/* Does a job in the place of the parent: fills *r; NULL: it is refused. */
static void (*run_job)(const struct msg *q, struct msg *r);

static void put_file(const char *at, const char *content)
{
	FILE *f = fopen(at, "w");

	assert_non_null(f);
	assert_true(fputs(content, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void answer(const struct msg *q)
{
	struct msg r = { .type = MSG_REPLY, .serial = q->serial };
	struct err err;

	if (also && also(q, &r)) {
		;
	} else if (q->type == MSG_OPEN_FILE || q->type == MSG_OPEN_ORIGINAL) {
		r.fd[r.nfd++] = open(q->type == MSG_OPEN_FILE ? q->text : original,
				     O_RDONLY | O_CLOEXEC);
		assert_true(r.fd[0] >= 0);
	} else if (q->type == MSG_CHECK) {
		;		/* nothing speaks against it */
	} else if (q->type == MSG_LIVE_LIST && live_list) {
		r.fd[r.nfd++] = text_file(live_list);
	} else if (q->type == MSG_LIVE_TURNS && turns_said) {
		turns++;
		strcpy(r.text, turns_said);
	} else if (q->type == MSG_RUN_JOB && run_job) {
		run_job(q, &r);
	} else if (q->type == MSG_RESTORE && !refuses) {
		restores += !q->num[MSG_RESTORE_dry_run];
		assert_string_equal(q->text, path);
		assert_true(digest_equal(&q->digest[0], &m.present) &&
			    digest_equal(&q->digest[1], &m.original));
		if (!q->num[MSG_RESTORE_dry_run])
			put_file(path, "the original");
	} else {
		r.num[MSG_REPLY_status] = ERR_REFUSED;
		strcpy(r.text, "no");
	}
	assert_int_equal(msg_send(parent, &r, &err), 0);
	msg_close_fds(&r);
}

static void turn(void *ctx)
{
	struct msg q = { 0 };
	struct err err;

	(void)ctx;
	if (msg_receive(parent, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &q, &err) == 1) {
		answer(&q);
		msg_close_fds(&q);
	}
	assert_int_equal(ask_receive(&ask, &err), 0);
}

static int open_file(void *ctx, const char *at, struct err *err)
{
	return ask_open_file(ctx, at, err);
}

static bool allows(void *ctx, const char *at)
{
	(void)ctx, (void)at;
	return true;
}

/* The file is looked at twice: as the original, and then as its first generation. */
static void make_module(void)
{
	struct store_generation *g = calloc(1, sizeof(*g));
	const struct bytes map = { (const uint8_t *)"m", 1 };
	enum module_look how;
	struct err err = { 0 };

	put_file(path, "the original");
	put_file(original, "the original");
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	put_file(path, "a generation of it");
	*g = (struct store_generation){ .module = m.id, .number = 1, .original = m.original,
					.state = STATE_INSTALLED };
	int fd = open(path, O_RDONLY);
	assert_int_equal(digest_fd(fd, &g->digest, &err), 0);
	close(fd);
	assert_int_equal(store_generation_add(w.store, g, map, &(struct store_profile){ 0 },
					      &err), 0);
	free(g);
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(how, MODULE_SWAPPED);
	assert_int_equal(m.generation, 1);
}

static int setup(void **state)
{
	const struct module_services by = { .open = open_file, .allows = allows, .ctx = &ask };
	struct err err = { 0 };
	uint64_t born;
	int pair[2];

	(void)state;
	strcpy(dir, "/var/tmp/morph-work-XXXXXX");
	if (!mkdtemp(dir) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/program", dir);
	(void)snprintf(original, sizeof(original), "%s/kept", dir);
	parent = pair[0];
	restores = 0;
	run_job = NULL;
	refuses = false;
	live_list = turns_said = NULL;
	also = NULL;
	turns = 0;
	ask = (struct ask){ .sock = pair[1], .turn = turn };
	options = (struct role_options){ .store = dir, .foreground = true, .host = dir };
	w = (struct work){ .options = &options, .ask = &ask, .policy = policy_default(),
			   .now_ms = role_now_ms,
			   .store = store_open(dir, &err) };
	w.modules = modules_new(w.store, &by);
	if (!w.store || store_born(w.store, &born, &err) < 0)
		return -1;
	make_module();
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	accounts_free(&w.accounts);
	work_live_free(&w);
	work_turns_free(&w);
	modules_free(w.modules);
	store_close(w.store);
	policy_free(w.policy);
	close(parent);
	close(ask.sock);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static inline bool add_event(void *ctx, const struct store_event *e)
{
	(void)snprintf(ctx, 256, "%s: %.200s", e->event, e->detail);
	return false;
}

static inline const char *last_event(void)
{
	static char text[256];
	struct err err;

	text[0] = '\0';
	assert_int_equal(store_history_each(w.store, path, 1, add_event, text, &err), 0);
	return text;
}

static inline struct store_module now(void)
{
	struct store_module got;
	struct err err;

	assert_int_equal(store_module_by_id(w.store, m.id, &got, &err), 1);
	return got;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
