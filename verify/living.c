/* living.c - a process that runs the original may get the generation's pages instead
 *
 * Asked for only of generations that are to be mapped into running processes
 * (verify_live_generation()).  That a run of the generation is a run of the original the other
 * parts show; here it is shown that a run of the original may go on as one of the generation,
 * and back.
 *
 * TEXT       The original has one executable segment, and it alone changes, by entry jumps: all
 *            else that the process has in memory is what the generation would have there.  So
 *            no pointer is redirected; words that the loader relocated are as the generation
 *            wants them.  What gave way to program headers is found by the loader only, once.
 * RETURNS    No call ends inside of an entry jump: no return address leads there.
 * UNWINDING  No code of the original has an exception table.  New text is in no object that the
 *            loader knows, so that exceptions cannot pass through it.
 *
 * COUNTERS   What counts besides (counting.c) is not begun by its start, which the process is
 *            past: its counters are memory that who maps it gives it, of zeros, as the start
 *            would.
 *
 * Where threads stand at that moment is looked at when it has come (live/moment.c).
 *
 * Tested by tests/unit/verify/test_living.c and tests/e2e/live.sh.
 */
#include "verify/lookup.h"

enum { PAGE = 4096, JUMP = 5 };

static uint64_t page_down(uint64_t v)
{
	return v & ~(uint64_t)(PAGE - 1);
}

static struct verify_segment pages_of(const Elf64_Phdr *p)
{
	uint64_t lo = page_down(p->p_vaddr);

	return (struct verify_segment){
		.addr = lo, .size = page_down(p->p_vaddr + p->p_memsz + PAGE - 1) - lo,
		.offset = page_down(p->p_offset), .exec = p->p_flags & PF_X,
	};
}

/* The original's executable segment, and the generation's at its place. */
static int find_text(struct verify *v)
{
	const Elf64_Phdr *o = NULL, *g = NULL;

	for (const Elf64_Phdr *p = v->orig.ph; p < v->orig.ph + v->orig.nph; p++)
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			if (o)
				return refuse(v, "two segments of code, at 0x%llx and 0x%llx",
					      ULL(o->p_vaddr), ULL(p->p_vaddr));
			o = p;
		}
	for (const Elf64_Phdr *p = v->gen.ph; p < v->gen.ph + v->gen.nph; p++)
		if (o && p->p_type == PT_LOAD && p->p_vaddr == o->p_vaddr)
			g = p;
	if (!g || g->p_filesz != o->p_filesz || o->p_memsz != o->p_filesz)
		return refuse(v, "no segment of code that is one in both");
	if (v->file.lift)
		return refuse(v, "a static program, whose file has grown at its front");
	if (o->p_vaddr <= v->orig.ph[0].p_vaddr && o->p_offset == 0)
		return refuse(v, "headers are in the segment of code");
	v->stats->text = pages_of(o);
	v->stats->text_offset = page_down(g->p_offset);
	return 0;
}

static int list_new(struct verify *v)
{
	struct verify_stats *s = v->stats;

	for (uint32_t i = 0; i < v->file.nfresh; i++) {
		const Elf64_Phdr *p = v->file.fresh[i];

		if (p->p_vaddr < s->text.addr || s->nfresh == VERIFY_MAX_FRESH)
			return refuse(v, "new segment at 0x%llx, below the code",
				      ULL(p->p_vaddr));
		s->fresh[s->nfresh] = pages_of(p);
		s->fresh[s->nfresh++].counters = p == v->counting.segment;
	}
	return 0;
}

static int check_pointers(struct verify *v)
{
	if (v->pointers.redirects.n)
		return refuse(v, "a pointer to 0x%llx is one to 0x%llx: that cannot be "
			      "changed in a process that runs",
			      ULL(v->pointers.redirects.v[0].from),
			      ULL(v->pointers.redirects.v[0].to));
	if (v->pointers.changes.n)
		return refuse(v, "a pointer at 0x%llx is another one",
			      ULL(v->pointers.changes.v[0].addr));
	return 0;
}

/* The first instructions of a function: no call among those that an entry jump replaces ends
 * inside of it. */
static int check_returns(struct verify *v, vaddr entry)
{
	struct bytes code = verify_orig_code(v, entry);
	struct insn insn;
	vaddr target;

	for (uint64_t at = 0; at < JUMP; at += insn.len) {
		if (at > code.n || !insn_decode(bytes_at(code, at, code.n - at), entry + at,
						&insn, &target))
			return 0;	/* nothing returns from it */
		if ((insn.kind == INSN_CALL || insn.kind == INSN_ICALL) && at + insn.len < JUMP)
			return refuse(v, "the call at 0x%llx returns into an entry jump",
				      ULL(entry + at));
	}
	return 0;
}

int verify_living(struct verify *v)
{
	if (!v->living)
		return 0;
	if (find_text(v) < 0 || list_new(v) < 0 || check_pointers(v) < 0)
		return -1;
	for (uint32_t i = 0; i < v->map.nentry; i++)
		if (check_returns(v, v->map.orig_base + v->map.entry[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		if (v->ocfi.fde[i].lsda)
			return refuse(v, "exceptions may pass through the function at 0x%llx",
				      ULL(v->ocfi.fde[i].addr));
	return 0;
}
