/* log.c - the daemon's lines, to the journal, syslog or standard error; see log.h
 *
 * The journal takes datagrams of lines "FIELD=value" (systemd's "native journal protocol"); no
 * value of ours has a line end in it.  A library for that would be one more in root's process.
 *
 * Tested by tests/unit/manager/parent/test_log.c and tests/e2e/service.sh.
 */
#include "manager/parent/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/hash.h"
#include "lib/utf8.h"
#include "lib/wr.h"
#include "manager/parent/options.h"
#include "manager/parent/role.h"

enum { TEXT_MAX = 2048, SHOWN_MAX = UTF8_GROWTH * TEXT_MAX, REMEMBERED = 32,
       QUIET_MS = 60000 };

static struct {
	const char *role;
	bool to_syslog, detached;
	bool under_journal;		/* standard error is the journal's */
	int journal;			/* its socket, or -1 */
} out = { .role = "morphd", .journal = -1 };

static struct said {
	uint64_t hash, ms;		/* when it was said; 0: nothing was */
	unsigned held_back;		/* so often since */
} said[REMEMBERED];

/* --- where it goes --- */

/* Has systemd connected standard error with the journal?  Then it tells what that is. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static int open_journal(void)
{
	struct sockaddr_un a = { AF_UNIX, "/run/systemd/journal/socket" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void role_log_open(const struct role_options *o)
{
	out.role = options_role_name(o->role);
	out.to_syslog = !o->foreground;
	out.under_journal = o->foreground && stderr_is_journal();
	if (out.under_journal)
		out.journal = open_journal();
	if (out.to_syslog)
		openlog("morphd", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void role_detach(const struct role_options *o)
{
	int null = o->foreground ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	for (int i = 0; i < 3; i++)
		(void)dup2(null, i);	/* at worst they stay what they are */
	close(null);
	out.detached = true;
}

/* "NAME=value", escaped. */
static void put_field(struct wr *w, const char *name, const char *value)
{
	char *shown = utf8_escaped(value);

	wr_text(w, name);
	wr_text(w, "=");
	wr_text(w, shown);
	wr_text(w, "\n");
	free(shown);
}

static void put_number(struct wr *w, const char *name, unsigned long long value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", value);	/* fits */
	put_field(w, name, text);
}

static bool send_journal(enum log_level level, const struct log_event *e, const char *text)
{
	struct wr w = { 0 };

	if (out.journal < 0)
		return false;
	put_number(&w, "PRIORITY", level);
	put_field(&w, "SYSLOG_IDENTIFIER", "morphd");
	put_field(&w, "MORPH_ROLE", out.role);
	put_field(&w, "MESSAGE", text);
	if (e) {
		put_field(&w, "MORPH_EVENT", e->name);
		put_field(&w, "MORPH_MODULE", e->path);
	}
	if (e && e->id)
		put_field(&w, "MESSAGE_ID", e->id);
	if (e && e->generation)
		put_number(&w, "MORPH_GENERATION", e->generation);
	bool sent = send(out.journal, w.p, w.n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)w.n;
	wr_free(&w);
	return sent;
}

static void say(enum log_level level, const struct log_event *e, const char *text)
{
	char shown[SHOWN_MAX];

	if (send_journal(level, e, text))
		return;
	utf8_escape(text, shown, sizeof(shown));
	if (out.to_syslog)
		syslog(level, "%s: %s", out.role, shown);
	if (out.detached)
		return;
	/* nowhere else to say it */
	if (out.under_journal)
		(void)dprintf(2, "<%d>morphd[%s]: %s\n", level, out.role, shown);
	else
		(void)dprintf(2, "morphd[%s]: %s\n", out.role, shown);
}

/* --- not without end --- */

/* Chosen: of one level so many lines at once, and in the long run one in so many ms. */
enum { LINES = 500, LINE_MS = 1000, LEVELS = LEVEL_NOTICE + 1 };

static struct {
	uint64_t at_ms, spent_ms;
	unsigned held_back;
} purse[LEVELS];

/* Is it one too many?  Each level has its own purse, so what others have said in vain hides no
 * error. */
static bool too_many(enum log_level level)
{
	uint64_t now = role_now_ms(), since = now - purse[level].at_ms;
	uint64_t spent = purse[level].spent_ms;
	char text[64];

	spent = spent > since ? spent - since : 0;
	bool over = spent > (uint64_t)(LINES - 1) * LINE_MS;
	purse[level].at_ms = now;
	purse[level].spent_ms = over ? spent : spent + LINE_MS;
	purse[level].held_back += over;
	if (over || !purse[level].held_back)
		return over;
	(void)snprintf(text, sizeof(text), "%u lines were too many, and were not said",
		       purse[level].held_back);	/* fits */
	purse[level].held_back = 0;
	say(level, NULL, text);
	return false;
}

/* --- not twice --- */

/* Was the line said a moment ago?  Else *before is how often it was held back since then. */
static bool hold_back(const char *text, unsigned *before)
{
	static unsigned next;
	uint64_t hash = hash_text(text), now = role_now_ms() + 1;
	struct said *at = said;

	while (at < said + REMEMBERED && !(at->ms && at->hash == hash))
		at++;
	bool known = at < said + REMEMBERED;
	if (!known)
		at = &said[next++ % REMEMBERED];
	if (known && now - at->ms < QUIET_MS) {
		at->held_back++;
		return true;
	}
	*before = known ? at->held_back : 0;
	*at = (struct said){ hash, now, 0 };
	return false;
}

static void say_once(enum log_level level, const char *fmt, va_list ap)
{
	char text[TEXT_MAX], more[TEXT_MAX + 64];
	unsigned before;

	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut line still tells */
	if (hold_back(text, &before) || too_many(level))
		return;
	/* fits */
	(void)snprintf(more, sizeof(more), "%s (and %u times before)", text, before);
	say(level, NULL, before ? more : text);
}

#define SAY_ONCE(level) \
	do { \
		va_list ap; \
		va_start(ap, fmt); \
		say_once(level, fmt, ap); \
		va_end(ap); \
	} while (0)

void role_log(const char *fmt, ...)
{
	SAY_ONCE(LEVEL_NOTICE);
}

void role_warn(const char *fmt, ...)
{
	SAY_ONCE(LEVEL_WARNING);
}

void role_error(const char *fmt, ...)
{
	SAY_ONCE(LEVEL_ERROR);
}

void role_log_err(const struct err *err)
{
	if (err->kind == ERR_REFUSED)
		role_log("%s", err->text);
	else
		role_error("%s", err->text);
}

void role_event(enum log_level level, const struct log_event *e, const char *fmt, ...)
{
	char text[TEXT_MAX];
	unsigned before;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut line still tells */
	va_end(ap);
	/* what is asked for again and again is refused again and again */
	if (e->id && strcmp(e->id, EVENT_REFUSAL) == 0 &&
	    (hold_back(text, &before) || too_many(level)))
		return;
	say(level, e, text);
}
