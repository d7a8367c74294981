/* probes.c - finds static probe points (SystemTap's SDT, also known as USDT)
 *
 * A probe is a NOP, and a note in .note.stapsdt says where it is: a tracer puts a breakpoint
 * there.  When its function moves, a second note for the NOP's image lets tracing go on
 * (emit_probes.c).  For that the NOP begins a block and stays in it.
 *
 * A function stays when that cannot be done: the notes are loaded, an argument is relative to
 * where the code is, or the probe is where the entry jump goes.
 *
 * Tested by tests/programs/images.sh.
 */
#include <string.h>

#include "postmorph/probes.h"

enum { NOTE_PROBE = 3, ENTRY_BYTES = 9 };	/* endbr64 and the entry jump */

struct notes {
	struct text *t;
	const struct section *section;
	vaddr base;			/* .stapsdt.base, 0: none */
	VEC(struct probe) found;	/* in prog->arena */
};

static bool is_nop(const struct text *t, vaddr addr)
{
	struct insn insn;
	vaddr target;

	return text_holds(t, addr) && (*text_mark(t, addr) & MARK_INSN) &&
	       insn_decode(image_rest(&t->prog->img, addr), addr, &insn, &target) &&
	       insn.kind == INSN_NOP;
}

/* `texts` are provider, name and arguments. */
static bool can_follow(const struct notes *n, const struct probe *p, struct rd texts)
{
	const Elf64_Shdr *h = &n->section->h;
	vaddr entry = n->t->prog->fn[p->fn].entry;
	const char *arguments = NULL;

	for (int i = 0; i < 3; i++)
		arguments = rd_str(&texts);
	return arguments && !strstr(arguments, "rip") && h->sh_type == SHT_NOTE &&
	       !(h->sh_flags & SHF_ALLOC) && h->sh_size % 4 == 0 &&
	       (p->pc < entry || p->pc - entry >= ENTRY_BYTES) &&
	       is_nop(n->t, p->pc);
}

/* Notes hold addresses as they were at link time, and where .stapsdt.base was then:
 * prelinking moves one of them only. */
static void see_note(struct notes *n, struct probe p, struct rd desc)
{
	struct prog *prog = n->t->prog;
	vaddr pc = rd_u64(&desc), link_base = rd_u64(&desc);

	(void)rd_u64(&desc);		/* the semaphore: data */
	p.bias = n->base && link_base ? n->base - link_base : 0;
	p.pc = pc + p.bias;
	p.fn = prog_find_fn(prog, p.pc);
	if (desc.bad || p.fn == NO_FN || prog->fn[p.fn].skip != SKIP_NONE)
		return;
	if (!can_follow(n, &p, desc)) {
		prog->fn[p.fn].skip = SKIP_SDT_PROBE;
		return;
	}
	*text_mark(n->t, p.pc) |= MARK_BRANCH;
	vec_push(prog->arena, &n->found, p);
}

void probes_mark(struct text *t)
{
	const struct image *img = &t->prog->img;
	const struct section *base = image_section(img, ".stapsdt.base");
	struct notes n = { .t = t, .section = image_section(img, ".note.stapsdt"),
			   .base = base ? base->h.sh_addr : 0 };

	if (!n.section || n.section->h.sh_type == SHT_NOBITS)
		return;
	struct rd rd = rd_of(bytes_at(img->file, n.section->h.sh_offset, n.section->h.sh_size));
	while (rd_left(&rd) >= sizeof(Elf64_Nhdr)) {
		struct probe p = { .at = (file_off)(rd.p - img->file.p) };
		uint32_t namesz = rd_u32(&rd), descsz = rd_u32(&rd), type = rd_u32(&rd);
		const uint8_t *name = rd_skip(&rd, ((uint64_t)namesz + 3) & ~(uint64_t)3);
		const uint8_t *desc = rd_skip(&rd, ((uint64_t)descsz + 3) & ~(uint64_t)3);

		if (!name || !desc || type != NOTE_PROBE)
			continue;
		p.desc = (uint32_t)(desc - img->file.p - p.at);
		p.size = (uint32_t)(rd.p - img->file.p - p.at);
		see_note(&n, p, rd_of((struct bytes){ desc, descsz }));
	}
	t->prog->probe = n.found.v;
	t->prog->nprobe = n.found.n;
}

void probes_settle(struct prog *prog)
{
	for (uint32_t i = 0; i < prog->nprobe; i++) {
		struct fn *fn = &prog->fn[prog->probe[i].fn];
		uint32_t b = fn->kept ? fn_find_block(fn, prog->probe[i].pc) : NO_BLOCK;

		if (b != NO_BLOCK)
			fn->block[b].probe = true;
	}
}
