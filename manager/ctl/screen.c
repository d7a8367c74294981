/* screen.c - the terminal, the pager, colours; see screen.h
 *
 * Tested by tests/e2e/terminal.sh.
 */
#include "manager/ctl/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "manager/ctl/columns.h"
#include "manager/ctl/ctl.h"

enum { TEXT_NARROW = 50, TEXT_WIDE = 96 };

/* What a cell says, by the beginning of its text. */
static const struct {
	const char *column, *begin, *colour;
} painted[] = {
	{ "severity", "error", TABLE_RED },	{ "severity", "warning", TABLE_YELLOW },
	{ "state", "refused", TABLE_YELLOW },	{ "state", "optimized", TABLE_GREEN },
	{ "proven", "0", TABLE_RED },		{ "idle", "0", TABLE_YELLOW },
	{ "original", "DIFFERS", TABLE_RED },	{ "event", "refused", TABLE_YELLOW },
	{ "event", "crashed", TABLE_RED },	{ "event", "installed", TABLE_GREEN },
	{ "allowed", "0", TABLE_YELLOW },
};

static const char *paint(const char *title, const char *column, const char *raw)
{
	(void)title;
	for (size_t i = 0; i < sizeof(painted) / sizeof(painted[0]); i++)
		if (strcmp(painted[i].column, column) == 0 &&
		    strncmp(painted[i].begin, raw, strlen(painted[i].begin)) == 0)
			return painted[i].colour;
	return NULL;
}

static bool wants_colour(const struct ctl *ctl, FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (ctl->colour != CTL_COLOUR_AUTO)
		return ctl->colour == CTL_COLOUR_ALWAYS;
	return isatty(fileno(f)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static bool size_of(FILE *f, struct winsize *size)
{
	const char *columns = getenv("COLUMNS");

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, size) < 0)
		return false;
	if (!size->ws_col)
		size->ws_col = (unsigned short)(columns ? atoi(columns) : 80);
	return true;
}

struct table_look screen_look(const struct ctl *ctl, FILE *f)
{
	struct table_look look = { .json = ctl->json, .version = CTL_JSON_VERSION,
				   .paint = paint };
	struct winsize size;

	if (ctl->json)
		return look;
	look.colour = wants_colour(ctl, f);
	look.spare = ctl->wide ? NULL : columns_spare;
	if (size_of(f, &size))
		look.width = size.ws_col;
	/* of the locale nothing else is wanted */
	if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		look.ellipsis = "\u2026";
	return look;
}

unsigned screen_width_of(FILE *f)
{
	struct winsize size;

	return size_of(f, &size) && size.ws_col < TEXT_WIDE && size.ws_col > TEXT_NARROW ?
	       size.ws_col : TEXT_WIDE;
}

unsigned screen_text_width(void)
{
	return screen_width_of(stdout);
}

unsigned screen_lines(void)
{
	struct winsize size;

	return size_of(stdout, &size) ? size.ws_row : 0;
}

/* As much of a word as fits into `width` columns, whole characters; all of it where it fits. */
static unsigned piece_of(const char *word, unsigned n, unsigned width)
{
	if (n <= width || !width)
		return n;
	n = width;
	while (n > 1 && ((unsigned char)word[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void screen_wrap(FILE *f, const char *text, unsigned at, unsigned indent, unsigned width)
{
	for (bool first = true; ; first = false) {
		text += strspn(text, " \n");
		unsigned n = (unsigned)strcspn(text, " \n");
		if (!n)
			break;
		n = piece_of(text, n, width > indent ? width - indent : 0);
		if (!first && at + 1 + n > width) {
			(void)fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			(void)fputc(' ', f);
			at++;
		}
		(void)fwrite(text, 1, n, f);
		at += n;
		text += n;
	}
	(void)fputc('\n', f);
}

bool screen_is_live(FILE *f)
{
	const char *term = getenv("TERM");

	return isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
}

/* --- the pager --- */

static bool under_sudo(void)
{
	const char *uid = getenv("SUDO_UID");

	return geteuid() == 0 && uid && strcmp(uid, "0") != 0;
}

/* NULL: none. */
static const char *pager(void)
{
	const char *name = getenv("MORPH_PAGER");

	if (!name)
		name = getenv("PAGER");
	if (!name || under_sudo())
		name = "less";
	return *name && strcmp(name, "cat") != 0 ? name : NULL;
}

static void become_pager(const char *name, int from)
{
	if (dup2(from, STDIN_FILENO) < 0 || setenv("LESS", "FRSX", 0) < 0 ||
	    (under_sudo() && setenv("LESSSECURE", "1", 1) < 0))
		_exit(127);
	if (from != STDIN_FILENO)
		close(from);
	execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	_exit(127);
}

static bool write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t k = write(fd, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return errno == EPIPE;	/* whoever reads has enough */
		text += k;
		n -= (size_t)k;
	}
	return true;
}

/* False: there is no pager. */
static bool page(const char *text, size_t n)
{
	const char *name = pager();
	int p[2], status = 0;

	if (!name || pipe(p) < 0)
		return false;
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(p[1]);
		become_pager(name, p[0]);
	}
	close(p[0]);
	if (pid < 0) {
		close(p[1]);
		return false;
	}
	/* Ctrl-C is the pager's */
	void (*pipe_was)(int) = signal(SIGPIPE, SIG_IGN), (*int_was)(int) =
		signal(SIGINT, SIG_IGN);
	bool written = write_all(p[1], text, n);
	close(p[1]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)signal(SIGPIPE, pipe_was);
	(void)signal(SIGINT, int_was);
	return written && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static bool is_long(const char *text, size_t n)
{
	struct winsize size;
	unsigned lines = 0;

	for (const char *at = text; (at = memchr(at, '\n', n - (size_t)(at - text))); at++)
		lines++;
	return size_of(stdout, &size) && size.ws_row && lines >= size.ws_row;
}

/* --- all of it --- */

void screen_open(struct screen *s, const struct ctl *ctl)
{
	*s = (struct screen){ .look = screen_look(ctl, stdout),
			      .pages = !ctl->no_pager && isatty(STDOUT_FILENO) };
	s->out = memory_need(open_memstream(&s->text, &s->size));
}

void screen_drop(struct screen *s)
{
	(void)fclose(s->out);		/* of memory */
	free(s->text);
}

int screen_close(struct screen *s, int code)
{
	bool told = fclose(s->out) == 0;

	if (!told || (s->pages && is_long(s->text, s->size) && page(s->text, s->size)))
		;
	else if (s->size && fwrite(s->text, 1, s->size, stdout) != s->size)
		told = false;
	if ((fflush(stdout) != 0 || !told) && errno != EPIPE) {
		say_line(stderr, "morphctl: standard output: %s", strerror(errno));
		code = code ? code : 1;
	}
	free(s->text);
	return code;
}
