/* mutants.c - damaged programs: each gives a refusal or a generation that verifies
 *
 *   mutants [-n COUNT] [-s SEED] [-j JOBS] [-d FOLDER] [-w INDEX] [FILE...]
 *
 * The places of a file where damage tells (fields of headers, every byte of the unwind and
 * exception tables, relocations, symbols, notes, code, constants) times the ways to damage them
 * are numbered.  COUNT of those mutants (all files together; 0: every single one) are tried,
 * spread evenly from SEED on; every fifth is damaged at a second place, too.  A mutant depends
 * on file, SEED and its number only: -w writes one of the first FILE to FOLDER.
 *
 * Each is optimized with all functions in an order of its own and the generation verified, in a
 * child with 10 s of processor time and 2 GiB of memory for each.  "Refused", "malformed" and
 * "verified" are good ends; the other mutants are kept in FOLDER and fail the test: a crash, a
 * hang, too much memory, an error of our own.  So does a generation that the verifier refuses:
 * it harms nobody, since it is not installed, but Editor and Verifier see the file in different
 * ways.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "verify/verify.h"

enum { CPU_SECONDS = 10, FILE_MAX = 1 << 24, DEFAULT_COUNT = 3000, SHOWN = 20, SECOND_EVERY = 5
       };
static const uint64_t MEMORY_MAX = 2ull << 30;

enum outcome { UNTRIED, REFUSED, MALFORMED, VERIFIED, NOT_VERIFIED, OTHER_ERROR, CRASHED, HUNG,
	       TOO_LARGE, NOUTCOME };
static const char *const outcome_name[] = {
	"untried", "refused", "malformed", "verified", "NOT VERIFIED", "OTHER ERROR", "CRASHED",
	"HUNG", "TOO LARGE",
};

struct place {			/* `n` values of `width` bytes, one behind the other */
	uint64_t off, n;
	uint32_t width;
};

struct target {
	const char *name;
	struct bytes file;
	struct place *place;
	uint32_t nplace, cap;
	uint64_t nmutant;
};

struct report {			/* shared with the children */
	uint64_t current;
	char text[240];
};

static uint64_t seed = 1;

static uint64_t mix(uint64_t x)		/* splitmix64 */
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint64_t get(const uint8_t *p, uint32_t width)
{
	uint64_t v = 0;

	memcpy(&v, p, width);
	return v;
}

/* --- where to damage --- */

enum { BYTE_WAYS = 12, WORD_WAYS = 20 };

static uint64_t ways(const struct place *p)
{
	return p->n * (p->width == 1 ? BYTE_WAYS : WORD_WAYS);
}

static void add_place(struct target *t, uint64_t off, uint64_t size, uint32_t width)
{
	if (off > t->file.n || size > t->file.n - off || size < width)
		return;
	if (t->nplace == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->place = realloc(t->place, t->cap * sizeof(*t->place));
		if (!t->place)
			exit(1);
	}
	t->place[t->nplace] = (struct place){ off, size / width, width };
	t->nmutant += ways(&t->place[t->nplace++]);
}

/* Values of different widths that stand one behind the other. */
static void add_fields(struct target *t, uint64_t off, const char *widths)
{
	for (; *widths; widths++) {
		uint32_t w = (uint32_t)(*widths - '0');

		add_place(t, off, w, w);
		off += w;
	}
}

static void add_section(struct target *t, const Elf64_Shdr *h, const char *name)
{
	static const struct {
		const char *prefix;
		uint32_t width[2];
	} kinds[] = {
		{ ".eh_frame", { 1, 4 } },	{ ".gcc_except_table", { 1 } },
		{ ".rela", { 4, 8 } },		{ ".relr", { 8 } },
		{ ".dynamic", { 8 } },		{ ".dynsym", { 1, 8 } },
		{ ".symtab", { 8 } },		{ ".note", { 4 } },
		{ ".text", { 1 } },		{ ".plt", { 1 } },
		{ ".init", { 1 } },		{ ".rodata", { 1, 4 } },
		{ ".data", { 8 } },		{ ".got", { 8 } },
		{ ".interp", { 1 } },		{ ".gnu.", { 4 } },
	};

	if (h->sh_type == SHT_NOBITS)
		return;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (strncmp(name, kinds[k].prefix, strlen(kinds[k].prefix)) == 0)
			for (int i = 0; i < 2 && kinds[k].width[i]; i++)
				add_place(t, h->sh_offset, h->sh_size, kinds[k].width[i]);
}

static void find_places(struct target *t)
{
	Elf64_Ehdr eh;
	Elf64_Shdr sh, names = { 0 };

	if (t->file.n < sizeof(eh))
		return;
	memcpy(&eh, t->file.p, sizeof(eh));
	add_place(t, 0, EI_NIDENT, 1);
	add_fields(t, EI_NIDENT, "2248884222222");
	for (uint32_t i = 0; i < eh.e_phnum; i++)
		add_fields(t, eh.e_phoff + i * sizeof(Elf64_Phdr), "44888888");
	if (eh.e_shoff + (uint64_t)eh.e_shnum * sizeof(sh) > t->file.n)
		return;
	memcpy(&names, t->file.p + eh.e_shoff + eh.e_shstrndx * sizeof(sh), sizeof(sh));
	for (uint32_t i = 0; i < eh.e_shnum; i++) {
		uint64_t at = eh.e_shoff + i * sizeof(sh);

		memcpy(&sh, t->file.p + at, sizeof(sh));
		add_fields(t, at, "4488884488");
		add_section(t, &sh, (const char *)t->file.p + names.sh_offset + sh.sh_name);
	}
}

/* --- how to damage --- */

static uint64_t damaged_word(uint64_t v, uint32_t way, uint64_t other, uint64_t file_size,
			     uint64_t r)
{
	switch (way) {
	case 0: return 0;
	case 1: return 1;
	case 2: return UINT64_MAX;
	case 3: return UINT64_MAX >> 1;
	case 4: return 0x7fffffff;
	case 5: return 0x80000000;
	case 6: return 1ull << 63;
	case 7: return v + 1;
	case 8: return v - 1;
	case 9: return v + 8;
	case 10: return v - 8;
	case 11: return v + 0x1000;
	case 12: return v * 2;
	case 13: return v / 2;
	case 14: return other;
	case 15: return file_size;
	case 16: return v ^ (1ull << (r % 64));
	case 17: return v ^ (1ull << (r % 13));
	case 18: return -v;
	default: return mix(r);
	}
}

static uint64_t damaged_byte(uint64_t v, uint32_t way, uint64_t r)
{
	if (way < 8)
		return v ^ (1u << way);
	return way == 8 ? 0 : way == 9 ? 0xff : way == 10 ? 0x80 : r;
}

static void damage(const struct target *t, uint8_t *p, uint64_t mutant, uint64_t r)
{
	const struct place *at = t->place;

	while (mutant >= ways(at))
		mutant -= ways(at++);
	uint64_t off = at->off + mutant % at->n * at->width;
	uint32_t way = (uint32_t)(mutant / at->n), w = at->width;
	uint64_t v = get(p + off, w);
	uint64_t other = get(p + at->off + mix(r ^ 1) % at->n * w, w);

	v = w == 1 ? damaged_byte(v, way, r) : damaged_word(v, way, other, t->file.n, r);
	memcpy(p + off, &v, w);
}

/* The mutant itself, in `p`. */
static void make_mutant(const struct target *t, uint64_t index, uint64_t stride, uint8_t *p)
{
	uint64_t r = mix(mix(seed) ^ index);

	memcpy(p, t->file.p, t->file.n);
	damage(t, p, (index * stride + (stride > 1 ? r % stride : 0)) % t->nmutant, r);
	if (index % SECOND_EVERY == 0 && stride > 1)
		damage(t, p, mix(r) % t->nmutant, mix(r + 1));
}

/* --- what becomes of it --- */

static enum outcome try_mutant(struct bytes file, uint64_t index, struct err *err)
{
	struct edit_options options = { .all = true, .shuffle = index % 4 != 0, .seed = index,
					.generation = 1 };
	struct arena *a = arena_new();
	struct wr gen = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats verified;
	enum outcome outcome = VERIFIED;

	if (edit_optimize(file, NULL, &options, a, &gen, &map, &stats, err) < 0)
		outcome = err->kind == ERR_REFUSED ? REFUSED :
			  err->kind == ERR_INPUT ? MALFORMED : OTHER_ERROR;
	else if (verify_generation(file, wr_bytes(&gen), a, &verified, err) < 0)
		outcome = NOT_VERIFIED;
	arena_free(a);
	wr_free(&gen);
	wr_free(&map);
	return outcome;
}

/* In a child: mutants `first`, first + step, ... as long as all goes well. */
static void try_some(const struct target *t, uint64_t first, uint64_t step, uint64_t count,
		     uint64_t stride, struct report *report, uint8_t *outcome)
{
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, none = { 0, 0 };
	const struct itimerval limit = { .it_value.tv_sec = CPU_SECONDS };
	/* exactly as large: sanitizers see reads behind it */
	uint8_t *p = malloc(t->file.n);

#ifndef MORPH_SANITIZED
	if (setrlimit(RLIMIT_AS, &memory) < 0)
		_exit(2);
#else
	(void)memory;
#endif
	if (!p || setrlimit(RLIMIT_CORE, &none) < 0)
		_exit(2);
	for (uint64_t i = first; i < count; i += step) {
		struct err err = { 0 };

		make_mutant(t, i, stride, p);
		__atomic_store_n(&report->current, i, __ATOMIC_SEQ_CST);
		report->text[0] = 0;
		(void)setitimer(ITIMER_PROF, &limit, NULL);
		outcome[i] = (uint8_t)try_mutant((struct bytes){ p, t->file.n }, i, &err);
		(void)snprintf(report->text, sizeof(report->text), "%.200s", err.text);
		if (outcome[i] > VERIFIED)
			/* the parent looks, and goes on with the next */
			_exit(3);
	}
	_exit(0);
}

static void *share(size_t n)
{
	void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void keep(const struct target *t, uint64_t index, uint64_t stride, const char *folder)
{
	uint8_t *p = malloc(t->file.n);
	char path[4096];
	FILE *f;

	if (!p)
		exit(1);
	make_mutant(t, index, stride, p);
	(void)mkdir(folder, 0777);	/* there already, or the next call says why */
	(void)snprintf(path, sizeof(path), "%s/%s-%llu", folder, t->name,
		       (unsigned long long)index);
	f = fopen(path, "wb");
	if (!f || fwrite(p, 1, t->file.n, f) != t->file.n || fclose(f))
		perror(path);
	free(p);
}

/* A child ended early with this status. */
static enum outcome outcome_of(int status, const struct report *report, const uint8_t *outcome)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGPROF ? HUNG : CRASHED;
	if (WEXITSTATUS(status) == 3)
		return outcome[report->current];
	return WEXITSTATUS(status) == 1 ? TOO_LARGE : CRASHED;	/* arenas exit with 1 */
}

struct worker {
	pid_t pid;
	uint64_t first;		/* of its share that is yet to be tried */
	struct report *report;
};

static void start(struct worker *w, const struct target *t, uint64_t step, uint64_t count,
		  uint64_t stride, uint8_t *outcome)
{
	w->pid = -1;
	if (w->first >= count)
		return;
	(void)fflush(stdout);
	w->report->current = w->first;
	w->pid = fork();
	if (w->pid < 0)
		exit(1);
	if (w->pid == 0)
		try_some(t, w->first, step, count, stride, w->report, outcome);
}

/* Tries all; returns how many came to a bad end. */
static uint64_t try_all(const struct target *t, uint64_t count, uint64_t stride, uint32_t jobs,
			const char *folder, uint64_t *sum)
{
	struct worker worker[64];
	uint8_t *outcome = share(count);
	uint64_t bad = 0;
	int status;

	for (uint32_t j = 0; j < jobs; j++) {
		worker[j] =
			(struct worker){ .first = j, .report = share(sizeof(struct report)) };
		start(&worker[j], t, jobs, count, stride, outcome);
	}
	for (pid_t pid; (pid = wait(&status)) > 0; )
		for (struct worker *w = worker; w < worker + jobs; w++) {
			uint64_t at = w->report->current;

			if (w->pid != pid)
				continue;
			w->pid = -1;
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				continue;
			outcome[at] = (uint8_t)outcome_of(status, w->report, outcome);
			if (bad++ < SHOWN)
				printf("# %s, mutant %llu: %s %s\n", t->name,
				       (unsigned long long)at, outcome_name[outcome[at]],
				       w->report->text);
			keep(t, at, stride, folder);
			w->first = at + jobs;
			start(w, t, jobs, count, stride, outcome);
		}
	for (uint64_t i = 0; i < count; i++)
		sum[outcome[i]]++;
	(void)munmap(outcome, count ? count : 1);
	for (uint32_t j = 0; j < jobs; j++)
		(void)munmap(worker[j].report, sizeof(struct report));
	return bad;
}

/* --- files --- */

static bool read_target(const char *path, struct arena *a, struct target *t)
{
	struct err err;
	int fd = io_open_read(path, &err);

	*t = (struct target){ .name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
	if (fd < 0 || io_read_all(fd, FILE_MAX, a, &t->file, &err) < 0) {
		fprintf(stderr, "mutants: %s\n", err.text);
		return false;
	}
	(void)close(fd);
	find_places(t);
	return t->nmutant > 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_good(const struct dirent *d)
{
	return d->d_name[0] != '.' && strncmp(d->d_name, "bad_", 4) != 0;
}

/* The files of the corpus; what is called bad_NAME is damaged already. */
static int corpus(struct arena *a, char ***path)
{
	static const char folder[] = "tests/fuzz/corpus/generation";
	struct dirent **entry;
	int n = scandir(folder, &entry, is_good, by_name);

	*path = arena_array(a, n > 0 ? (size_t)n : 0, sizeof(**path));
	for (int i = 0; i < n; i++) {
		(*path)[i] = arena_printf(a, "%s/%s", folder, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return n;
}

struct options {
	uint64_t count;
	uint32_t jobs;
	const char *folder, *write;
};

static bool parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:j:d:w:")) != -1)
		switch (c) {
		case 'n': o->count = strtoull(optarg, NULL, 10); break;
		case 's': seed = strtoull(optarg, NULL, 10); break;
		case 'j': o->jobs = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'd': o->folder = optarg; break;
		case 'w': o->write = optarg; break;
		default: return false;
		}
	return o->jobs >= 1 && o->jobs <= 64;
}

/* One file's share of the mutants; returns whether all came to a good end. */
static bool try_file(const char *path, const struct options *o, uint64_t share_of,
		     struct arena *a)
{
	uint64_t sum[NOUTCOME] = { 0 };
	struct target t;

	if (!read_target(path, a, &t))
		return false;
	uint64_t count = share_of && share_of < t.nmutant ? share_of : t.nmutant;
	uint64_t stride = t.nmutant / count;

	if (o->write) {
		keep(&t, strtoull(o->write, NULL, 10), stride, o->folder);
		return true;
	}
	uint64_t bad = try_all(&t, count, stride, o->jobs, o->folder, sum);
	printf("# %s: %llu of %llu mutants:", t.name, (unsigned long long)count,
	       (unsigned long long)t.nmutant);
	for (int i = 0; i < NOUTCOME; i++)
		if (sum[i])
			printf(" %llu %s", (unsigned long long)sum[i], outcome_name[i]);
	printf("\n");
	free(t.place);
	return bad == 0 && sum[VERIFIED] > 0;
}

int main(int argc, char **argv)
{
	struct options o = { .count = DEFAULT_COUNT, .jobs = 1, .folder = "mutants" };
	struct arena *a = arena_new();
	char folder[4096];
	int bad = 0;

	(void)snprintf(folder, sizeof(folder), "%s.kept", argv[0]);
	o.folder = folder;
	if (!parse(argc, argv, &o)) {
		fprintf(stderr, "usage: mutants [-n COUNT] [-s SEED] [-j JOBS] [-d FOLDER] "
			"[-w INDEX] [FILE...]\n");
		return 2;
	}
	char **path = argv + optind;
	int n = argc - optind;
	if (n == 0)
		n = corpus(a, &path);
	for (int i = 0; i < n; i++) {
		bool good = try_file(path[i], &o, o.count / (uint64_t)n, a);

		printf("%sok %d - mutants of %s, seed %llu\n", good ? "" : "not ", i + 1,
		       path[i], (unsigned long long)seed);
		bad |= !good;
	}
	printf("1..%d\n", n > 0 ? n : 0);
	arena_free(a);
	return bad || n <= 0;
}
