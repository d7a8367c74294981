/* headers.c - ELF and program headers are the original's, plus new read-only segments
 *
 * HEADERS    The ELF header may differ only in where the section header table is and how many
 *            headers there are.  Program headers are the original's, in their order, plus new
 *            PT_LOADs, and a PT_GNU_EH_FRAME if there was none.  PT_PHDR must describe the
 *            table as it is now.  PT_GNU_EH_FRAME leads to the new unwind table, where
 *            unwindrows.c reads it.  Headers of what gave way to the table follow it
 *            (front.c).  The table is in the first segment: kernels before 5.18 tell programs
 *            that it is, wherever it is.
 * SEGMENTS   A new segment shares no page with any other, is not writable and is all file
 *            bytes.  It can be where it says: its address is no lower than file offsets have
 *            grown, little higher than the file is long, and its alignment is a usual one.
 *            New text begins with a page.
 * CONSTANT   No segment of the original's code can be written to: nobody would change the
 *            images of what is written there.
 *
 * Tested by tests/unit/verify/test_headers.c.
 */
#include <stdlib.h>

#include "verify/lookup.h"

enum { PAGE = 4096 };
/* What the system keeps free (vm.mmap_min_addr of Debian); gaps between segments, which was
 * chosen, not measured. */
enum { LOWEST = 64 << 10, NEAR = 16 << 20 };

static int check_header(struct verify *v)
{
	Elf64_Ehdr o = v->orig.eh;
	const Elf64_Ehdr *g = &v->gen.eh;

	if (v->counting.wanted)		/* counting.c */
		o.e_entry = g->e_entry;
	o.e_phnum = g->e_phnum;
	o.e_shoff = g->e_shoff;
	o.e_shnum = g->e_shnum;
	o.e_shstrndx = g->e_shstrndx;
	o.e_shentsize = v->orig.nsh ? o.e_shentsize : g->e_shentsize;
	if (memcmp(&o, g, sizeof(o)) != 0)
		return refuse(v,
			      "the ELF header differs in more than the places of its tables");
	if (v->gen.nph >= PN_XNUM)
		return refuse(v, "%u program headers are too many", v->gen.nph);
	return 0;
}

static bool same_phdr(const Elf64_Phdr *x, const Elf64_Phdr *y)
{
	return memcmp(x, y, sizeof(*x)) == 0;
}

/* The header that must stand where the original has `o`. */
static Elf64_Phdr wanted_phdr(const struct verify *v, const Elf64_Phdr *o, const Elf64_Phdr *g)
{
	Elf64_Phdr want = *o;

	if (o->p_filesz > 0)
		want.p_offset += v->file.lift;
	if (o->p_type == PT_PHDR) {
		want.p_offset = v->gen.eh.e_phoff;
		want.p_vaddr = want.p_paddr = g->p_vaddr;
		want.p_filesz = want.p_memsz = v->gen.nph * sizeof(Elf64_Phdr);
	} else if (o->p_type == PT_GNU_EH_FRAME) {
		const uint8_t *p = image_at(&v->gen, g->p_vaddr, g->p_filesz).p;

		want.p_offset = p ? (uint64_t)(p - v->gen.file.p) : UINT64_MAX;
		want.p_vaddr = want.p_paddr = g->p_vaddr;
		want.p_filesz = want.p_memsz = g->p_filesz;
	}
	return verify_moved_phdr(v, want, g);
}

/* There is room for it where the original has it: in front of its segments or behind them.  (In
 * a process that runs, room is looked for when that is known.) */
static bool is_near(const struct verify *v, const Elf64_Phdr *g)
{
	vaddr lo, hi;

	image_span(&v->orig, &lo, &hi);
	if (g->p_vaddr < lo)
		return g->p_vaddr >= LOWEST && lo - g->p_vaddr <= v->file.lift;
	uint64_t counters = v->counting.segment ? v->counting.segment->p_memsz : 0;

	return g->p_vaddr + g->p_memsz <= hi + v->gen.file.n + counters + NEAR;
}

/* The one segment that can be written to, and has nothing in the file: whole pages of
 * counters. */
static bool is_counters(const struct verify *v, const Elf64_Phdr *g)
{
	return v->counting.wanted && !v->counting.segment && g->p_flags == (PF_R | PF_W) &&
	       g->p_filesz == 0 && g->p_memsz > 0 && g->p_memsz % PAGE == 0 &&
	       g->p_paddr == g->p_vaddr && g->p_vaddr % PAGE == 0 && g->p_align == PAGE;
}

static int check_fresh(struct verify *v, const Elf64_Phdr *g)
{
	if (is_counters(v, g))
		v->counting.segment = g;
	else if (g->p_flags != PF_R && g->p_flags != (PF_R | PF_X))
		return refuse(v, "new segment at 0x%llx has flags %#x", ULL(g->p_vaddr),
			      g->p_flags);
	else if (g->p_filesz == 0 || g->p_filesz != g->p_memsz || g->p_paddr != g->p_vaddr)
		return refuse(v, "new segment at 0x%llx is not all file bytes",
			      ULL(g->p_vaddr));
	if (g->p_align < PAGE || (g->p_align & (g->p_align - 1)) ||
	    (g->p_vaddr - g->p_offset) % g->p_align)
		return refuse(v, "new segment at 0x%llx cannot be mapped: offset 0x%llx, "
			      "alignment 0x%llx", ULL(g->p_vaddr), ULL(g->p_offset),
			      ULL(g->p_align));
	if ((g->p_align > PAGE && g->p_align > v->file.lift) ||
	    !(v->living || is_near(v, g)))
		return refuse(
			v,
			"new segment at 0x%llx with an alignment of 0x%llx may find no room in "
			"memory",
			ULL(g->p_vaddr), ULL(g->p_align));
	if ((g->p_flags & PF_X) && (g->p_align != PAGE || g->p_vaddr % PAGE))
		return refuse(v, "new text at 0x%llx does not begin with a page",
			      ULL(g->p_vaddr));
	for (const Elf64_Phdr *p = v->gen.ph; p < v->gen.ph + v->gen.nph; p++) {
		uint64_t lo = p->p_vaddr & ~(uint64_t)(PAGE - 1);

		if (p != g && p->p_type == PT_LOAD && p->p_memsz &&
		    lo < ((g->p_vaddr + g->p_memsz + PAGE - 1) & ~(uint64_t)(PAGE - 1)) &&
		    (g->p_vaddr & ~(uint64_t)(PAGE - 1)) < p->p_vaddr + p->p_memsz)
			return refuse(
				v, "new segment at 0x%llx shares a page with the one at 0x%llx",
				ULL(g->p_vaddr), ULL(p->p_vaddr));
	}
	v->file.fresh[v->file.nfresh++] = g;
	return 0;
}

/* Programs that register their unwind table themselves get a PT_GNU_EH_FRAME for the new
 * one. */
static bool is_added_eh_frame(const struct verify *v, const Elf64_Phdr *g)
{
	Elf64_Phdr plain = { .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_align = 4 };
	Elf64_Phdr want = wanted_phdr(v, &plain, g);

	return g->p_type == PT_GNU_EH_FRAME && !image_phdr(&v->orig, PT_GNU_EH_FRAME) &&
	       g == image_phdr(&v->gen, PT_GNU_EH_FRAME) && same_phdr(&want, g);
}

/* How far file offsets have grown: where the original's first segment is now. */
static int find_lift(struct verify *v)
{
	const Elf64_Phdr *o = image_phdr(&v->orig, PT_LOAD);

	for (const Elf64_Phdr *g = v->gen.ph; g < v->gen.ph + v->gen.nph; g++)
		if (g->p_type == PT_LOAD && g->p_vaddr == o->p_vaddr &&
		    g->p_offset > o->p_offset)
			v->file.lift = g->p_offset - o->p_offset;
	if (v->file.lift % PAGE || (v->file.lift && v->orig.eh.e_type != ET_EXEC))
		return refuse(v, "file offsets have grown by 0x%llx", ULL(v->file.lift));
	return 0;
}

static int check_code_is_constant(struct verify *v)
{
	for (const Elf64_Phdr *p = v->orig.ph; p < v->orig.ph + v->orig.nph; p++)
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && (p->p_flags & PF_W))
			return refuse(v, "the original's code at 0x%llx can be written to",
				      ULL(p->p_vaddr));
	return 0;
}

static int check_program_headers(struct verify *v)
{
	uint32_t o = 0;

	v->file.fresh = arena_array(v->a, v->gen.nph, sizeof(*v->file.fresh));
	for (const Elf64_Phdr *g = v->gen.ph; g < v->gen.ph + v->gen.nph; g++) {
		if (o < v->orig.nph) {
			Elf64_Phdr want = wanted_phdr(v, &v->orig.ph[o], g);

			if (same_phdr(&want, g)) {
				o++;
				continue;
			}
		}
		if (is_added_eh_frame(v, g))
			continue;
		if (g->p_type != PT_LOAD)
			return refuse(v,
				      "program header %td (type %#x) is neither the original's "
				      "nor a new segment",
				      g - v->gen.ph, g->p_type);
		if (check_fresh(v, g) < 0)
			return -1;
	}
	if (o < v->orig.nph)
		return refuse(v,
			      "the original's program header %u (type %#x, address 0x%llx) is "
			      "missing or changed",
			      o, v->orig.ph[o].p_type, ULL(v->orig.ph[o].p_vaddr));
	return v->file.nfresh ? 0 : refuse(v, "no new segment");
}

/* The table is read through its address by programs, not only by the kernel. */
static int check_table_place(struct verify *v)
{
	uint64_t off = v->gen.eh.e_phoff, n = v->gen.nph * sizeof(Elf64_Phdr);
	const Elf64_Phdr *phdr = image_phdr(&v->gen, PT_PHDR),
			 *p = image_phdr(&v->gen, PT_LOAD);

	if (off >= p->p_offset && n <= p->p_filesz && off - p->p_offset <= p->p_filesz - n &&
	    (!phdr || phdr->p_vaddr - p->p_vaddr == off - p->p_offset))
		return 0;
	return refuse(v,
		      "the program header table at file offset 0x%llx is not in the first "
		      "segment, where "
		      "PT_PHDR says",
		      ULL(off));
}

int verify_headers(struct verify *v)
{
	if (check_header(v) < 0 || check_code_is_constant(v) < 0 || find_lift(v) < 0)
		return -1;
	verify_find_buildid(v);
	return check_program_headers(v) < 0 ? -1 : check_table_place(v);
}
