/* sharing.c - the role `share`: a process for one exchange with a fleet's database
 *
 * Tested by tests/unit/manager/parent/test_role_parent.c and tests/e2e/share.sh.
 */
#include "manager/parent/sharing.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"

enum { SHARING_MS = 330000 };	/* more than it gives itself */

static void say(struct msg *told, enum err_kind kind, const char *text)
{
	*told = (struct msg){ .type = MSG_SHARED };
	told->num[MSG_SHARED_status] = kind;
	(void)snprintf(told->text, 1024, "%s", text);
}

static int start(struct sharing *s, const struct role_options *o, struct msg *m,
		 struct err *err)
{
	struct job_user user;

	if (s->child.pid)
		return err_set(err, ERR_SYS, "one is under way");
	if (m->nfd != 1)
		return err_set(err, ERR_INPUT, "a request without a descriptor");
	if (role_user(o->share_user, &user, err) < 0)
		return -1;
	if (access(o->morph_share, X_OK) < 0)
		return err_set(err, ERR_SYS, "'%s' is not there", o->morph_share);
	if (role_start(&s->child, o, -1, err) < 0)
		return -1;
	s->end_ms = role_now_ms() + SHARING_MS;
	m->type = MSG_EXCHANGE;		/* the same text and descriptor */
	if (msg_send(s->child.sock, m, err) == 0)
		return 0;
	sharing_end(s);
	return -1;
}

int sharing_begin(struct sharing *s, const struct role_options *o, struct msg *m,
		  struct msg *told)
{
	struct err err = { 0 };
	int rc = start(s, o, m, &err);

	msg_close_fds(m);
	if (rc < 0)
		say(told, err.kind, err.text);
	return rc;
}

/* It ended, and did not say why. */
static void say_end(int status, struct msg *told)
{
	char text[96];

	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "the part that shares ended by signal %d",
			       WTERMSIG(status));
	else
		(void)snprintf(text, sizeof(text), "the part that shares ended with exit code "
			       "%d", WEXITSTATUS(status));
	say(told, ERR_SYS, text);
}

bool sharing_step(struct sharing *s, bool readable, struct msg *told)
{
	struct err err = { 0 };
	struct msg m = { 0 };

	if (!s->child.pid)
		return false;
	if (!readable) {
		if (role_now_ms() < s->end_ms)
			return false;
		say(told, ERR_SYS, "the database took too long");
		sharing_end(s);
		return true;
	}
	int rc = msg_receive(s->child.sock, MSG_ROLE_SHARE, MSG_ROLE_PARENT, &m, &err);
	if (rc == 0)
		return false;
	if (rc > 0) {
		*told = m;
		told->type = MSG_SHARED;	/* the same number, text and descriptor */
	} else if (err.kind == ERR_INPUT) {
		say(told, ERR_INPUT, err.text);
	}
	/* It ends by itself, or has: what it said is all that it was for. */
	struct pollfd f = { s->child.pidfd, POLLIN, 0 };
	if (rc < 0 && err.kind != ERR_INPUT)
		(void)poll(&f, 1, 1000);
	int status = role_reap(&s->child);
	if (rc < 0 && err.kind != ERR_INPUT)
		say_end(status, told);
	return true;
}

void sharing_end(struct sharing *s)
{
	(void)role_reap(&s->child);	/* nothing is learned from how it ended */
}
