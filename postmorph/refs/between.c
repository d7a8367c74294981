/* between.c - finds functions that lie between two places that code knows
 *
 * Assembler code puts a label in front of a row of functions and one behind it, and other
 * code asks whether a pointer is between the two, or gives them to somebody who does, perhaps
 * rounded to pages.  Images of the functions in the row are elsewhere.  So what is between two
 * places stays where it is, when the code of one FDE forms the addresses of both, by a lea or,
 * in a program linked to a fixed address, as a constant; when they are at most FAR from each
 * other; and when one of these holds:
 *
 *   asked    of both the code asks what is above or below, or how far, or it rounds them;
 *   given    both are arguments of one call, and one of the two is in no FDE, but in an
 *            executable section or at its end: a label that is no function's.
 *
 * The lower one, if it is rounded, is the start of its page.  An upper one is rounded up by
 * adding to it first, which linkers do: it is further behind already, perhaps behind all code.
 *
 * Tested by tests/unit/postmorph/test_analyze.c (what_is_between_two_labels_stays).
 */
#include "postmorph/refs/between.h"

#include <stdlib.h>

enum { FAR = 0x10000, PAGE = 4096 };

static bool is_code_section(const struct section *s)
{
	return s && (s->h.sh_flags & SHF_EXECINSTR);
}

static bool is_gap(const struct text *t, vaddr to)
{
	const struct section *s = image_section_at(&t->prog->img, to);

	return text_holds(t, to) && text_piece(t, to) == UINT32_MAX &&
	       is_code_section(s ? s : image_section_at(&t->prog->img, to - 1));
}

bool between_knows(const struct text *t, vaddr at, vaddr to)
{
	uint32_t piece;

	if (!text_holds(t, at) || !(text_holds(t, to) || text_holds(t, to - (PAGE - 1))))
		return false;
	piece = text_piece(t, at);
	return piece != UINT32_MAX && text_piece(t, to) != piece;
}

void between_note(struct text *t, vaddr at, vaddr to, enum address_use use, vaddr call)
{
	bool asked = use == USE_ORDERED || use == USE_SUBTRACTED || use == USE_ROUNDED;

	if (!between_knows(t, at, to) || (!asked && !call) ||
	    (!text_holds(t, to) && use != USE_ROUNDED))
		return;
	vec_push(t->scratch, &t->limits, ((struct limit){
		.piece = text_piece(t, at), .addr = to,
		.from = use == USE_ROUNDED ? to & ~(vaddr)(PAGE - 1) : to,
		.gap = is_gap(t, to), .asked = asked, .call = call,
	}));
}

static int compare_piece(const void *x, const void *y)
{
	const struct limit *a = x, *b = y;

	return a->piece < b->piece ? -1 : a->piece > b->piece;
}

/* What has a byte in [lo, hi). */
static void stay_between(const struct text *t, vaddr lo, vaddr hi)
{
	uint32_t first = 0, end = t->npiece;

	while (first < end) {
		uint32_t mid = first + (end - first) / 2;

		if (t->piece[mid].addr + t->piece[mid].size > lo)
			end = mid;
		else
			first = mid + 1;
	}
	for (; first < t->npiece && t->piece[first].addr < hi; first++) {
		uint32_t fn = t->prog->fn_of_fde[first];

		if (fn < t->prog->nfn && t->prog->fn[fn].skip == SKIP_NONE)
			t->prog->fn[fn].skip = SKIP_WATCHED;
	}
}

/* Of two that are given `a` is the label. */
static bool is_pair(const struct limit *a, const struct limit *b)
{
	bool near = a->addr - b->addr + FAR <= 2 * FAR && a->addr != b->addr;
	bool given = a->gap && a->call && a->call == b->call;

	return near && (given || (a->asked && b->asked));
}

/* All n are of one FDE. */
static void judge(const struct text *t, const struct limit *limit, uint32_t n)
{
	for (const struct limit *a = limit; a < limit + n; a++) {
		vaddr lo = UINT64_MAX, hi = 0;

		if (!a->gap && !a->asked)
			continue;
		for (const struct limit *b = limit; b < limit + n; b++) {
			if (!is_pair(a, b))
				continue;
			lo = b->from < lo ? b->from : lo;
			hi = b->addr > hi ? b->addr : hi;
		}
		if (hi == 0)
			continue;
		stay_between(t, a->from < lo ? a->from : lo, a->addr > hi ? a->addr : hi);
	}
}

void between_judge(struct text *t)
{
	uint32_t end;

	if (t->limits.n)
		qsort(t->limits.v, t->limits.n, sizeof(*t->limits.v), compare_piece);
	for (uint32_t i = 0; i < t->limits.n; i = end) {
		for (end = i; end < t->limits.n; end++)
			if (t->limits.v[end].piece != t->limits.v[i].piece)
				break;
		judge(t, &t->limits.v[i], end - i);
	}
}
