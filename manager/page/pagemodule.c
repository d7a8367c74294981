/* pagemodule.c - reads what a page shows of a module
 *
 * Tested by tests/unit/manager/page/test_pagemodule.c and tests/e2e/page.sh.
 */
#include "manager/page/pagemodule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/search.h"

/* No machine counts more; more lines than that nobody draws: 256 MiB of code. */
static const double COUNT_MAX = 1e18;
enum { WORDS = 9, HEAT_MAX = 1 << 22 };

const char *const pagemodule_confidence_name[NPAGE_CONFIDENCE] = { "low", "medium", "high" };

struct reader {
	struct arena *arena;
	struct pagemodule *m;
	struct pagemodule_fn *fn;	/* the one that lines are of; NULL: none yet */
	char *word[WORDS];
	int n;
	bool bad, ordered;		/* the function's blocks are in order, and all told */
};

/* --- words --- */

static vaddr address(struct reader *r, const char *word)
{
	char *end;

	errno = 0;
	vaddr v = strncmp(word, "0x", 2) == 0 ? strtoull(word + 2, &end, 16) : 0;
	r->bad |= !v || errno || *end;
	return v;
}

static double count(struct reader *r, const char *word)
{
	char *end;
	double v = strtod(word, &end);
	bool good = *word >= '0' && *word <= '9' && !*end && v >= 0 && v <= COUNT_MAX;

	r->bad |= !good;
	return good ? v : 0;
}

static uint32_t number(struct reader *r, const char *word)
{
	double v = count(r, word);

	r->bad |= v > UINT32_MAX;
	return v > UINT32_MAX ? 0 : (uint32_t)v;
}

static enum pagemodule_confidence confidence(struct reader *r, const char *word)
{
	for (int i = 0; i < NPAGE_CONFIDENCE; i++)
		if (strcmp(word, pagemodule_confidence_name[i]) == 0)
			return (enum pagemodule_confidence)i;
	r->bad = true;
	return PAGE_LOW;
}

/* --- lines --- */

static int by_addr(const void *a, const void *b)
{
	const struct pagemodule_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Behind a function's last block, so that they can be looked up; fragments may lie in front. */
static void order_blocks(struct reader *r)
{
	if (r->fn && !r->ordered && r->fn->block.n)
		qsort(r->fn->block.v, r->fn->block.n, sizeof(*r->fn->block.v), by_addr);
	r->ordered = true;
}

static void take_area(struct reader *r)
{
	struct pagemodule_area a = { r->word[1], address(r, r->word[2]),
				     (uint64_t)count(r, r->word[3]) };

	r->bad |= r->m->area.n >= 3;
	vec_push(r->arena, &r->m->area, a);
}

static void take_heat(struct reader *r)
{
	struct pagemodule_heat h = { address(r, r->word[2]), count(r, r->word[3]) };
	enum pagemodule_when w = strcmp(r->word[1], "after") == 0 ? PAGE_AFTER : PAGE_BEFORE;
	uint32_t n = r->m->heat[w].n;

	r->bad |= h.line % PAGE_LINE != 0 || n >= HEAT_MAX ||
		  (n && r->m->heat[w].v[n - 1].line >= h.line);
	vec_push(r->arena, &r->m->heat[w], h);
}

static void take_function(struct reader *r)
{
	struct pagemodule_fn fn = { address(r, r->word[1]), "", count(r, r->word[2]),
				    count(r, r->word[3]), strcmp(r->word[4], "counted") == 0,
				    { 0 }, { 0 }, { 0 }, { 0 } };

	order_blocks(r);
	r->ordered = false;
	vec_push(r->arena, &r->m->fn, fn);
	r->fn = &r->m->fn.v[r->m->fn.n - 1];
}

static void take_cause(struct reader *r)
{
	struct pagemodule_cause c = { r->word[1], count(r, r->word[2]), count(r, r->word[3]) };

	vec_push(r->arena, &r->fn->cause, c);
}

static void take_block(struct reader *r)
{
	char **w = r->word;
	struct pagemodule_block b = {
		.addr = address(r, w[1]), .size = number(r, w[2]), .ninsn = number(r, w[3]),
		.samples = count(r, w[4]), .executions = count(r, w[5]),
		.confidence = confidence(r, w[6]), .cycles = count(r, w[7]),
		.best = count(r, w[8]), .insn = r->fn->insn.n,
	};

	r->bad |= r->ordered;
	vec_push(r->arena, &r->fn->block, b);
}

static void take_insn(struct reader *r)
{
	char **w = r->word;
	struct pagemodule_insn i = {
		.addr = address(r, w[1]), .samples = count(r, w[2]),
		.executions = count(r, w[3]), .cycles = count(r, w[4]), .best = count(r, w[5]),
		.culprit = strcmp(w[6], "-") == 0 ? 0 : address(r, w[6]), .why = w[7],
		.text = "", .source = "",
	};

	vec_push(r->arena, &r->fn->insn, i);
}

static void take_text(struct reader *r)
{
	order_blocks(r);
	struct pagemodule_insn *i = pagemodule_insn_at(r->fn, address(r, r->word[1]));

	if (i)
		i->text = r->word[2];
}

static void take_edge(struct reader *r)
{
	struct pagemodule_edge e = { address(r, r->word[1]), address(r, r->word[2]), r->word[3],
				     count(r, r->word[4]) };

	vec_push(r->arena, &r->fn->edge, e);
}

static void take_image(struct reader *r)
{
	order_blocks(r);
	struct pagemodule_block *b = pagemodule_block_at(r->fn, address(r, r->word[1]));

	if (b)
		b->image = address(r, r->word[2]);
}

static void take_note(struct reader *r)
{
	r->m->note = r->word[1];
}

static const struct kind {
	const char *name;
	int words;
	bool of_function;
	void (*take)(struct reader *r);
} kinds[] = {
	{ "insn", 8, true, take_insn },
	{ "text", 3, true, take_text },
	{ "edge", 5, true, take_edge },
	{ "block", 9, true, take_block },
	{ "image", 3, true, take_image },
	{ "cause", 4, true, take_cause },
	{ "heat", 4, false, take_heat },
	{ "function", 5, false, take_function },
	{ "area", 4, false, take_area },
	{ "note", 2, false, take_note },
	{ NULL, 0, false, NULL }
};

static void take_line(struct reader *r, char *line)
{
	const struct kind *k = kinds;

	r->n = 0;
	for (char *s = line; s && r->n < WORDS; ) {
		char *tab = strchr(s, '\t');

		if (tab)
			*tab++ = '\0';
		r->word[r->n++] = s;
		s = tab;
	}
	while (k->name && strcmp(k->name, r->word[0]) != 0)
		k++;
	if (!k->name || k->words != r->n || (k->of_function && !r->fn))
		r->bad = true;
	else
		k->take(r);
}

/* --- all --- */

struct pagemodule_fn *pagemodule_fn_at(const struct pagemodule *m, vaddr entry)
{
	for (uint32_t i = 0; i < m->fn.n; i++)
		if (m->fn.v[i].entry == entry)
			return &m->fn.v[i];
	return NULL;
}

struct pagemodule_block *pagemodule_block_at(const struct pagemodule_fn *fn, vaddr addr)
{
	uint32_t k = search_first(i, 0, fn->block.n, fn->block.v[i].addr < addr);

	return k < fn->block.n && fn->block.v[k].addr == addr ? &fn->block.v[k] : NULL;
}

struct pagemodule_insn *pagemodule_insn_at(const struct pagemodule_fn *fn, vaddr addr)
{
	uint32_t k = search_first(i, 0, fn->block.n, fn->block.v[i].addr <= addr);

	if (k == 0)
		return NULL;
	const struct pagemodule_block *b = &fn->block.v[k - 1];
	for (uint32_t i = b->insn; i < fn->insn.n && i - b->insn < b->ninsn; i++)
		if (fn->insn.v[i].addr == addr)
			return &fn->insn.v[i];
	return NULL;
}

const struct pagemodule_area *pagemodule_area(const struct pagemodule *m, const char *name)
{
	for (uint32_t i = 0; i < m->area.n; i++)
		if (strcmp(m->area.v[i].name, name) == 0)
			return &m->area.v[i];
	return NULL;
}

int pagemodule_read(char *text, struct arena *a, struct pagemodule *out, struct err *err)
{
	struct reader r = { .arena = a, .m = out };
	char *nl;

	*out = (struct pagemodule){ .path = "" };
	for (char *line = text; *line && !r.bad; line = nl + 1) {
		nl = strchr(line, '\n');
		if (!nl) {
			r.bad = true;
			break;
		}
		*nl = '\0';
		take_line(&r, line);
	}
	order_blocks(&r);
	if (r.bad)
		return err_set(err, ERR_INPUT, "what its reader draws is malformed");
	return 0;
}
