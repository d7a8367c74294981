/* perftext.c - the text of `perf script`
 *
 * A line is read by its words, from left to right:
 *
 *   [COMM] PID[/TID] [[CPU]] SECONDS.FRACTION: what happened, one of
 *
 *   [PERIOD EVENT:] ADDRESS [SYMBOL (DSO)] BRANCHES...
 *   PERF_RECORD_MMAP2 PID/TID: [0xADDR(0xLEN) @ OFFSET MAJ:MIN INO GEN]: PROT PATH
 *   PERF_RECORD_MMAP PID/TID: [0xADDR(0xLEN) @ OFFSET]: x PATH
 *   PERF_RECORD_COMM exec: NAME:PID/TID
 *   PERF_RECORD_FORK(PID:TID):(PPID:PTID), PERF_RECORD_EXIT(...)
 *
 * A branch is FROM/TO/FLAGS..., the addresses as 0x..., each perhaps with its (DSO) behind it.
 * With `brstackoff` they are offsets in the DSOs that stand behind them: then each file
 * has a mapping made up for it, from offset 0 on, and no mapping lines are needed.  So
 * low an address is that of a program that has a mapping line there.
 *
 * Tested by tests/unit/manager/import/test_perftext.c and tests/fuzz/fuzz_perfdata.c.
 */
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/wr.h"
#include "manager/import/import.h"

/* Where made-up mappings lie, each in so much room: no mapping of user mode is there, and no
 * file larger.  Their process is one that no kernel has. */
#define MADE_UP_BASE (UINT64_C(1) << 48)
#define MADE_UP_ROOM (UINT64_C(1) << 32)
enum { MADE_UP_PID = 0x7fffffff, MADE_UP_MAX = 16384 };

struct made_up {
	const char *path;
	uint64_t addr;
};

/* A mapping below MADE_UP_ROOM, where an address might be an offset. */
struct low {
	const char *path;
	uint64_t addr, len;
};

struct text {
	struct arena *arena;
	const struct import_sink *sink;
	struct import_counts *counts;
	VEC(struct made_up) file;
	VEC(struct low) low;		/* each once */
	struct wr branches;
	const char *p, *end;		/* what is left of the line */
	struct spool_event head;	/* whose line it is, and when */
};

static void skip_blanks(struct text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

/* The next word; n == 0: none is left. */
static struct bytes word(struct text *t)
{
	skip_blanks(t);
	const char *from = t->p;
	while (t->p < t->end && *t->p != ' ' && *t->p != '\t')
		t->p++;
	return (struct bytes){ (const uint8_t *)from, (uint64_t)(t->p - from) };
}

static int digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Cuts a number off the front of *b; false when none is there, or too large a one. */
static bool number(struct bytes *b, unsigned base, uint64_t *out)
{
	uint64_t v = 0, i = 0;

	while (i < b->n && digit(b->p[i]) < (int)base) {
		if (v > (UINT64_MAX - 15) / base)
			return false;
		v = v * base + (unsigned)digit(b->p[i++]);
	}
	*out = v;
	b->p += i;
	b->n -= i;
	return i > 0;
}

static bool take(struct bytes *b, const char *what)
{
	size_t n = strlen(what);

	if (b->n < n || memcmp(b->p, what, n) != 0)
		return false;
	b->p += n;
	b->n -= n;
	return true;
}

static bool take_number(struct bytes *b, const char *before, unsigned base, uint64_t *out)
{
	return take(b, before) && number(b, base, out);
}

static bool take_u32(struct bytes *b, const char *before, unsigned base, uint32_t *out)
{
	uint64_t v;

	if (!take_number(b, before, base, &v) || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

/* PID/TID or PID, up to the end of the word. */
static bool is_task(struct bytes w, struct spool_event *ev)
{
	if (!take_u32(&w, "", 10, &ev->pid))
		return false;
	ev->tid = ev->pid;
	return w.n == 0 || (take_u32(&w, "/", 10, &ev->tid) && w.n == 0);
}

/* SECONDS.FRACTION: */
static bool is_time(struct bytes w, uint64_t *ns)
{
	uint64_t s, fraction;

	if (!number(&w, 10, &s) || !take(&w, ".") || s > UINT64_MAX / 1000000000 - 1)
		return false;
	uint64_t digits = w.n;
	if (!number(&w, 10, &fraction) || w.n != 1 || *w.p != ':' || digits - 1 > 9)
		return false;
	for (uint64_t i = digits - 1; i < 9; i++)
		fraction *= 10;
	*ns = s * 1000000000 + fraction;
	return true;
}

/* Who and when: the words up to the time; a task stands somewhere in front of it, behind a name
 * that may have blanks.  False when the line has no such head. */
static bool read_head(struct text *t)
{
	bool task = false;

	t->head = (struct spool_event){ 0 };
	for (struct bytes w; (w = word(t)).n; ) {
		if (task && is_time(w, &t->head.time_ns))
			return true;
		task |= is_task(w, &t->head);
	}
	return false;
}

static void tell(struct text *t, enum spool_kind kind, struct spool_event *ev)
{
	ev->kind = kind;
	ev->time_ns = t->head.time_ns;
	t->sink->event(t->sink->ctx, ev);
}

/* --- lines of processes --- */

static void note_low(struct text *t, const struct spool_event *ev)
{
	struct low l = { ev->mmap.path, ev->mmap.addr, ev->mmap.len };

	for (uint32_t i = t->low.n; i-- > 0; )
		if (t->low.v[i].addr == l.addr && t->low.v[i].len == l.len &&
		    strcmp(t->low.v[i].path, l.path) == 0)
			return;
	if (l.addr < MADE_UP_ROOM && t->low.n < MADE_UP_MAX)
		vec_push(t->arena, &t->low, l);
}

/* PID/TID: [0xADDR(0xLEN) @ OFFSET MAJ:MIN INO GEN]: PROT PATH, or <BUILD-ID> for the inode. */
static bool read_mmap(struct text *t)
{
	struct spool_event ev = { 0 };
	struct bytes line = { (const uint8_t *)t->p, (uint64_t)(t->end - t->p) }, prot;

	while (take(&line, " "))
		;
	if (!take_u32(&line, "", 10, &ev.pid) || !take_u32(&line, "/", 10, &ev.tid) ||
	    !take_number(&line, ": [0x", 16, &ev.mmap.addr) ||
	    !take_number(&line, "(0x", 16, &ev.mmap.len) || !take(&line, ") @ "))
		return false;
	(void)take(&line, "0x");
	if (!number(&line, 16, &ev.mmap.pgoff))
		return false;
	if (!take(&line, "]") &&
	    (!take_u32(&line, " ", 16, &ev.mmap.dev_major) ||
	     !take_u32(&line, ":", 16, &ev.mmap.dev_minor) ||
	     !take_number(&line, " ", 10, &ev.mmap.inode) ||
	     !take_number(&line, " ", 10, &ev.mmap.inode_generation) || !take(&line, "]")))
		return false;
	if (!take(&line, ": "))
		return false;
	t->p = (const char *)line.p;
	prot = word(t);
	skip_blanks(t);
	if (prot.n != 1 && prot.n < 3)
		return false;
	if (prot.p[prot.n == 1 ? 0 : 2] != 'x' || t->p == t->end ||
	    t->end - t->p > SPOOL_PATH_MAX)
		return true;
	ev.mmap.path = arena_printf(t->arena, "%.*s", (int)(t->end - t->p), t->p);
	import_need_inode(&ev);
	note_low(t, &ev);
	tell(t, SPOOL_MMAP, &ev);
	return true;
}

/* (PID:TID):(PARENT:PARENT_TID) */
static bool read_task(struct text *t, enum spool_kind kind, struct bytes rest)
{
	struct spool_event ev = { 0 };
	uint32_t parent;

	if (!take_u32(&rest, "(", 10, &ev.pid) || !take_u32(&rest, ":", 10, &ev.tid) ||
	    !take_u32(&rest, "):(", 10, &parent))
		return false;
	if (kind == SPOOL_FORK)
		ev.fork.parent_pid = parent;
	tell(t, kind, &ev);
	return true;
}

/* exec: NAME:PID/TID */
static bool read_comm(struct text *t)
{
	struct spool_event ev = { 0 };
	struct bytes w = word(t);
	const char *colon = memrchr(t->p, ':', (size_t)(t->end - t->p));

	if (w.n != 5 || memcmp(w.p, "exec:", 5) != 0)
		return true;			/* only a name */
	if (!colon || !is_task((struct bytes){ (const uint8_t *)colon + 1,
					       (uint64_t)(t->end - colon - 1) }, &ev))
		return false;
	tell(t, SPOOL_EXEC, &ev);
	return true;
}

static bool read_record(struct text *t, struct bytes w)
{
	if (take(&w, "MMAP2") || take(&w, "MMAP"))
		return w.n == 0 && read_mmap(t);
	if (take(&w, "COMM"))
		return read_comm(t);
	if (take(&w, "FORK"))
		return read_task(t, SPOOL_FORK, w);
	if (take(&w, "EXIT"))
		return read_task(t, SPOOL_EXIT, w);
	return false;
}

/* --- lines of samples --- */

/* The address of a made-up mapping of that file, told of when it is new; 0: too many. */
static uint64_t made_up(struct text *t, struct bytes path)
{
	struct spool_event ev = { .pid = MADE_UP_PID, .tid = MADE_UP_PID };

	for (uint32_t i = t->file.n; i-- > 0; )
		if (strlen(t->file.v[i].path) == path.n &&
		    memcmp(t->file.v[i].path, path.p, path.n) == 0)
			return t->file.v[i].addr;
	if (t->file.n == MADE_UP_MAX || path.n > SPOOL_PATH_MAX || path.n == 0 ||
	    *path.p != '/')
		return 0;
	struct made_up m = { arena_printf(t->arena, "%.*s", (int)path.n, path.p),
			     MADE_UP_BASE + t->file.n * MADE_UP_ROOM };
	vec_push(t->arena, &t->file, m);
	ev.mmap.addr = m.addr;
	ev.mmap.len = MADE_UP_ROOM;
	ev.mmap.path = m.path;
	import_need_inode(&ev);
	tell(t, SPOOL_MMAP, &ev);
	return m.addr;
}

/* 0xADDRESS, perhaps with (DSO) behind it; an offset in it when `offsets`. */
static bool end_of_branch(struct text *t, struct bytes *w, bool offsets, uint64_t *out)
{
	struct bytes dso = { NULL, 0 };

	if (!take_number(w, "0x", 16, out))
		return false;
	if (take(w, "(")) {
		dso.p = w->p;
		while (dso.n < w->n && w->p[dso.n] != ')')
			dso.n++;
		if (dso.n == w->n)
			return false;
		w->p += dso.n + 1;
		w->n -= dso.n + 1;
	}
	if (!offsets)
		return true;
	uint64_t base = dso.n && *out < MADE_UP_ROOM ? made_up(t, dso) : 0;
	/* of a file that is none: an address that nothing is mapped at */
	*out = base ? base + *out : UINT64_MAX >> 1;
	return true;
}

/* FROM/TO/M or P or -/X or -/A or -/... */
static bool read_branch(struct text *t, struct bytes w, bool offsets)
{
	struct spool_branch b = { 0 };

	if (!end_of_branch(t, &w, offsets, &b.from) || !take(&w, "/") ||
	    !end_of_branch(t, &w, offsets, &b.to) || w.n < 2 || w.p[0] != '/')
		return false;
	b.flags = w.p[1] == 'M' ? SPOOL_BRANCH_MISPREDICTED : 0;
	if (w.n >= 4 && w.p[3] == 'X')
		b.flags |= SPOOL_BRANCH_IN_TX;
	if (w.n >= 6 && w.p[5] == 'A')
		b.flags |= SPOOL_BRANCH_ABORTED;
	spool_branch_put(&t->branches, &b);
	return true;
}

static bool is_mapped(const struct text *t, struct bytes path, uint64_t addr)
{
	for (uint32_t i = 0; i < t->low.n; i++) {
		const struct low *l = &t->low.v[i];

		if (addr >= l->addr && addr - l->addr < l->len && strlen(l->path) == path.n &&
		    memcmp(l->path, path.p, path.n) == 0)
			return true;
	}
	return false;
}

/* With both addresses below a made-up mapping's size and files behind them, which are not
 * mapped there: `brstackoff`. */
static bool has_offsets(const struct text *t, struct bytes w)
{
	uint64_t from;

	if (!take_number(&w, "0x", 16, &from) || from >= MADE_UP_ROOM || !take(&w, "("))
		return false;
	const uint8_t *end = memchr(w.p, ')', w.n);
	return end && memchr(end, '(', (size_t)(w.p + w.n - end)) &&
	       !is_mapped(t, (struct bytes){ w.p, (uint64_t)(end - w.p) }, from);
}

static bool is_branch(struct bytes w)
{
	return take(&w, "0x") && memchr(w.p, '/', w.n);
}

static bool is_address(struct bytes w, uint64_t *out)
{
	(void)take(&w, "0x");
	return w.n <= 16 && number(&w, 16, out) && w.n == 0;
}

/* "PERIOD EVENT:" may come first: a word that ends in a colon is behind it. */
static bool read_address(struct text *t, struct bytes first, uint64_t *out)
{
	const char *here = t->p;
	struct bytes w = word(t);

	if (w.n > 1 && w.p[w.n - 1] == ':')
		return is_address(word(t), out);
	if (first.n > 1 && first.p[first.n - 1] == ':')
		return is_address(w, out);
	t->p = here;
	return is_address(first, out);
}

static bool read_sample(struct text *t, struct bytes first)
{
	struct spool_event ev = t->head;
	bool ip = false, offsets = false;
	uint32_t n = 0;

	t->branches.n = 0;
	const char *behind = t->p;
	if (!is_branch(first)) {
		ip = read_address(t, first, &ev.sample.pc);
		if (!ip)
			t->p = behind;		/* perhaps there are branches */
		first = word(t);
	}
	for (struct bytes w = first; w.n; w = word(t)) {
		if (w.n < 2 || memcmp(w.p, "0x", 2) != 0)
			continue;	/* a symbol or a file */
		if (!n)
			offsets = has_offsets(t, w);
		if (n < SPOOL_BRANCHES_MAX && read_branch(t, w, offsets))
			n++;
	}
	if (ip) {
		ev.sample.kernel = ev.sample.pc >> 63;
		ev.sample.has_state = false;
		tell(t, SPOOL_SAMPLE, &ev);
		t->counts->samples++;
	}
	if (n) {
		ev.branches.n = n;
		ev.branches.entry = t->branches.p;
		if (offsets)
			ev.pid = ev.tid = MADE_UP_PID;
		tell(t, SPOOL_BRANCHES, &ev);
		t->counts->stacks++;
	}
	return ip || n;
}

int perftext_read(struct bytes file, struct arena *a, const struct import_sink *sink,
		  struct import_counts *counts, struct err *err)
{
	struct text t = { .arena = a, .sink = sink, .counts = counts };
	const char *at = (const char *)file.p, *end = at + file.n;
	bool known;
	struct bytes w;

	*counts = (struct import_counts){ .clock = "other" };
	for (const char *line = at; line < end; line = t.end + 1) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));

		t.p = line;
		t.end = nl ? nl : end;
		if (t.p == t.end || *t.p == '#')
			continue;
		known = read_head(&t) && (w = word(&t)).n;
		if (known && take(&w, "PERF_RECORD_"))
			known = read_record(&t, w);
		else if (known)
			known = read_sample(&t, w);
		counts->unknown += !known;
	}
	wr_free(&t.branches);
	if (counts->samples || counts->stacks)
		return 0;
	return err_set(err, ERR_INPUT,
		       "neither perf.data nor text of perf script with samples");
}
