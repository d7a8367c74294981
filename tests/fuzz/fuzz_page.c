/* fuzz_page.c - whatever a job says of a module is refused or drawn, and what is drawn is
 * markup of ours alone
 *
 * Input: text as editor/annotate/picture.h has it.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/page/htmltable.h"
#include "manager/page/page_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_table(struct wr *w, struct table *t)
{
	htmltable_put(w, t, NULL);
	table_free(t);
}

/* Elements begin with a name that is one of ours, attributes end where they should. */
static void check(const struct wr *w)
{
	static const char name[] = " svg title path text figure figcaption g rect table "
				   "thead tbody tr th td a ";
	bool inside = false;

	for (size_t i = 0; i < w->n; i++) {
		if (w->p[i] == '<') {
			char word[16] = " ";
			size_t k = i + 1 + (w->p[i + 1] == '/'), n = 1;

			assert(!inside);
			inside = true;
			while (k < w->n && n < 14 && w->p[k] >= 'a' && w->p[k] <= 'z')
				word[n++] = (char)w->p[k++];
			word[n++] = ' ';
			word[n] = '\0';
			assert(strstr(name, word));
		} else if (w->p[i] == '>') {
			assert(inside);
			inside = false;
		}
	}
	assert(!inside);
}

static void draw(const struct pagemodule *m)
{
	struct wr w = { 0 };

	page_heat(&w, m);
	put_table(&w, page_heat_table(m));
	for (uint32_t i = 0; i < m->fn.n; i++) {
		const struct pagemodule_fn *fn = &m->fn.v[i];

		page_flow(&w, fn, PAGE_BEFORE);
		if (page_flow_moved(fn))
			page_flow(&w, fn, PAGE_AFTER);
		put_table(&w, page_flow_table(fn));
		put_table(&w, page_code_causes(fn));
		page_code(&w, 0, fn);
	}
	check(&w);
	wr_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	char *text = arena_alloc(a, size + 1);
	struct pagemodule m;
	struct err err;

	if (size)
		memcpy(text, data, size);
	if (strlen(text) == size && pagemodule_read(text, a, &m, &err) == 0)
		draw(&m);
	arena_free(a);
	return 0;
}
