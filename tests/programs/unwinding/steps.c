/* steps.c - unwinds at every instruction of a program, and of a generation of it, by libunwind
 *
 *   steps ORIGINAL GENERATION
 *
 * Both run under ptrace, one instruction after the other.  Wherever the program counter is in
 * the program itself, libunwind walks the stack from outside by the file's unwind tables.
 * Program counters of new text are taken back by the block map; then both runs must give the
 * same stacks at the same instructions: every return address and every frame.  Only jumps and
 * NOPs may be in one of the runs alone, and stubs of the linkage table in the original.
 *
 * Addresses are not randomised; both paths must be equally long, since they lie on the stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libunwind-ptrace.h>

#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/io.h"
#include "binary/decode.h"
#include "binary/image.h"

enum { FRAMES = 64, STEPS_MAX = 20000000, SHOWN = 5 };

struct stop {
	uint64_t pc;			/* in the original's addresses */
	uint64_t stack;			/* hash of all frames behind the first */
	uint32_t nframe;
	bool between;			/* in a jump that only the generation has */
	/* such a one, perhaps: behind a branch of another length */
	bool jumps;
};

struct run {
	struct image img;
	struct blockmap map;		/* empty: the original */
	uint64_t bias, lo, hi;		/* where the program is in memory */
	VEC(struct stop) stops;
	uint64_t steps;
};

static void fail(const char *what)
{
	fprintf(stderr, "steps: %s\n", what);
	exit(1);
}

static void open_run(struct run *r, const char *path, struct arena *a)
{
	struct bytes file;
	struct err err;
	int fd = io_open_read(path, &err);

	if (fd < 0 || io_read_all(fd, 1 << 28, a, &file, &err) < 0 ||
	    image_parse(file, a, &r->img, &err) < 0)
		fail(err.text);
	(void)close(fd);
	const struct section *s = image_section(&r->img, ".morph.map");
	if (s && blockmap_read(bytes_at(file, s->h.sh_offset, s->h.sh_size), &r->map, &err) < 0)
		fail(err.text);
	image_span(&r->img, &r->lo, &r->hi);
}

/* The address of the original that pc (in memory) stands for; other modules keep theirs. */
static uint64_t original_of(const struct run *r, uint64_t pc, bool *between)
{
	uint64_t addr = pc - r->bias;

	*between = false;
	if (addr < r->lo || addr >= r->hi)
		return pc;
	const struct blockmap_block *b =
		r->map.nblock ? blockmap_find_gen(&r->map, addr) : NULL;
	if (!b)
		return addr;
	uint64_t orig = blockmap_orig_of(&r->map, b, addr);

	*between = orig == r->map.orig_base + b->orig + b->orig_size;
	return orig;
}

static uint64_t hash(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15 ^ (h >> 29);
}

/* What one of the runs may have alone: jumps, NOPs. */
static bool is_jump_or_nop(const struct run *r, uint64_t addr)
{
	struct bytes code = image_rest(&r->img, addr);
	struct insn insn;
	vaddr target;

	return code.p && insn_decode(code, addr, &insn, &target) &&
	       (insn.kind == INSN_JMP || insn.kind == INSN_NOP);
}

/* The jump of a stub of the linkage table, which only the original need have. */
static bool is_stub(const struct run *r, uint64_t addr)
{
	struct bytes code = image_rest(&r->img, addr);
	struct insn insn;
	vaddr target;

	return code.p && insn_decode(code, addr, &insn, &target) && insn.kind == INSN_IJMP &&
	       insn.field;
}

/* Pages of the process as it stands: libunwind asks word by word, and a call of the kernel for
 * each would be most of the time. */
enum { PAGE = 4096, PAGES = 16 };
static struct {
	uint64_t at[PAGES];
	char bytes[PAGES][PAGE];
	unsigned n;
	pid_t pid;
} seen;

static const char *seen_page(uint64_t at)
{
	unsigned i = 0;

	while (i < seen.n && seen.at[i] != at)
		i++;
	if (i < seen.n)
		return seen.bytes[i];
	i = seen.n < PAGES ? seen.n : PAGES - 1;
	struct iovec to = { seen.bytes[i], PAGE };
	struct iovec from = { (void *)(uintptr_t)at, PAGE };

	seen.n = i;
	if (process_vm_readv(seen.pid, &to, 1, &from, 1, 0) != PAGE)
		return NULL;
	seen.at[i] = at;
	seen.n = i + 1;
	return seen.bytes[i];
}

static int read_memory(unw_addr_space_t space, unw_word_t at, unw_word_t *v, int write,
		       void *upt)
{
	const char *page = at % PAGE <= PAGE - sizeof(*v) && !write
				   ? seen_page(at & ~(uint64_t)(PAGE - 1)) : NULL;

	if (!page)
		return _UPT_access_mem(space, at, v, write, upt);
	memcpy(v, page + at % PAGE, sizeof(*v));
	return 0;
}

static struct stop look(const struct run *r, uint64_t pc, unw_addr_space_t space, void *upt)
{
	struct stop stop = { 0 };
	unw_cursor_t cursor;
	unw_word_t ip, sp;
	bool unused;

	stop.pc = original_of(r, pc, &stop.between);
	stop.jumps = is_jump_or_nop(r, pc - r->bias);
	seen.n = 0;
	if (unw_init_remote(&cursor, space, upt) < 0)
		fail("unw_init_remote");
	while (stop.nframe < FRAMES && unw_step(&cursor) > 0) {
		(void)unw_get_reg(&cursor, UNW_REG_IP, &ip);
		(void)unw_get_reg(&cursor, UNW_REG_SP, &sp);
		stop.stack = hash(hash(stop.stack, original_of(r, ip - 1, &unused)), sp);
		stop.nframe++;
	}
	return stop;
}

/* Where the kernel put a program without randomisation: its entry point's address tells. */
static uint64_t read_bias(pid_t pid, const struct run *r)
{
	char path[64];
	uint64_t aux[2];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	f = fopen(path, "rb");
	while (f && fread(aux, sizeof(aux), 1, f) == 1)
		if (aux[0] == AT_ENTRY) {
			(void)fclose(f);
			return aux[1] - r->img.eh.e_entry;
		}
	fail("no entry point");
	return 0;
}

/* Runs to the entry point: what the dynamic linker does before is nobody's concern. */
static int run_to_entry(pid_t pid, const struct run *r)
{
	uint64_t entry = r->img.eh.e_entry + r->bias;
	long word = ptrace(PTRACE_PEEKTEXT, pid, entry, 0);
	struct user_regs_struct regs;
	int status = 0;

	if (ptrace(PTRACE_POKETEXT, pid, entry, (word & ~0xffl) | 0xcc) < 0 ||
	    ptrace(PTRACE_CONT, pid, 0, 0) < 0 || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0 ||
	    regs.rip != entry + 1)
		fail("the entry point was not met");
	regs.rip = entry;
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) < 0 ||
	    ptrace(PTRACE_POKETEXT, pid, entry, word) < 0)
		fail("PTRACE_SETREGS");
	return status;
}

static void trace(struct run *r, const char *path, struct arena *a)
{
	struct user_regs_struct regs;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)personality(ADDR_NO_RANDOMIZE);
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		(void)execl(path, "program", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("cannot be traced");
	r->bias = read_bias(pid, r);
	status = run_to_entry(pid, r);
	unw_accessors_t accessors = _UPT_accessors;

	accessors.access_mem = read_memory;
	seen.pid = pid;
	unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
	void *upt = _UPT_create(pid);
	unw_set_caching_policy(space, UNW_CACHE_NONE);
	while (WIFSTOPPED(status) && r->steps++ < STEPS_MAX) {
		int sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);

		if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
			fail("PTRACE_GETREGS");
		if (regs.rip - r->bias >= r->lo && regs.rip - r->bias < r->hi)
			vec_push(a, &r->stops, look(r, regs.rip, space, upt));
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, sig) < 0 ||
		    waitpid(pid, &status, 0) != pid)
			fail("PTRACE_SINGLESTEP");
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("the program did not end well");
	_UPT_destroy(upt);
	unw_destroy_addr_space(space);
}

static bool same_stack(const struct stop *x, const struct stop *y)
{
	return x->nframe == y->nframe && x->stack == y->stack;
}

/* Walks both runs side by side; returns how often they disagree. */
static unsigned compare(const struct run *o, const struct run *g)
{
	unsigned bad = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < g->stops.n && bad < SHOWN; k++) {
		const struct stop *s = &g->stops.v[k];

		if (i < o->stops.n && o->stops.v[i].pc != s->pc && is_stub(o, o->stops.v[i].pc))
			i++;
		/* A jump of the generation's own changes no frame. */
		if (s->between || (i && s->pc == o->stops.v[i - 1].pc && i < o->stops.n &&
				   s->pc != o->stops.v[i].pc)) {
			if (i &&
			    !same_stack(s,
					&o->stops.v[s->between && i < o->stops.n ? i : i - 1]))
				printf("# %#llx, a jump: another stack\n",
				       (unsigned long long)s->pc),
					bad++;
			continue;
		}
		uint32_t at = i;

		while (i < o->stops.n && o->stops.v[i].pc != s->pc &&
		       is_jump_or_nop(o, o->stops.v[i].pc))
			i++;
		if (s->jumps && at && i < o->stops.n && o->stops.v[i].pc != s->pc &&
		    same_stack(s, &o->stops.v[at])) {
			i = at;
			continue;
		}
		if (i == o->stops.n || o->stops.v[i].pc != s->pc) {
			printf("# %#llx: the original was elsewhere\n",
			       (unsigned long long)s->pc);
			return bad + 1;
		}
		if (!same_stack(s, &o->stops.v[i])) {
			printf("# %#llx: %u frames, in the original %u, or others\n",
			       (unsigned long long)s->pc, s->nframe, o->stops.v[i].nframe);
			bad++;
		}
		i++;
	}
	while (i < o->stops.n && is_jump_or_nop(o, o->stops.v[i].pc))
		i++;
	return bad + (i < o->stops.n && bad == 0);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct run o = { 0 }, g = { 0 };
	uint32_t deepest = 0;

	if (argc != 3 || strlen(argv[1]) != strlen(argv[2])) {
		fprintf(stderr, "usage: steps ORIGINAL GENERATION (paths of one length)\n");
		return 2;
	}
	open_run(&o, argv[1], a);
	open_run(&g, argv[2], a);
	trace(&o, argv[1], a);
	trace(&g, argv[2], a);
	unsigned bad = compare(&o, &g);
	for (uint32_t i = 0; i < o.stops.n; i++)
		deepest = o.stops.v[i].nframe > deepest ? o.stops.v[i].nframe : deepest;
	printf("# %u stops in the original, %u in the generation, at most %u frames, %llu "
	       "steps\n",
	       o.stops.n, g.stops.n, deepest, (unsigned long long)g.steps);
	blockmap_free(&g.map);
	arena_free(a);
	return bad || o.stops.n < 100 || deepest < 6;
}
