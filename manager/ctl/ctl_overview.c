/* ctl_overview.c - morphctl without a command: the machine on one screen
 *
 * What is wrong comes first, then the programs that matter, then what was gained.  On a
 * terminal as many programs are shown as there is room for, however many lines each of them
 * takes.
 *
 * Tested by tests/e2e/overview.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "lib/table.h"
#include "lib/utf8.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/screen.h"

enum { SENTENCE_MAX = 400 };

static struct table *find(const struct ctl_tables *t, const char *title)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(table_title(t->at[i]), title) == 0)
			return t->at[i];
	return NULL;
}

/* "" where there is no such cell. */
static const char *cell(const struct table *t, int row, const char *column)
{
	int i = t && row < table_nrow(t) ? table_column_of(t, column) : -1;

	return i < 0 ? "" : table_cell(t, row, i);
}

static bool is_set(const struct table *t, const char *column)
{
	return strcmp(cell(t, 0, column), "1") == 0;
}

static void say_watching(FILE *f, const struct table *t, unsigned width)
{
	char text[SENTENCE_MAX], when[32] = "?", since[64] = "";
	bool automatic = is_set(t, "automatic"), idle = is_set(t, "idle");
	const char *until = !automatic ? "; `morphctl auto on` changes that"
			    : idle     ? ", when the machine is idle; it is now"
				       : ", when the machine is idle; it is not now, by ";
	time_t s = (time_t)(strtoull(cell(t, 0, "since"), NULL, 10) / 1000000000);
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&s, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	table_human_time(now > s ? (unsigned long long)(now - s) : 0, since, sizeof(since));
	(void)snprintf(text, sizeof(text), "Watching since %s (%s)%s. Programs are %s by "
		       "themselves%s%s.", when, since,
		       is_set(t, "sampling") ? "" : "; no samples are taken now",
		       automatic ? "laid out" : "not laid out", until,
		       automatic && !idle ? cell(t, 0, "not_idle") : "");	/* cut */
	char *shown = utf8_escaped(text);
	screen_wrap(f, shown, 0, 0, width);
	free(shown);
}

/* "" of an original. */
static void say_times(const struct table *t, int row, char *out, size_t size)
{
	const char *times = cell(t, row, "times_as_fast");

	out[0] = 0;
	if (*times)
		(void)snprintf(out, size, "%.2f (%.2f .. %.2f)", strtod(times, NULL),
			       strtod(cell(t, row, "times_low"), NULL),
			       strtod(cell(t, row, "times_high"), NULL));
	else if (strcmp(cell(t, row, "generation"), "0") != 0)
		(void)snprintf(out, size, "not known");
}

/* The first n programs, by the columns that people see. */
static void show_programs(FILE *f, const struct table *t, int n, const struct table_look *look)
{
	static const struct table_column col[] = {
		{ "cpu_pct", TABLE_REAL }, { "path", TABLE_TEXT },
		{ "times_as_fast", TABLE_TEXT }, { "next", TABLE_TEXT },
	};
	struct table *out = table_new("programs", 4, col);

	for (int row = 0; row < n; row++) {
		char times[96];

		say_times(t, row, times, sizeof(times));
		const char *const one[] = { cell(t, row, "cpu_pct"), cell(t, row, "path"),
					    times, cell(t, row, "next") };

		table_row_text(out, one);
	}
	if (n)
		table_show_all(&out, 1, f, look);
	table_free(out);
}

static void say_gained(FILE *f, const struct table *t, unsigned width)
{
	char text[SENTENCE_MAX];
	const struct table *all = t;
	bool costs = all && table_nrow(all) == 3;
	double saved = strtod(cell(all, 0, "cpu_s"), NULL);
	int n = snprintf(text, sizeof(text), "Saved so far: %.1f s of CPU time (%.1f to %.1f), "
			 "as far as it is measured", saved, strtod(cell(all, 0, "low_s"), NULL),
			 strtod(cell(all, 0, "high_s"), NULL));

	if (costs)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %.1f s is what Morph has "
			      "taken", strtod(cell(all, 1, "cpu_s"), NULL));
	(void)snprintf(text + n, sizeof(text) - (size_t)n, ". `morphctl saved` tells where.");
	screen_wrap(f, text, 0, 0, width);
}

static void show_screen(FILE *f, const struct ctl_tables *t, int n,
			const struct table_look *look)
{
	const struct table *programs = find(t, "programs");
	struct table *problems = find(t, "problems");
	unsigned width = look->width ? look->width : screen_text_width();
	char text[96];

	if (problems) {
		table_show_all(&problems, 1, f, look);
		(void)fputc('\n', f);
	}
	say_watching(f, find(t, "watching"), width);
	(void)fputc('\n', f);
	show_programs(f, programs, n, look);
	if (!programs || !table_nrow(programs))
		say_line(f, "No program that the policy allows has been sampled yet.");
	unsigned long long all = strtoull(cell(find(t, "watching"), 0, "programs"), NULL, 10);
	(void)snprintf(text, sizeof(text), "%llu more: `morphctl list --all`",
		       all - (unsigned long long)n);
	if (all > (unsigned long long)n)
		say_line(f, "%s", text);
	(void)fputc('\n', f);
	say_gained(f, find(t, "in_all"), width);
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* True: as many lines as there is room for, or nobody asks.  Else nothing is open any more. */
static bool open_fitting(struct screen *s, const struct ctl *ctl, const struct ctl_tables *t,
			 int n)
{
	unsigned room = screen_lines();

	screen_open(s, ctl);
	show_screen(s->out, t, n, &s->look);
	(void)fflush(s->out);		/* to memory */
	if (!room || lines_of(s->text) < room)
		return true;
	screen_drop(s);
	return false;
}

/* With as many programs as there is room for; with all of them, page by page, if there is not
 * even room for none. */
static int show_fitting(const struct ctl *ctl, const struct ctl_tables *t)
{
	const struct table *programs = find(t, "programs");
	int all = programs ? table_nrow(programs) : 0, n = all;
	struct screen s;

	while (n >= 0 && !open_fitting(&s, ctl, t, n))
		n--;
	if (n < 0) {
		screen_open(&s, ctl);
		show_screen(s.out, t, all, &s.look);
	}
	return screen_close(&s, 0);
}

int ctl_overview(const struct ctl *ctl)
{
	static const char *const request = "overview";
	struct ctl_tables t;
	int code = ctl_fetch(ctl, 1, &request, &t);

	if (code) {
		ctl_tables_free(&t);
		say_line(stderr, "'morphctl help' lists the commands");
		return code;
	}
	if (ctl->json)
		return ctl_print(ctl, &t, 0);
	code = show_fitting(ctl, &t);
	ctl_tables_free(&t);
	return code;
}
