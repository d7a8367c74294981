/* madeset.c - samples in code that processes made, and their names; see madeset.h
 *
 * Items are gathered as they come, and added up when there is no room for another one.
 *
 * Tested by tests/unit/manager/samples/test_madeset.c.
 */
#include "manager/samples/madeset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/utf8.h"
#include "manager/samples/attribute.h"
#include "monitor/spool.h"

/* Chosen: 1 MiB; a name is cut; a process has its jitdump among so many files. */
enum { ITEMS = 65536, NAME_BYTES = 256, FILES = 4096 };

/* --- gathering --- */

/* The process that has that number now; NULL: none is known. */
static struct madeset_maker *find(struct madeset *m, uint32_t pid)
{
	for (uint32_t i = m->nmaker; i-- > 0; )
		if (m->maker[i].pid == pid)
			return m->maker[i].over ? NULL : &m->maker[i];
	return NULL;
}

void madeset_event(struct madeset *m, const struct spool_event *ev)
{
	struct madeset_maker *maker = NULL;

	if (ev->kind == SPOOL_EXEC || (ev->kind == SPOOL_EXIT && ev->pid == ev->tid))
		maker = find(m, ev->pid);
	if (maker)
		maker->over = true;
}

static int by_place(const void *a, const void *b)
{
	const struct madeset_item *x = a, *y = b;

	if (x->maker != y->maker)
		return x->maker < y->maker ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Each place once, ascending. */
static void add_up(struct madeset *m)
{
	uint32_t n = 0;

	if (m->nitem)
		qsort(m->item, m->nitem, sizeof(*m->item), by_place);
	for (uint32_t i = 0; i < m->nitem; i++)
		if (n && by_place(&m->item[n - 1], &m->item[i]) == 0)
			m->item[n - 1].samples += m->item[i].samples;
		else
			m->item[n++] = m->item[i];
	m->nitem = n;
}

void madeset_add(struct madeset *m, const struct spool_event *ev, uint32_t program,
		 const char *path, uint64_t wall_ns)
{
	struct madeset_maker *maker = find(m, ev->pid);

	if (!maker && m->nmaker == MADESET_MAKERS) {
		topnames_add(&m->rest, path, 1);
		return;
	}
	if (!m->maker) {
		m->maker = memory_new(MADESET_MAKERS, sizeof(*m->maker));
		m->item = memory_new(ITEMS, sizeof(*m->item));
	}
	if (!maker) {
		maker = &m->maker[m->nmaker++];
		*maker = (struct madeset_maker){ .pid = ev->pid, .program = program,
						 .first_ns = wall_ns };
	}
	maker->samples++;
	/* not over and over, when it brings little */
	if (m->nitem == ITEMS && !m->full) {
		add_up(m);
		m->full = m->nitem > ITEMS / 2;
	}
	if (m->nitem < ITEMS)
		m->item[m->nitem++] = (struct madeset_item){ (uint32_t)(maker - m->maker), 1,
							     ev->sample.pc };
}

void madeset_clear(struct madeset *m)
{
	topnames_free(&m->rest);
	free(m->maker);
	free(m->item);
	*m = (struct madeset){ 0 };
}

/* --- the answer of the job --- */

void madeset_answer_free(struct madeset_answer *a)
{
	for (uint32_t i = 0; i < a->nname; i++)
		free(a->name[i]);
	free(a->name);
	free(a->of);
	*a = (struct madeset_answer){ 0 };
}

static bool add_name(struct madeset_answer *a, const char *name, uint32_t most)
{
	char cut[NAME_BYTES];

	if (!*name || !utf8_all_shown(name) || a->nname == most)
		return false;
	utf8_escape(name, cut, sizeof(cut));
	a->name = memory_grow(a->name, a->nname + (size_t)1, sizeof(*a->name));
	a->name[a->nname++] = memory_need(strdup(cut));
	return true;
}

/* "-" or the number of a name that there is. */
static bool read_which(const char *text, uint32_t nname, uint32_t *out)
{
	char *end;

	*out = 0;
	if (strcmp(text, "-") == 0)
		return true;
	uint64_t number = strtoull(text, &end, 10);
	*out = (uint32_t)number + 1;
	return *text >= '0' && *text <= '9' && !*end && number < nname;
}

/* Of the lines of a function, a frame and a place only the last word is of use here. */
static bool take_line(struct madeset_answer *a, const char *line, uint32_t n, uint32_t *at)
{
	const char *last = strrchr(line, '\t');

	if (!last)
		return false;
	if (strncmp(line, "function\t", 9) == 0)
		return add_name(a, last + 1, n);
	if (strncmp(line, "frame\t", 6) == 0)
		return true;
	return strncmp(line, "place\t", 6) == 0 && *at < n &&
	       read_which(last + 1, a->nname, &a->of[(*at)++]);
}

int madeset_read_names(struct bytes text, uint32_t n, struct madeset_answer *out,
		       struct err *err)
{
	struct madeset_answer a = { .of = memory_new(n, sizeof(*a.of)) };
	char *copy = memory_new(text.n + 1, 1), *line = copy, *nl;
	bool good = !text.n || !memchr(text.p, 0, text.n);
	uint32_t at = 0;

	if (text.n)
		memcpy(copy, text.p, text.n);
	for (; good && *line; line = nl + 1) {
		nl = strchr(line, '\n');
		good = nl != NULL;
		if (!good)
			break;
		*nl = '\0';
		good = take_line(&a, line, n, &at);
	}
	free(copy);
	if (!good || at != n) {
		madeset_answer_free(&a);
		return err_set(err, ERR_INPUT, "names of code that are malformed");
	}
	a.known = out->known;
	a.uid = out->uid;
	*out = a;
	return 0;
}

/* --- resolving --- */

/* /ANYWHERE/jit-PID.dump, if it has mapped one. */
static const char *dump_of(struct spaces *s, uint32_t pid)
{
	uint32_t *file = memory_new(FILES, sizeof(*file));
	uint32_t n = spaces_files_of(s, pid, file, FILES);
	const char *found = "";
	char name[32];

	(void)snprintf(name, sizeof(name), "/jit-%" PRIu32 ".dump", pid);	/* fits */
	for (uint32_t i = 0; i < n; i++) {
		const char *path = spaces_file(s, file[i])->path, *base = strrchr(path, '/');

		if (path[0] == '/' && strcmp(base, name) == 0)
			found = path;
	}
	free(file);
	return found;
}

struct named {
	uint32_t name;			/* of the answer */
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Those that have names; how many samples that are. */
static uint64_t add_named(const struct madeset_question *q, const struct madeset_answer *a,
			  const struct madeset_item *item, uint32_t uid,
			  struct attribution *out)
{
	struct named *named = memory_new(a->nname, sizeof(*named));
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->nname; i++)
		named[i].name = i;
	for (uint32_t i = 0; i < q->n && a->nname; i++)
		if (a->of[i])
			named[a->of[i] - 1].samples += item[i].samples;
	if (a->nname)
		qsort(named, a->nname, sizeof(*named), by_samples);
	for (uint32_t i = 0; i < a->nname && i < MADESET_NAMES && named[i].samples; i++) {
		attribution_made(out, q->program, a->name[named[i].name], uid,
				 named[i].samples);
		sum += named[i].samples;
	}
	free(named);
	return sum;
}

/* item[0 .. n): those of the maker. */
static void resolve_maker(const struct madeset_maker *m, const struct madeset_item *item,
			  uint32_t n, struct spaces *s, const struct attribute_resolver *r,
			  struct attribution *out)
{
	struct madeset_question q = { .program = spaces_file(s, m->program)->path, .dump = "",
				      .pid = m->pid, .first_ns = m->first_ns,
				      .samples = m->samples, .n = n };
	struct madeset_answer a = { 0 };
	uint64_t *pc = memory_new(n, sizeof(*pc)), unnamed = m->samples;

	for (uint32_t i = 0; i < n; i++)
		pc[i] = item[i].pc;
	q.pc = pc;
	if (!m->over && n && r->made) {
		q.dump = dump_of(s, m->pid);
		r->made(r->ctx, &q, &a);
	}
	uint32_t uid = a.known ? a.uid : MADESET_NOBODY;
	unnamed -= add_named(&q, &a, item, uid, out);
	if (unnamed)
		attribution_made(out, q.program, "", uid, unnamed);
	madeset_answer_free(&a);
	free(pc);
}

static int by_weight(const void *a, const void *b)
{
	const struct madeset_maker *const *x = a, *const *y = b;

	if ((*x)->samples != (*y)->samples)
		return (*x)->samples > (*y)->samples ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

void madeset_resolve(struct madeset *m, struct spaces *s, const struct attribute_resolver *r,
		     uint64_t all, struct attribution *out)
{
	const struct madeset_maker *order[MADESET_MAKERS];
	uint64_t told = 0;

	add_up(m);
	for (uint32_t i = 0; i < m->nmaker; i++)
		order[i] = &m->maker[i];
	if (m->nmaker)
		qsort(order, m->nmaker, sizeof(order[0]), by_weight);
	for (uint32_t k = 0; k < m->nmaker; k++) {
		uint32_t which = (uint32_t)(order[k] - m->maker);
		uint32_t from = search_first(i, 0, m->nitem, m->item[i].maker < which);
		uint32_t to = search_first(i, from, m->nitem, m->item[i].maker <= which);

		resolve_maker(order[k], m->item + from, to - from, s, r, out);
		told += order[k]->samples;
	}
	for (uint32_t i = 0; i < m->rest.n; i++) {
		attribution_made(out, m->rest.at[i].name, "", MADESET_NOBODY,
				 m->rest.at[i].samples);
		told += m->rest.at[i].samples;
	}
	if (all > told)
		attribution_made(out, "", "", MADESET_NOBODY, all - told);
}
