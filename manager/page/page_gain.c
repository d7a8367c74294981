/* page_gain.c - gain and its interval over time, of one module
 *
 * A point is how many times as fast its program was found to be, the line through it the
 * interval; the line across is 1: neither faster nor slower.
 *
 * Tested by tests/unit/manager/page/test_gainpoints.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table_parts.h"
#include "manager/page/html.h"
#include "manager/page/page_parts.h"

/* In units of the picture. */
enum { WIDTH = 560, HEIGHT = 150, LEFT = 44, RIGHT = 12, TOP = 10, BOTTOM = 22 };

struct axes {
	uint64_t first_ns, last_ns;
	double low, high;
};

static double x_of(const struct axes *a, uint64_t time_ns)
{
	double span = (double)(a->last_ns - a->first_ns);
	double part = span > 0 ? (double)(time_ns - a->first_ns) / span : 0.5;

	return LEFT + 10 + part * (WIDTH - LEFT - RIGHT - 20);
}

static double y_of(const struct axes *a, double v)
{
	return HEIGHT - BOTTOM - (v - a->low) / (a->high - a->low) * (HEIGHT - TOP - BOTTOM);
}

static struct axes axes_of(const gainpoints *p, const char *path)
{
	struct axes a = { UINT64_MAX, 0, 0.98, 1.02 };

	for (uint32_t i = 0; i < p->n; i++) {
		const struct gainpoint *g = &p->v[i];

		if (strcmp(g->path, path) != 0)
			continue;
		a.first_ns = g->time_ns < a.first_ns ? g->time_ns : a.first_ns;
		a.last_ns = g->time_ns > a.last_ns ? g->time_ns : a.last_ns;
		a.low = fmin(a.low, g->low);
		a.high = fmax(a.high, g->high);
	}
	return a;
}

static void put_line(struct wr *w, const struct axes *a, double v)
{
	html_put(w, "<path class=\"axis\" d=\"M%d %.1fH%d\"/><text x=\"4\" y=\"%.1f\">%.3g"
		 "</text>\n", LEFT, y_of(a, v), WIDTH - RIGHT, y_of(a, v) + 3, v);
}

static void put_time(struct wr *w, double x, const char *anchor, uint64_t time_ns)
{
	char raw[24];

	(void)snprintf(raw, sizeof(raw), "%" PRIu64, time_ns);	/* fits */
	char *text = table_text_cell(raw, TABLE_TIME, 0);
	html_put(w, "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n", anchor, x,
		 HEIGHT - 6, text);
	free(text);
}

void page_gain(struct wr *w, const gainpoints *p, const char *path)
{
	struct axes a = axes_of(p, path);

	html_put(w, "<figure><figcaption>%s</figcaption>\n<svg class=\"chart\" role=\"img\" "
		 "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		 "xmlns=\"http://www.w3.org/2000/svg\">\n<title>times as fast, %s</title>\n",
		 path, WIDTH, HEIGHT, WIDTH, HEIGHT, path);
	put_line(w, &a, 1);
	if (a.low < 0.99)
		put_line(w, &a, a.low);
	if (a.high > 1.01)
		put_line(w, &a, a.high);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct gainpoint *g = &p->v[i];
		double x = x_of(&a, g->time_ns);

		if (strcmp(g->path, path) != 0)
			continue;
		html_put(w, "<path class=\"band\" d=\"M%.1f %.1fV%.1f\"/>", x, y_of(&a, g->low),
			 y_of(&a, g->high));
		html_put(w, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>"
			 "%s: %.3f (%.3f to %.3f)</title></circle>\n", x, y_of(&a, g->estimate),
			 g->event, g->estimate, g->low, g->high);
	}
	put_time(w, LEFT, "start", a.first_ns);
	if (a.last_ns != a.first_ns)
		put_time(w, WIDTH - RIGHT, "end", a.last_ns);
	html_put(w, "</svg></figure>\n");
}
