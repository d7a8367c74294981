/* daemonpage.c - one page of what the daemon says: what is wrong, the machine, its programs,
 * what was gained, what was done, and what was left and why
 *
 * Tested by tests/e2e/daemonpage.sh and tests/unit/manager/page/test_gainpoints.c.
 */
#include "manager/page/daemonpage.h"

#include <string.h>

#include "lib/table.h"
#include "manager/page/frame.h"
#include "manager/page/gainpoints.h"
#include "manager/page/html.h"
#include "manager/page/htmltable.h"
#include "manager/page/machinetable.h"
#include "manager/page/page_parts.h"

struct page {
	const struct daemonpage_answer *answer;
	uint32_t n;
	struct wr *w;
	const struct table *history;	/* NULL: none */
	gainpoints gain;
};

static void put_table(struct page *p, const struct table *t)
{
	html_put(p->w, "<div class=\"wide\">");
	htmltable_put(p->w, t, NULL);
	html_put(p->w, "</div>\n");
}

static const struct daemonpage_answer *answer_to(const struct page *p, const char *request)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (strcmp(p->answer[i].request, request) == 0)
			return &p->answer[i];
	return NULL;
}

static bool is_trouble(const struct table *t)
{
	return strcmp(table_title(t), "problems") == 0 ||
	       strcmp(table_title(t), "not_available") == 0;
}

/* The tables of an answer with their names as headings; `trouble`: only what is wrong, or only
 * the others. */
static void put_answer(struct page *p, const char *request, bool trouble)
{
	const struct daemonpage_answer *a = answer_to(p, request);

	if (a && a->failed)
		html_put(p->w, "<p class=\"note\">%s</p>\n", a->failed);
	for (int i = 0; a && i < a->ntable; i++) {
		if (is_trouble(a->table[i]) != trouble)
			continue;
		html_put(p->w, "<h4>%s</h4>\n", table_title(a->table[i]));
		put_table(p, a->table[i]);
	}
}

static bool has_trouble(const struct page *p)
{
	const struct daemonpage_answer *a = answer_to(p, "status");

	for (int i = 0; a && i < a->ntable; i++)
		if (is_trouble(a->table[i]) && table_nrow(a->table[i]))
			return true;
	return false;
}

static void put_trouble(struct page *p)
{
	if (has_trouble(p))
		put_answer(p, "status", true);
	else
		html_put(p->w, "<p>Nothing.</p>\n");
}

static void put_machine(struct page *p)
{
	struct table *t = machinetable_new();

	put_table(p, t);
	table_free(t);
	put_answer(p, "status", false);
}

static void put_programs(struct page *p)
{
	put_answer(p, "list", false);
}

static void put_report(struct page *p)
{
	put_answer(p, "report", false);
}

static bool is_told(const struct page *p, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(p->gain.v[k].path, p->gain.v[i].path) == 0)
			return true;
	return false;
}

static void put_gain(struct page *p)
{
	if (!p->gain.n) {
		html_put(p->w, "<p>Nothing has been measured so far.</p>\n");
		return;
	}
	html_put(p->w, "<p class=\"note\">How many times as fast a program was found to be "
		 "with what was put in its place, with the interval that was measured.</p>\n"
		 "<div class=\"pictures\">\n");
	for (uint32_t i = 0; i < p->gain.n; i++)
		if (!is_told(p, i))
			page_gain(p->w, &p->gain, p->gain.v[i].path);
	html_put(p->w, "</div>\n");
	struct table *t = gainpoints_table(&p->gain);
	put_table(p, t);
	table_free(t);
}

static void put_saved(struct page *p)
{
	put_answer(p, "saved", false);
}

static void put_history(struct page *p)
{
	put_answer(p, "history", false);
}

/* What was not done, or taken back. */
static bool is_refusal(const char *event)
{
	static const char *const word[] = { "refused", "slower", "crash", "not inherited" };

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (strstr(event, word[i]))
			return true;
	return false;
}

static void put_refused(struct page *p, const struct table *history)
{
	struct table *t = table_new("refused", table_ncol(history), table_columns(history));
	enum { MOST = 16 };
	const char *cell[MOST];
	int event = table_ncol(history) > MOST ? -1 : table_column_of(history, "event");

	for (int r = 0; event >= 0 && r < table_nrow(history); r++) {
		if (!is_refusal(table_cell(history, r, event)))
			continue;
		for (int c = 0; c < table_ncol(history); c++)
			cell[c] = table_cell(history, r, c);
		table_row_text(t, cell);
	}
	if (table_nrow(t))
		put_table(p, t);
	else
		html_put(p->w, "<p>No file was refused, and none taken back.</p>\n");
	table_free(t);
}

static void put_left(struct page *p)
{
	if (p->history)
		put_refused(p, p->history);
	html_put(p->w, "<p class=\"note\">Functions of the programs that run most, by why they "
		 "are left as they are.</p>\n");
	for (uint32_t i = 0; i < p->n; i++) {
		const struct daemonpage_answer *a = &p->answer[i];

		if (!a->module)
			continue;
		html_put(p->w, "<h3><bdi>%s</bdi></h3>\n", a->module);
		if (a->failed)
			html_put(p->w, "<p class=\"note\">%s</p>\n", a->failed);
		for (int k = 0; k < a->ntable; k++)
			put_table(p, a->table[k]);
	}
}

static const struct part {
	const char *id, *heading;
	void (*put)(struct page *p);
} parts[] = {
	{ "wrong", "What is wrong", put_trouble },
	{ "programs", "Programs and libraries", put_programs },
	{ "saved", "CPU time saved, and what Morph takes", put_saved },
	{ "gain", "Gain over time", put_gain },
	{ "time", "Where the time goes", put_report },
	{ "history", "Generations: what was done", put_history },
	{ "left", "What was refused or is left, and why", put_left },
	{ "machine", "The machine, and what is sampled", put_machine },
};
enum { NPART = sizeof(parts) / sizeof(parts[0]) };

void daemonpage_put(const struct daemonpage_answer *answer, uint32_t n, struct wr *out)
{
	static const char title[] = "Morph: this machine";
	struct page p = { .answer = answer, .n = n, .w = out };
	struct arena *arena = arena_new();
	const struct daemonpage_answer *history = answer_to(&p, "history");

	for (int i = 0; history && i < history->ntable; i++)
		if (strcmp(table_title(history->table[i]), "history") == 0)
			p.history = history->table[i];
	if (p.history)
		gainpoints_of(p.history, arena, &p.gain);
	frame_begin(out, title);
	html_put(out, "<nav aria-label=\"Contents\"><ul>\n");
	for (int i = 0; i < NPART; i++)
		html_put(out, "<li><a href=\"#%s\">%s</a></li>\n", parts[i].id,
			 parts[i].heading);
	html_put(out, "</ul></nav>\n");
	for (int i = 0; i < NPART; i++) {
		html_put(out, "<section id=\"%s\"><h2>%s</h2>\n", parts[i].id,
			 parts[i].heading);
		parts[i].put(&p);
		html_put(out, "</section>\n");
	}
	frame_end(out, title);
	arena_free(arena);
}
