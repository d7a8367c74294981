/* elves.c - which ELF files there are, and what they are, by another look than the Editor's
 *
 *	elves LIST PATH...
 *
 * Walks the paths without following symbolic links and rewrites LIST: one line of tab-separated
 * fields for every different content, smallest file first,
 *
 *	sha256 size mtime_ns kind runtimes exec_bytes copies path
 *
 * where kind is what the headers say, runtimes are those whose marks are in the file ("-" for
 * none), exec_bytes the size of its executable sections, and copies the number of files with
 * this content.  A line of the old LIST is believed when path, size and time are still the
 * same, so that a second run reads nothing but new files.
 *
 * Nothing here uses the Editor's reader: the report compares its answers with these.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/io.h"

struct file {
	char *path;
	char hex[65], kind[16], runtimes[32];
	uint64_t size, mtime_ns, exec_bytes;
	unsigned copies;
};

struct list {
	struct file *file;
	size_t n, max;
};

static const size_t FILE_MAX = (size_t)2 << 30;

static void die(const char *what)
{
	fprintf(stderr, "elves: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct file *list_add(struct list *l)
{
	if (l->n == l->max) {
		l->max = l->max ? 2 * l->max : 1024;
		l->file = realloc(l->file, l->max * sizeof(*l->file));
		if (!l->file)
			die("memory");
	}
	struct file *f = &l->file[l->n++];
	memset(f, 0, sizeof(*f));
	return f;
}

static int by_path(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_content(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	int c = strcmp(x->hex, y->hex);

	return c ? c : strcmp(x->path, y->path);
}

static int by_size(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void read_list(const char *name, struct list *l)
{
	FILE *in = fopen(name, "r");
	char *line = NULL;
	size_t max = 0;
	ssize_t n;

	while (in && (n = getline(&line, &max, in)) > 0) {
		struct file f = { 0 };
		int at = 0;

		if (sscanf(line,
			   "%64s\t%" SCNu64 "\t%" SCNu64 "\t%15[^\t]\t%31[^\t]\t%" SCNu64
			   "\t%u\t%n",
			   f.hex, &f.size, &f.mtime_ns, f.kind, f.runtimes, &f.exec_bytes,
			   &f.copies, &at) != 7 ||
		    at == 0)
			continue;
		line[n - 1] = '\0';
		f.path = strdup(line + at);
		if (!f.path)
			die("memory");
		*list_add(l) = f;
	}
	free(line);
	if (in)
		(void)fclose(in);		/* only read */
	if (l->n)
		qsort(l->file, l->n, sizeof(*l->file), by_path);
}

/* Section names and kinds come from a file that may say anything: every read is checked. */
static bool get(struct bytes b, uint64_t off, void *out, size_t n)
{
	struct bytes part = bytes_at(b, off, n);

	if (part.p)
		memcpy(out, part.p, n);
	return part.p != NULL;
}

static bool has_phdr(struct bytes b, const Elf64_Ehdr *eh, uint32_t type)
{
	Elf64_Phdr ph;

	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (get(b, eh->e_phoff + (uint64_t)i * sizeof(ph), &ph, sizeof(ph)) &&
		    ph.p_type == type)
			return true;
	return false;
}

/* Sums what is code in the file; true if there are sections of code that hold none. */
static bool sum_code(struct bytes b, const Elf64_Ehdr *eh, uint64_t *exec_bytes)
{
	Elf64_Shdr sh;
	bool empty = false;

	for (unsigned i = 0; i < eh->e_shnum; i++) {
		if (!get(b, eh->e_shoff + (uint64_t)i * sizeof(sh), &sh, sizeof(sh)) ||
		    (sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		if (sh.sh_type == SHT_NOBITS)
			empty = true;
		else
			*exec_bytes += sh.sh_size;
	}
	return empty && *exec_bytes == 0;
}

static const char *kind_of(struct bytes b, uint64_t *exec_bytes)
{
	Elf64_Ehdr eh;

	if (b.n > EI_CLASS && b.p[EI_CLASS] == ELFCLASS32)
		return "32-bit";
	if (!get(b, 0, &eh, sizeof(eh)))
		return "stub";
	if (eh.e_machine != EM_X86_64)
		return "other machine";
	bool debug = sum_code(b, &eh, exec_bytes);
	if (eh.e_type == ET_REL)
		return "object";
	if (eh.e_type == ET_CORE)
		return "core";
	if (debug)
		return "debug file";
	bool interp = has_phdr(b, &eh, PT_INTERP), dynamic = has_phdr(b, &eh, PT_DYNAMIC);
	if (eh.e_type == ET_EXEC)
		return dynamic ? "fixed" : "static";
	return interp ? "PIE" : "library";
}

static void find_runtimes(struct bytes b, char out[32])
{
	static const struct { const char *mark, *name; } mark[] = {
		{ "\xff Go buildinf:", "go" },
		{ "OCAMLRUNPARAM", "ocaml" },
		{ "GHCRTS", "ghc" },
		{ "FPC 3.", "fpc" },
	};

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]); i++)
		if (memmem(b.p, b.n, mark[i].mark, strlen(mark[i].mark))) {
			if (out[0])
				strcat(out, ",");
			strcat(out, mark[i].name);
		}
	if (!out[0])
		strcpy(out, "-");
}

/* False when it is no ELF file, or cannot be read. */
static bool look(const char *path, struct file *f)
{
	char magic[SELFMAG];
	struct err err = { 0 };
	struct bytes b;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool good = false;

	if (fd < 0)
		return false;
	struct arena *a = arena_new();
	if (pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0 &&
	    io_read_all(fd, FILE_MAX, a, &b, &err) == 0) {
		struct digest d = digest_of(b);

		digest_hex(&d, f->hex);
		strcpy(f->kind, kind_of(b, &f->exec_bytes));
		find_runtimes(b, f->runtimes);
		good = true;
	}
	arena_free(a);
	close(fd);
	return good;
}

static void take(const FTSENT *e, const struct list *old, struct list *out)
{
	struct file f = { .path = strdup(e->fts_path), .size = (uint64_t)e->fts_statp->st_size,
			  .mtime_ns = (uint64_t)e->fts_statp->st_mtim.tv_sec * 1000000000u +
				      (uint64_t)e->fts_statp->st_mtim.tv_nsec };

	if (!f.path)
		die("memory");
	const struct file *o = old->n == 0 ? NULL :
		bsearch(&f, old->file, old->n, sizeof(f), by_path);
	if (o && o->size == f.size && o->mtime_ns == f.mtime_ns) {
		memcpy(f.hex, o->hex, sizeof(f.hex));
		memcpy(f.kind, o->kind, sizeof(f.kind));
		memcpy(f.runtimes, o->runtimes, sizeof(f.runtimes));
		f.exec_bytes = o->exec_bytes;
	} else if (!look(e->fts_path, &f)) {
		free(f.path);
		return;
	}
	f.copies = 1;
	*list_add(out) = f;
}

static void walk(char **path, const struct list *old, struct list *out)
{
	FTS *fts = fts_open(path, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	if (!fts)
		die("fts_open");
	while ((e = fts_read(fts)) != NULL)
		if (e->fts_info == FTS_F && e->fts_statp->st_size >= SELFMAG &&
		    !strpbrk(e->fts_path, "\t\n"))
			take(e, old, out);
	(void)fts_close(fts);		/* only read */
}

/* Files of the same content become one, under the first path. */
static void merge(struct list *l)
{
	size_t n = 0;

	qsort(l->file, l->n, sizeof(*l->file), by_content);
	for (size_t i = 0; i < l->n; i++) {
		if (n && strcmp(l->file[n - 1].hex, l->file[i].hex) == 0)
			l->file[n - 1].copies++;
		else
			l->file[n++] = l->file[i];
	}
	l->n = n;
	qsort(l->file, l->n, sizeof(*l->file), by_size);
}

int main(int argc, char **argv)
{
	struct list old = { 0 }, now = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: elves LIST PATH...\n");
		return 2;
	}
	read_list(argv[1], &old);
	walk(argv + 2, &old, &now);
	if (now.n)
		merge(&now);
	FILE *out = fopen(argv[1], "w");
	if (!out)
		die(argv[1]);
	for (size_t i = 0; i < now.n; i++) {
		const struct file *f = &now.file[i];

		fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%" PRIu64 "\t%u\t%s\n",
			f->hex, f->size, f->mtime_ns, f->kind, f->runtimes, f->exec_bytes,
			f->copies, f->path);
	}
	if (fclose(out) != 0)
		die(argv[1]);
	return 0;
}
