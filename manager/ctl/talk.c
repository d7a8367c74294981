/* talk.c - one request to the daemon and its answer
 *
 * Lines of progress and errors go to standard error as they come.  Tables are gathered and
 * printed at the end; tables of one title become one, so that JSON has every key once.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"
#include "lib/table.h"
#include "manager/work/answer.h"
#include "manager/ctl/columns.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/screen.h"
#include "manager/ctl/sentences.h"
#include "manager/ctl/statusline.h"

enum { REDRAW_MS = 500 };

struct talk {
	const struct ctl *ctl;
	int fd;
	struct wr in;
	size_t used;			/* of in */
	struct ctl_tables *tables;
	struct table *current;		/* rows go here */
	struct statusline line;
};

static int dial(const struct ctl *ctl, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(ctl->socket) >= sizeof(a.sun_path))
		return err_set(err, ERR_USAGE, "'%s': too long for a socket", ctl->socket);
	strcpy(a.sun_path, ctl->socket);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, ERR_SYS, "socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	err_set(err, ERR_SYS, "morphd does not answer at %s: %s", ctl->socket, strerror(errno));
	close(fd);
	return -1;
}

/* The next frame, which stays valid until the next call. */
static int next_frame(struct talk *t, struct answer_frame *f, struct err *err)
{
	uint8_t buf[65536];
	uint64_t used;

	for (;;) {
		struct bytes rest = { t->in.p + t->used, t->in.n - t->used };
		int rc = answer_read(rest, f, &used, err);

		if (rc < 0)
			return -1;
		if (rc > 0) {
			t->used += used;
			return 0;
		}
		if (t->used) {
			memmove(t->in.p, t->in.p + t->used, t->in.n - t->used);
			t->in.n -= t->used;
			t->used = 0;
		}
		struct pollfd f_in = { t->fd, POLLIN, 0 };

		if (t->line.live && poll(&f_in, 1, REDRAW_MS) == 0) {
			statusline_draw(&t->line);
			continue;
		}
		ssize_t k = read(t->fd, buf, sizeof(buf));
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_set(err, ERR_SYS,
				       "morphd ended in the middle of its answer%s%s",
				       k < 0 ? ": " : "", k < 0 ? strerror(errno) : "");
		wr_raw(&t->in, buf, (size_t)k);
	}
}

static bool same_columns(const struct table *a, const struct table *b)
{
	if (table_ncol(a) != table_ncol(b) || strcmp(table_title(a), table_title(b)) != 0)
		return false;
	for (int i = 0; i < table_ncol(a); i++)
		if (table_columns(a)[i].type != table_columns(b)[i].type ||
		    strcmp(table_columns(a)[i].name, table_columns(b)[i].name) != 0)
			return false;
	return true;
}

static int begin_table(struct talk *t, const struct answer_frame *f, struct err *err)
{
	struct table *new = answer_read_table(f, err);

	if (!new)
		return -1;
	for (int i = 0; i < t->tables->n; i++)
		if (same_columns(t->tables->at[i], new)) {
			table_free(new);
			t->current = t->tables->at[i];
			return 0;
		}
	if (t->tables->n == CTL_MAX_TABLES) {
		table_free(new);
		return err_set(err, ERR_INPUT, "an answer of too many tables");
	}
	t->current = t->tables->at[t->tables->n++] = new;
	return 0;
}

static void print_error(const struct ctl *ctl, const char *text)
{
	say_line(ctl->errors ? ctl->errors : stderr, "morphctl: %s", text);
}

/* Until END, whose code is *code. */
static int converse(struct talk *t, int *code, struct err *err)
{
	struct answer_frame f;
	uint32_t done, total;

	for (;;) {
		if (next_frame(t, &f, err) < 0)
			return -1;
		if (f.kind != ANSWER_PROGRESS)
			statusline_clear(&t->line);
		switch (f.kind) {
		case ANSWER_TABLE:
			if (begin_table(t, &f, err) < 0)
				return -1;
			break;
		case ANSWER_ROW:
			if (!t->current)
				return err_set(err, ERR_INPUT, "a row without a table");
			if (answer_read_row(&f, t->current, err) < 0)
				return -1;
			break;
		case ANSWER_PROGRESS: {
			const char *text = answer_read_progress(&f, &done, &total);

			statusline_set(&t->line, done, total, text);
			break;
		}
		case ANSWER_LINE:
			if (!t->ctl->quiet)
				say_line(stderr, "%s", answer_read_text(&f));
			break;
		case ANSWER_ERROR:
			print_error(t->ctl, answer_read_text(&f));
			break;
		default:
			*code = answer_read_end(&f);
			return 0;
		}
	}
}

void ctl_tables_free(struct ctl_tables *t)
{
	for (int i = 0; i < t->n; i++)
		table_free(t->at[i]);
	t->n = 0;
}

bool ctl_answers(const struct ctl *ctl, int seconds)
{
	const char *request[] = { "policy" };
	struct wr text = { 0 };
	struct err ignored = { 0 };
	int fd = dial(ctl, &ignored);
	bool answers = false;

	if (fd >= 0 && request_write(&text, 1, request, &ignored) == 0 &&
	    io_write_all(fd, text.p, text.n, &ignored) == 0) {
		struct pollfd f = { fd, POLLIN, 0 };
		int n = poll(&f, 1, 1000 * seconds);
		char first;

		answers = n > 0 && recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
		if (n == 0)
			say_line(stderr, "morphctl: morphd has not answered for %d s; "
				 "going on without it", seconds);
	}
	if (fd >= 0)
		close(fd);
	wr_free(&text);
	return answers;
}

/* Who refuses a request has no need to read all of it: then there is an answer, although it
 * could not be written to its end. */
static int ask(struct talk *t, struct bytes request, int *code, struct err *err)
{
	struct err why;

	if (io_write_all(t->fd, request.p, request.n, err) == 0)
		return converse(t, code, err);
	(void)shutdown(t->fd, SHUT_WR);		/* nobody waits for the rest of it */
	return converse(t, code, &why);
}

int ctl_fetch(const struct ctl *ctl, int argc, const char *const *argv, struct ctl_tables *out)
{
	struct talk t = { .ctl = ctl, .fd = -1, .tables = out };
	struct wr request = { 0 };
	struct err err = { 0 };
	int code = 1, rc = -1;

	*out = (struct ctl_tables){ 0 };
	statusline_open(&t.line, stderr);
	if (request_write(&request, argc, argv, &err) == 0) {
		t.fd = dial(ctl, &err);
		void (*was)(int) = signal(SIGPIPE, SIG_IGN);	/* a daemon that ends is told */
		if (t.fd >= 0)
			rc = ask(&t, wr_bytes(&request), &code, &err);
		(void)signal(SIGPIPE, was);
	}
	statusline_close(&t.line);
	if (rc < 0) {
		print_error(ctl, err.text);
		code = err_exit_code(&err);
	}
	out->whole = rc == 0;
	wr_free(&t.in);
	wr_free(&request);
	if (t.fd >= 0)
		close(t.fd);
	return code;
}

bool ctl_path_of(const struct ctl *ctl, const char *item, char path[PATH_MAX])
{
	const char *request[] = { "status" };
	struct ctl_tables t;

	path[0] = '\0';
	(void)ctl_fetch(ctl, 1, request, &t);
	for (int i = 0; i < t.n; i++)
		for (int row = 0; strcmp(table_title(t.at[i]), "status") == 0 &&
		     table_ncol(t.at[i]) == 2 && row < table_nrow(t.at[i]); row++) {
			const char *value = table_cell(t.at[i], row, 1);

			if (strcmp(table_cell(t.at[i], row, 0), item) == 0 &&
			    value[0] == '/' && strlen(value) < PATH_MAX)
				strcpy(path, value);
		}
	ctl_tables_free(&t);
	return path[0];
}

/* What people see without --wide. */
static void choose(struct ctl_tables *t)
{
	int n = 0;

	for (int i = 0; i < t->n; i++) {
		if (columns_for_programs(t->at[i])) {
			table_free(t->at[i]);
			continue;
		}
		columns_choose(&t->at[i]);
		t->at[n++] = t->at[i];
	}
	t->n = n;
}

int ctl_print(const struct ctl *ctl, struct ctl_tables *t, int code)
{
	struct screen s;

	screen_open(&s, ctl);
	if (!ctl->wide && !ctl->json)
		choose(t);
	if (!ctl->json)
		sentences_print(t, s.out, screen_lines() ? screen_text_width() : UINT_MAX);
	if (t->n || (ctl->json && t->whole))
		table_show_all(t->at, t->n, s.out, &s.look);
	ctl_tables_free(t);
	return screen_close(&s, code);
}

int ctl_talk(const struct ctl *ctl, int argc, const char *const *argv)
{
	struct ctl_tables t;
	int code = ctl_fetch(ctl, argc, argv, &t);

	return ctl_print(ctl, &t, code);
}
