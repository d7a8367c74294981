/* pcs.c - the PC samples of one module in a log of `morphctl record`, as llvm-bolt takes them
 *
 *	pcs LOG FILE [SAMPLES SEED]
 *
 * Prints `S ADDRESS COUNT` lines, in hexadecimal and ascending, for perf2bolt's --pa: the
 * samples taken in user mode in what was mapped from FILE, as addresses of the file.  With
 * SAMPLES, of a random subset of so many.  So bolt gets the very samples that Morph got.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/spool.h"

enum { MAX_SEGMENTS = 32 };

struct mapping {
	uint32_t pid;
	uint64_t addr, len, pgoff;
};

static struct {
	struct mapping *map;
	size_t nmap;
	uint64_t *pc;
	size_t npc;
	Elf64_Phdr seg[MAX_SEGMENTS];
	size_t nseg;
} all;

static void die(const char *what)
{
	fprintf(stderr, "pcs: %s\n", what);
	exit(1);
}

static void read_segments(const char *file)
{
	Elf64_Ehdr eh;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_phnum > MAX_SEGMENTS)
		die("no ELF file");
	all.nseg = eh.e_phnum;
	if (pread(fd, all.seg, all.nseg * sizeof(all.seg[0]), (off_t)eh.e_phoff) !=
	    (ssize_t)(all.nseg * sizeof(all.seg[0])))
		die("program headers cannot be read");
	close(fd);
}

static void map_add(struct mapping m)
{
	all.map = realloc(all.map, (all.nmap + 1) * sizeof(m));
	if (!all.map)
		die("no memory");
	all.map[all.nmap++] = m;
}

static void map_drop(uint32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < all.nmap; i++)
		if (all.map[i].pid != pid)
			all.map[n++] = all.map[i];
	all.nmap = n;
}

static void map_fork(uint32_t parent, uint32_t pid)
{
	if (parent == pid)
		return;
	for (size_t i = 0, n = all.nmap; i < n; i++) {
		struct mapping m = all.map[i];

		if (m.pid != parent)
			continue;
		m.pid = pid;
		map_add(m);
	}
}

static void sample(uint32_t pid, uint64_t pc)
{
	for (size_t i = 0; i < all.nmap; i++) {
		const struct mapping *m = &all.map[i];
		uint64_t off = pc - m->addr + m->pgoff;

		if (m->pid != pid || pc - m->addr >= m->len)
			continue;
		for (size_t k = 0; k < all.nseg; k++) {
			const Elf64_Phdr *s = &all.seg[k];

			if (s->p_type != PT_LOAD || off - s->p_offset >= s->p_filesz)
				continue;
			if (all.npc % 65536 == 0)
				all.pc = realloc(all.pc, (all.npc + 65536) * sizeof(*all.pc));
			if (!all.pc)
				die("no memory");
			all.pc[all.npc++] = off - s->p_offset + s->p_vaddr;
			return;
		}
	}
}

static void read_log(const char *log, const char *file)
{
	struct spool_event ev;
	struct err err = { 0 };
	int fd = open(log, O_RDONLY | O_CLOEXEC);
	struct spool_reader *r = fd < 0 ? NULL : spool_reader_open(fd, &err);

	if (!r)
		die(fd < 0 ? "the log cannot be opened" : err.text);
	while (spool_read(r, &ev) == 1) {
		if (ev.kind == SPOOL_SAMPLE && !ev.sample.kernel)
			sample(ev.pid, ev.sample.pc);
		else if (ev.kind == SPOOL_EXEC || (ev.kind == SPOOL_EXIT && ev.pid == ev.tid))
			map_drop(ev.pid);
		else if (ev.kind == SPOOL_FORK)
			map_fork(ev.fork.parent_pid, ev.pid);
		else if (ev.kind == SPOOL_MMAP && strcmp(ev.mmap.path, file) == 0)
			map_add((struct mapping){ ev.pid, ev.mmap.addr, ev.mmap.len,
						  ev.mmap.pgoff });
	}
	spool_reader_free(r);
	close(fd);
}

static double next_random(uint64_t *state)	/* splitmix64, in [0, 1) */
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Keeps `want` of the samples, each subset being as likely as any other. */
static void thin(size_t want, uint64_t seed)
{
	size_t n = 0, left = all.npc;

	for (size_t i = 0; i < all.npc; i++, left--)
		if (next_random(&seed) * (double)left < (double)(want - n))
			all.pc[n++] = all.pc[i];
	all.npc = n;
}

static int by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: pcs LOG FILE [SAMPLES SEED]\n");
		return 2;
	}
	read_segments(argv[2]);
	read_log(argv[1], argv[2]);
	if (argc == 5 && strtoul(argv[3], NULL, 10) < all.npc)
		thin(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	if (all.npc == 0)
		die("no sample in this file");
	qsort(all.pc, all.npc, sizeof(*all.pc), by_value);
	for (size_t i = 0, from = 0; i < all.npc; i++) {
		if (i + 1 < all.npc && all.pc[i + 1] == all.pc[i])
			continue;
		printf("S %" PRIx64 " %zu\n", all.pc[i], i + 1 - from);
		from = i + 1;
	}
	return 0;
}
