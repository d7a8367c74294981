/* evidence_log.c - the samples of a log by program, file and instruction
 *
 *   sample --spaces--> (program, file, offset), equal ones added up
 *          --one file after the other: the original, the block map--> address
 *          --morph-edit places--> function, block, frames
 *
 * Where samples have pieces of their stacks, the callers on them are places as well, without
 * samples of their own (evidence_stacks.h).  Other than attribute.h, which feeds the store,
 * this keeps the instruction and the program.
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/report/evidence_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/report/evidence_names.h"
#include "manager/report/evidence_stacks.h"
#include "manager/report/intern.h"
#include "manager/report/madecode.h"
#include "manager/report/rows.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

/* Samples in no file, in the place of a file's index. */
enum elsewhere { IN_KERNEL = 1, IN_VDSO, IN_MADE, IN_UNKNOWN, IN_OTHERS, IN_NO_MAPPING,
		 NELSEWHERE };
static const char *const elsewhere_name[NELSEWHERE] = {
	[IN_KERNEL] = "[kernel]", [IN_VDSO] = "[vdso]", [IN_MADE] = "[code made at run time]",
	[IN_UNKNOWN] = "[unknown processes]", [IN_OTHERS] = "[other pid namespaces]",
	[IN_NO_MAPPING] = "[no known mapping]",
};

/* Code that a process has made: the first of those, by number of their makers. */
#define MADE UINT32_C(0x80000000)

struct item {
	/* of the spaces; MADE + n: code that maker n has made; UINT32_MAX - n: elsewhere n */
	uint32_t file;
	uint32_t program;	/* likewise; UINT32_MAX: not known */
	uint64_t off;
	uint64_t samples;
};

struct items {
	struct item *at;
	size_t n, cap, kept;	/* the first `kept` are in order, each once */
};

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

static void items_merge(struct items *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), by_place);
	for (size_t i = 0; i < s->n; i++) {
		if (n && by_place(&s->at[n - 1], &s->at[i]) == 0)
			s->at[n - 1].samples += s->at[i].samples;
		else
			s->at[n++] = s->at[i];
	}
	s->n = s->kept = n;
}

static void items_add(struct items *s, const struct item *item)
{
	if (s->n == s->cap)
		items_merge(s);
	if (s->n >= s->cap / 2 && s->n == s->kept) {
		s->cap = s->cap ? 2 * s->cap : 4096;
		s->at = memory_grow(s->at, s->cap, sizeof(*s->at));
	}
	s->at[s->n++] = *item;
}

/* --- the walk --- */

struct walk {
	struct evidence *e;
	bool stacks;		/* wanted */
	struct spaces *spaces;
	struct items items;
	struct stackwalker *walker;
	struct madecode made;
	struct madecode_log log;
	struct intern procedure;	/* of the kernel; an item's off is one's number + 1 */
	struct intern stack;	/* of struct frame: the first says how it ends, then innermost
				 * first */
	VEC(double) count;	/* of each */
	struct err *err;
};

/* A place on a stack: the key of an item.  No padding. */
struct frame {
	uint64_t off;		/* of the first one of a key: is it cut off? */
	uint32_t file, program;
};

enum { FRAMES_MAX = 2 + CALLSTACK_DEPTH_MAX };		/* with how it ends, and the kernel */

static const enum elsewhere where[] = {
	[SPACE_VDSO] = IN_VDSO, [SPACE_ANON] = IN_MADE,
	[SPACE_NOPROCESS] = IN_UNKNOWN, [SPACE_ELSEWHERE] = IN_OTHERS,
	[SPACE_NOWHERE] = IN_NO_MAPPING,
};

static uint32_t made_by(uint32_t maker)
{
	return maker == UINT32_MAX ? UINT32_MAX - IN_MADE : MADE + maker;
}

static struct item place_of(struct walk *w, const struct spool_event *ev)
{
	struct spaces *spaces = w->spaces;
	const struct space_run *run = spaces_run(spaces, ev->pid);
	struct item item = { .program = run && run->exe ? run->exe - 1 : UINT32_MAX,
			     .file = UINT32_MAX - IN_KERNEL, .samples = 1 };
	file_off off;

	if (ev->sample.kernel && ev->sample.procedure)
		item.off = intern_text(&w->procedure, ev->sample.procedure) + 1;
	if (ev->sample.kernel)
		return item;
	enum space_hit hit = spaces_find(spaces, ev->pid, ev->sample.pc, &item.file, &off);
	item.off = hit == SPACE_FILE ? off : hit == SPACE_ANON ? ev->sample.pc : 0;
	if (hit == SPACE_ANON)
		item.file = made_by(madecode_maker(&w->made, ev->pid));
	else if (hit != SPACE_FILE)
		item.file = UINT32_MAX - where[hit];
	return item;
}

static void count_stack(struct walk *w, struct frame *frame, uint32_t n, bool cut)
{
	frame[0] = (struct frame){ cut, 0, 0 };
	uint32_t k = intern_key(&w->stack, frame, n * sizeof(*frame));

	if (k == w->count.n)
		vec_push(w->e->arena, &w->count, 0);
	w->count.v[k]++;
}

static void put_frame(struct walk *w, struct frame *frame, const struct item *item)
{
	*frame = (struct frame){ item->off, item->file, item->program };
	items_add(&w->items, item);
}

/* A sample with its callers: all are places, and one of them has the sample. */
static void on_stack(void *ctx, const struct stackwalker_stack *s)
{
	struct frame frame[FRAMES_MAX];
	struct walk *w = ctx;
	uint32_t n = 1;

	if (s->kernel)
		put_frame(w, &frame[n++], &(struct item){ UINT32_MAX - IN_KERNEL,
							  s->given.program,
							  s->given.procedure, 1 });
	for (uint32_t i = 0; i < s->n; i++) {
		const struct stackwalker_place *p = &s->place[i];
		struct item item = { UINT32_MAX - where[p->hit], s->given.program, 0, n == 1 };

		if (p->hit == SPACE_FILE)
			item.file = p->file;
		else if (p->hit == SPACE_ANON)
			item.file = made_by(s->given.maker);
		if (p->hit == SPACE_FILE || p->hit == SPACE_ANON)
			item.off = p->off;
		put_frame(w, &frame[n++], &item);
	}
	count_stack(w, frame, n, s->end != CALLSTACK_WHOLE);
	w->e->cut_short += s->end == CALLSTACK_SHORT;
	w->e->guessed += s->guessed;
}

static int on_sample(struct walk *w, const struct spool_event *ev)
{
	struct item item = place_of(w, ev);
	struct frame frame[2];

	if (w->stacks && ev->sample.has_state && ev->sample.state.stack_bytes &&
	    item.file != UINT32_MAX - IN_UNKNOWN && item.file != UINT32_MAX - IN_OTHERS) {
		const struct stackwalker_given given = {
			item.program, madecode_maker(&w->made, ev->pid),
			ev->sample.kernel ? item.off : 0,
		};

		w->e->with_stacks = true;
		return stackwalker_add(w->walker, ev, &given, w->err);
	}
	put_frame(w, &frame[1], &item);
	/* what a process does in the kernel before it has a stack, and behind that, is whole */
	count_stack(w, frame, 2, !ev->sample.kernel || ev->sample.pc);
	return 0;
}

/* The part of the log's time that is wanted. */
struct span {
	uint64_t begin_ns, end_ns;
};

static struct span span_of(const struct evidence_source *source, uint64_t first_ns)
{
	return (struct span){ first_ns + source->since_ns,
			      source->until_ns ? first_ns + source->until_ns : UINT64_MAX };
}

/* What there is of it in a log that ends then. */
static uint64_t span_length_ns(const struct span *span, uint64_t end_ns)
{
	uint64_t end = span->end_ns < end_ns ? span->end_ns : end_ns;

	return end > span->begin_ns ? end - span->begin_ns : 0;
}

static int walk_all(struct walk *w, struct spool_reader *r,
		    const struct evidence_source *source)
{
	uint64_t first = 0, last = 0;
	struct span span = { 0, 0 };
	struct spool_event ev;
	int rc = 0;

	while (rc == 0 && spool_read(r, &ev) == 1) {
		if (!first)
			span = span_of(source, first = ev.time_ns);
		last = ev.time_ns;
		bool within = last >= span.begin_ns && last < span.end_ns;
		if (ev.kind == SPOOL_SAMPLE && within)
			rc = on_sample(w, &ev);
		else if (ev.kind == SPOOL_LOST || ev.kind == SPOOL_GAP)
			w->e->lost += within ? ev.lost : 0;
		else
			spaces_event(w->spaces, &ev);
		if (ev.kind != SPOOL_SAMPLE)
			madecode_event(&w->made, &ev);
	}
	w->log.end_ns = w->log.begin_ns + (last - first);
	w->e->length_ns += span_length_ns(&span, last);
	return rc == 0 ? stackwalker_end(w->walker, w->err) : rc;
}

/* --- one file --- */

struct file {
	struct evidence *e;
	const struct evidence_source *source;
	int fd, original;	/* -1: none */
	struct blockmap map;	/* of a generation */
};

static int open_file(struct file *f, const struct space_file *file, struct err *err)
{
	f->fd = evidence_open_mapped(f->source, file->path, file->inode, err);
	if (f->fd < 0)
		return -1;
	if (blockmap_may_be_in(f->fd)) {
		f->original = modulefile_original(&f->source->at, f->fd, &f->map, err);
		return f->original < 0 ? -1 : 0;
	}
	return 0;
}

/* How the job is asked for the place: by its address in the original, or the file's offset. */
static const char *question(const struct file *f, uint64_t off)
{
	new_vaddr addr;

	if (f->original < 0)
		return arena_printf(f->e->arena, "+0x%" PRIx64 "\n", off);
	if (blockmap_vaddr_of(&f->map, off, &addr) < 0)
		return "0x0\n";
	const struct blockmap_block *b = blockmap_find_gen(&f->map, addr);
	return arena_printf(f->e->arena, "0x%" PRIx64 "\n",
			    b ? blockmap_orig_of(&f->map, b, addr) : (vaddr)addr);
}

static void close_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->original >= 0)
		close(f->original);
	blockmap_free(&f->map);
}

static uint32_t program_of(struct evidence *e, struct spaces *spaces, uint32_t program)
{
	return program == UINT32_MAX
		       ? EVIDENCE_NONE
		       : evidence_program(e, spaces_file(spaces, program)->path);
}

/* Enters the kernel's procedures as functions; the number of the first. */
static uint32_t add_kernel(struct walk *w, struct evidence_module *m)
{
	uint32_t first = m->nfunction, n = w->procedure.key.n;
	struct evidence_function *f = arena_array(w->e->arena, first + n, sizeof(*f));

	if (first)
		memcpy(f, m->function, first * sizeof(*f));
	for (uint32_t i = 0; i < n; i++)
		f[first + i].name = evidence_shown(w->e, intern_text_of(&w->procedure, i));
	m->function = f;
	m->nfunction = first + n;
	return first;
}

static void name_kernel(struct evidence *e, struct evidence_place *p, uint32_t function)
{
	struct evidence_frame frame = { e->module.v[p->module].function[function].name, "", 0 };

	p->function = function;
	p->frame = arena_dup(e->arena, &frame, sizeof(frame));
	p->nframe = 1;
}

/* item[0..n) are of code that one process has made. */
static void add_made(struct walk *w, const struct evidence_source *source,
		     const struct item *item, size_t n)
{
	struct evidence *e = w->e;
	uint32_t module = evidence_module(e, elsewhere_name[IN_MADE], false);
	uint32_t first = e->place.n;
	struct wr lines = { 0 };
	struct err why;

	for (size_t i = 0; i < n; i++) {
		struct evidence_place p = { .module = module, .function = EVIDENCE_NONE,
					    .count = (double)item[i].samples,
					    .program = program_of(e, w->spaces,
								  item[i].program) };

		vec_push(e->arena, &e->place, p);
		e->total += p.count;
		wr_text(&lines, arena_printf(e->arena, "0x%" PRIx64 "\n", item[i].off));
	}
	int fd = madecode_open(&w->made, item->file - MADE, &w->log, &why);
	if (fd >= 0 &&
	    evidence_ask_made(e, source->at.morph_edit, fd, &lines, first, &why) == 0)
		why.text[0] = '\0';
	if (why.text[0])
		e->module.v[module].note = arena_printf(e->arena, "%s", why.text);
	if (fd >= 0)
		close(fd);
	wr_free(&lines);
}

/* item[0..n) are of one file, or of one kind of elsewhere. */
static void add_items(struct walk *w, const struct evidence_source *source,
		      const struct item *item, size_t n)
{
	struct evidence *e = w->e;
	uint32_t kind = UINT32_MAX - item->file, first = e->place.n;
	bool known = kind >= NELSEWHERE;
	struct file f = { .e = e, .source = source, .fd = -1, .original = -1 };
	const struct space_file *file = known ? spaces_file(w->spaces, item->file) : NULL;
	uint32_t module = evidence_module(e, known ? file->path : elsewhere_name[kind], known);
	struct wr lines = { 0 };
	struct err why;
	bool wanted = known && (!source->module ||
				rows_is_module(&e->module.v[module], source->module));
	bool open = wanted && open_file(&f, file, &why) == 0;
	uint32_t kernel = kind == IN_KERNEL ? add_kernel(w, &e->module.v[module]) : 0;

	for (size_t i = 0; i < n; i++) {
		struct evidence_place p = { .module = module, .function = EVIDENCE_NONE,
					    .count = (double)item[i].samples,
					    .program = program_of(e, w->spaces,
								  item[i].program) };

		if (kind == IN_KERNEL && item[i].off)
			name_kernel(e, &p, kernel + (uint32_t)item[i].off - 1);
		vec_push(e->arena, &e->place, p);
		e->total += p.count;
		if (open)
			wr_text(&lines, question(&f, item[i].off));
	}
	if (wanted && (!open || evidence_ask_names(e, source->at.morph_edit,
						   f.original < 0 ? f.fd : f.original, &lines,
						   first, &why) < 0))
		e->module.v[module].note = arena_printf(e->arena, "%s", why.text);
	else if (wanted && !e->module.v[module].note)
		e->module.v[module].note = stackwalker_note(w->walker, item->file);
	close_file(&f);
	wr_free(&lines);
}

/* Of an item that is there: items are places from `first` on, in the same order. */
static uint32_t place_number(const struct walk *w, const struct frame *f, uint32_t first)
{
	struct item key = { f->file, f->program, f->off, 0 };
	const struct item *at = bsearch(&key, w->items.at, w->items.n, sizeof(key), by_place);

	return first + (uint32_t)(at - w->items.at);
}

static void add_stacks(struct walk *w, uint32_t first)
{
	struct arena *a = w->e->arena;

	for (uint32_t i = 0; i < w->stack.key.n; i++) {
		const struct bytes *key = &w->stack.key.v[i];
		/* arena memory is aligned */
		const struct frame *frame = (const struct frame *)(const void *)key->p;
		uint32_t n = (uint32_t)(key->n / sizeof(*frame)) - 1;
		uint32_t *place = arena_array(a, n, sizeof(*place));

		for (uint32_t k = 0; k < n; k++)
			place[k] = place_number(w, &frame[k + 1], first);
		vec_push(a, &w->e->stack,
			 ((struct evidence_stack){ n, place, frame[0].off, w->count.v[i] }));
	}
}

static void add_walked(struct walk *w, const struct evidence_source *source)
{
	struct items *items = &w->items;
	uint32_t first = w->e->place.n;

	items_merge(items);
	for (size_t i = 0, end; i < items->n; i = end) {
		for (end = i; end < items->n && items->at[end].file == items->at[i].file; end++)
			;
		if (items->at[i].file - MADE < w->made.maker.n)
			add_made(w, source, &items->at[i], end - i);
		else
			add_items(w, source, &items->at[i], end - i);
	}
	add_stacks(w, first);
}

static void add_about(struct evidence *e, const struct spool_reader *r)
{
	e->damaged += spool_reader_bad_blocks(r);
	uint64_t start_ns = spool_reader_start_wall_ns(r);
	if (!e->start_ns || start_ns < e->start_ns)
		e->start_ns = start_ns;
	e->clock = arena_printf(e->arena, "%s", spool_reader_clock(r));
	/* of logs with several periods a sample is no time */
	e->period_ns = e->period_ns && e->period_ns != spool_reader_period_ns(r)
			       ? 0
			       : spool_reader_period_ns(r);
}

static bool is_of_this_boot(const struct spool_reader *r)
{
	static const uint8_t unknown[SPOOL_BOOT_ID_BYTES];
	uint8_t now[SPOOL_BOOT_ID_BYTES];

	spool_boot_id(now);
	return memcmp(now, spool_reader_boot_id(r), sizeof(now)) == 0 &&
	       memcmp(now, unknown, sizeof(now)) != 0;
}

int evidence_add_log(struct evidence *e, int fd, const struct evidence_source *source,
		     struct err *err)
{
	struct spool_reader *r = spool_reader_open(fd, err);
	struct walk w = { .e = e, .stacks = source->stacks, .stack = intern_new(e->arena),
			  .made = { .arena = e->arena }, .procedure = intern_new(e->arena),
			  .err = err };
	struct stat st;


	if (!r)
		return -1;
	w.spaces = spaces_new(NULL);
	w.log = (struct madecode_log){ .this_boot = is_of_this_boot(r),
				       .begin_ns = spool_reader_start_wall_ns(r),
				       .owner = fstat(fd, &st) == 0 ? st.st_uid : geteuid() };
	struct stackwalker_use use = { source, w.spaces, w.log.this_boot, on_stack, &w };
	w.walker = stackwalker_new(&use, e->arena);
	int rc = walk_all(&w, r, source);
	if (rc == 0) {
		add_walked(&w, source);
		add_about(e, r);
	}
	free(w.items.at);
	stackwalker_free(w.walker);
	spaces_free(w.spaces);
	spool_reader_free(r);
	return rc;
}
