/* counting.c - the start of a counting generation maps its counters and goes on as the original
 *
 * PLACE    A program's entry point leads to the start, a library's DT_INIT; nothing else that
 *          the original has changes.  The start stands behind all images.
 *
 * CODE     The start is these bytes and no others.  It saves what a system call changes, maps
 *          memory over the counters' segment, exactly, that is shared with nobody but forks,
 *          writes 1 into the first counter, restores all and goes where the original began.
 *          No flag changes.  If the kernel refuses, the segment stays what the loader made of
 *          it: private zero bytes.
 *
 * COUNTERS are `incq COUNTER(%rip)` of a word of the segment.  No instruction of the original
 *          has an operand there (code.c), so nothing else sees them.
 *
 * Tested by tests/unit/verify/test_counting.c and tests/programs/counting.sh.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "verify/lookup.h"

enum { MAX_COUNTERS = 256 << 20, PAGE = 4096 };

/* Of what the loader maps: the start of a page. */
static vaddr first_byte(const struct image *img)
{
	vaddr lo, hi;

	image_span(img, &lo, &hi);
	return lo & -(vaddr)PAGE;
}

static int find_init(struct verify *v, uint64_t *leads_at)
{
	const Elf64_Phdr *ph = image_phdr(&v->orig, PT_DYNAMIC);

	for (uint64_t off = 0; ph && off + sizeof(Elf64_Dyn) <= ph->p_filesz;
	     off += sizeof(Elf64_Dyn)) {
		const uint8_t *p = v->orig.file.p + ph->p_offset + off;
		Elf64_Dyn d;

		memcpy(&d, p, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag != DT_INIT)
			continue;
		*leads_at = ph->p_offset + off + offsetof(Elf64_Dyn, d_un);
		return 0;
	}
	return refuse(v, "a library without DT_INIT has counters");
}

/* Where the original begins, and what says so. */
static int find_start(struct verify *v, vaddr *next)
{
	uint64_t soname;

	v->counting.leads_at = offsetof(Elf64_Ehdr, e_entry);
	if ((!v->orig.executable || image_dynamic(&v->orig, DT_SONAME, &soname)) &&
	    find_init(v, &v->counting.leads_at) < 0)
		return -1;
	memcpy(next, v->orig.file.p + v->counting.leads_at, sizeof(*next));
	memcpy(&v->counting.start,
	       v->gen.file.p + v->counting.leads_at +
		       (v->counting.leads_at < sizeof(Elf64_Ehdr) ? 0 : v->file.lift),
	       sizeof(v->counting.start));
	if (!image_is_exec(&v->orig, *next))
		return refuse(v, "the original begins at 0x%llx, where no code is",
			      ULL(*next));
	return 0;
}

static void put32(uint8_t *at, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(at, &low, sizeof(low));
}

int verify_counting(struct verify *v)
{
	uint8_t want[] = {
		0x50, 0x51, 0x52, 0x56, 0x57,			/* push rax rcx rdx rsi rdi */
		0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53,	/* r8 r9 r10 r11 */
		0x48, 0x8d, 0x3d, 0, 0, 0, 0,			/* lea COUNTERS, %rdi */
		0xbe, 0, 0, 0, 0,				/* mov SIZE, %esi */
		0xba, PROT_READ | PROT_WRITE, 0, 0, 0,		/* mov, %edx */
		0x41, 0xba, 0x31, 0x40, 0, 0,	/* SHARED | FIXED | ANONYMOUS | NORESERVE */
		0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff,	/* mov $-1, %r8 */
		0x41, 0xb9, 0, 0, 0, 0,				/* mov $0, %r9d */
		0xb8, SYS_mmap, 0, 0, 0, 0x0f, 0x05,		/* mov, %eax; syscall */
		0x48, 0xc7, 0x05, 0, 0, 0, 0, 1, 0, 0, 0,	/* movq $1, COUNTERS */
		0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58,	/* pop r11 r10 r9 r8 */
		0x5f, 0x5e, 0x5a, 0x59, 0x58,			/* rdi rsi rdx rcx rax */
		0xe9, 0, 0, 0, 0,				/* jmp NEXT */
	};
	enum { COUNTERS = 16, SIZE = 21, STORE = 59, NEXT = 81 };
	const Elf64_Phdr *s = v->counting.segment;
	vaddr next;

	if (!s)
		return v->counting.wanted ? refuse(v, "there is no segment of counters") : 0;
	if (s->p_memsz > MAX_COUNTERS)
		return refuse(v, "counters of 0x%llx bytes", ULL(s->p_memsz));
	if (find_start(v, &next) < 0)
		return -1;
	new_vaddr at = v->counting.start;
	struct bytes have = image_at(&v->gen, at, sizeof(want));

	v->counting.start_end = at + sizeof(want);
	if (!have.p || !verify_is_fresh(v, at) || !image_is_exec(&v->gen, at))
		return refuse(v, "it does not begin in new text, at 0x%llx", ULL(at));
	put32(want + COUNTERS, s->p_vaddr - (at + COUNTERS + 4));
	put32(want + SIZE, s->p_memsz);
	put32(want + STORE, s->p_vaddr - (at + STORE + 8));
	put32(want + NEXT, next - (at + NEXT + 4));
	if (memcmp(want, have.p, sizeof(want)) != 0)
		return refuse(v, "what runs first, at 0x%llx, does more than map the counters "
				 "and go on at 0x%llx", ULL(at), ULL(next));
	v->stats->counters = s->p_vaddr - first_byte(&v->gen);
	v->stats->counters_size = s->p_memsz;
	return 0;
}

uint32_t verify_counter(const struct verify *v, struct bytes code, new_vaddr at)
{
	static const uint8_t incq[] = { 0x48, 0xff, 0x05 };
	enum { LEN = sizeof(incq) + 4 };
	const Elf64_Phdr *s = v->counting.segment;
	int32_t d;

	if (!s || code.n < LEN || memcmp(code.p, incq, sizeof(incq)) != 0)
		return 0;
	memcpy(&d, code.p + sizeof(incq), sizeof(d));
	uint64_t off = at + LEN + (vaddr)(int64_t)d - s->p_vaddr;

	return off % 8 == 0 && off < s->p_memsz ? LEN : 0;
}

const struct vstub *verify_find_stub(const struct verify *v, new_vaddr at)
{
	uint32_t lo = 0, hi = v->counting.stubs.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->counting.stubs.v[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < v->counting.stubs.n && v->counting.stubs.v[lo].at == at ?
	       &v->counting.stubs.v[lo] : NULL;
}
