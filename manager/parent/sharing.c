/* sharing.c - the role `share`: a process for one exchange with a fleet's database
 *
 * The Manager has no network; one that was taken over would have this one, for whatever server
 * it names.  So where to is looked up in root's policy, which is not parsed for that: its bytes
 * are searched for the line that would say so.
 *
 * Tested by tests/unit/manager/parent/test_sharing.c and tests/e2e/sharedaemon.sh.
 */
#include "manager/parent/sharing.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/io.h"

enum { SHARING_MS = 330000 };	/* more than it gives itself */

static void say(struct msg *told, enum err_kind kind, const char *text)
{
	*told = (struct msg){ .type = MSG_SHARED };
	told->num[MSG_SHARED_status] = kind;
	(void)snprintf(told->text, 1024, "%s", text);
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

/* "key: VALUE", alone or in quotes, perhaps with a remark behind it, is the line up to `end`.
 * An escape within quotes is none of these. */
static bool says(const char *at, const char *end, const char *key, const char *value)
{
	size_t nkey = strlen(key), n = strlen(value);

	while (at < end && is_blank(*at))
		at++;
	if ((size_t)(end - at) <= nkey || memcmp(at, key, nkey) != 0)
		return false;
	for (at += nkey; at < end && is_blank(*at); )
		at++;
	char quote = at < end && (*at == '"' || *at == '\'') ? *at++ : 0;
	if ((size_t)(end - at) < n || memcmp(at, value, n) != 0 ||
	    (quote && memchr(value, quote, n)) || (quote == '"' && memchr(value, '\\', n)))
		return false;
	at += n;
	if (quote && (at == end || *at++ != quote))
		return false;
	const char *behind = at;
	while (at < end && (is_blank(*at) || *at == '\r'))
		at++;
	return at == end || (*at == '#' && at > behind);
}

static bool has_line(struct bytes text, const char *key, const char *value)
{
	const char *at = (const char *)text.p, *last = at + text.n;

	while (at < last) {
		const char *end = memchr(at, '\n', (size_t)(last - at));

		if (says(at, end ? end : last, key, value))
			return true;
		at = end ? end + 1 : last;
	}
	return false;
}

/* Root's policy as it is now names this database. */
static int check_named(const char *policy, const char *conninfo, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes text;
	int fd = dropins_open(policy, ROLE_POLICY_MAX, err);
	int rc = fd < 0 ? -1 : io_read_all(fd, ROLE_POLICY_MAX, a, &text, err);

	if (fd >= 0)
		close(fd);
	if (rc == 0 && (!conninfo[0] || !has_line(text, "conninfo:", conninfo)))
		rc = err_set(err, ERR_REFUSED, "the policy has no line 'conninfo: %s' (one "
			     "line, without escapes)", conninfo);
	arena_free(a);
	return rc;
}

static int start(struct sharing *s, const struct role_options *o, struct msg *m,
		 struct err *err)
{
	struct job_user user;

	if (s->child.pid)
		return err_set(err, ERR_SYS, "one is under way");
	if (m->nfd != 1)
		return err_set(err, ERR_INPUT, "a request without a descriptor");
	if (check_named(o->policy, m->text, err) < 0)
		return -1;
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

	/* the limit that it gave itself (share/main.c) */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		(void)snprintf(text, sizeof(text), "the server asks for more computing than "
			       "an exchange may take");
	else if (WIFSIGNALED(status))
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
