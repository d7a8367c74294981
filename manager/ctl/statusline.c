/* statusline.c - a line of progress; see statusline.h
 *
 * Tested by tests/e2e/progress.sh.
 */
#include "manager/ctl/statusline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "lib/table.h"
#include "lib/utf8.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/screen.h"
#include "manager/parent/role.h"

void statusline_open(struct statusline *s, FILE *f)
{
	*s = (struct statusline){ .f = f, .live = screen_is_live(f),
				  .begun_ms = role_now_ms() };
}

void statusline_set(struct statusline *s, uint32_t done, uint32_t total, const char *text)
{
	s->done = done;
	s->total = total;
	if (!s->live) {
		say_line(s->f, "%s", text);
		return;
	}
	free(s->text);
	s->text = utf8_escaped(text);
	statusline_draw(s);
}

/* "12 of 40, 9 s, about 21 s left: ". */
static void write_head(const struct statusline *s, char *out, size_t size)
{
	uint64_t ms = role_now_ms() - s->begun_ms;
	char time[32], left[32], parts[48] = "", rest[64] = "";

	table_human_time(ms / 1000, time, sizeof(time));
	if (s->total > 1)			/* all of these fit */
		(void)snprintf(parts, sizeof(parts), "%u of %u, ", s->done + 1, s->total);
	uint64_t left_s = s->done && s->done < s->total ?
			  ms * (s->total - s->done) / s->done / 1000 : 0;
	if (left_s) {
		table_human_time(left_s, left, sizeof(left));
		(void)snprintf(rest, sizeof(rest), ", about %s left", left);
	}
	(void)snprintf(out, size, "%s%s%s: ", parts, time, rest);
}

/* As many bytes of the escaped text as take so many columns. */
static size_t bytes_of(const char *text, size_t columns)
{
	const char *at = text;
	uint32_t c;

	while (columns-- && *at)
		at += utf8_next(at, &c);
	return (size_t)(at - text);
}

void statusline_draw(struct statusline *s)
{
	struct winsize size;
	char head[192];

	if (!s->live || !s->text)
		return;
	if (ioctl(fileno(s->f), TIOCGWINSZ, &size) < 0 || !size.ws_col)
		size.ws_col = 80;
	write_head(s, head, sizeof(head));
	size_t room = size.ws_col - 1u, n = strlen(head);	/* the last column would wrap */
	n = n < room ? n : room;
	const char *text = s->text;
	size_t all = utf8_length(text);
	const char *cut = "";
	if (all > room - n) {			/* its end tells most */
		cut = screen_look(&(struct ctl){ 0 }, s->f).ellipsis;
		cut = utf8_length(cut ? cut : "...") > room - n ? "" : cut ? cut : "...";
		text += bytes_of(text, all - (room - n) + utf8_length(cut));
	}
	(void)fprintf(s->f, "\r%.*s%s%s\033[K", (int)n, head, cut, text);
	(void)fflush(s->f);
	s->shown = true;
}

void statusline_clear(struct statusline *s)
{
	if (!s->shown)
		return;
	(void)fputs("\r\033[K", s->f);
	(void)fflush(s->f);
	s->shown = false;
}

void statusline_close(struct statusline *s)
{
	statusline_clear(s);
	free(s->text);
	s->text = NULL;
}
