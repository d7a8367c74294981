/* kernelnames.c - the names of the kernel's procedures, by address; see kernelnames.h
 *
 * Text and modules of the kernel lie in the last 2 GiB, so half of an address tells it.  60,000
 * procedures take 2 MiB.  The list has no sizes: a procedure ends where the next one begins,
 * and is SIZE_MAX_BYTES long at most, so that what is not in the list (a module that came
 * later, a program of BPF) is not taken for the end of something that is.
 *
 * Tested by tests/unit/monitor/test_kernelnames.c.
 */
#include "monitor/kernelnames.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "monitor/perf_sysfs.h"
#include "monitor/spool.h"

/* Chosen: 6.18 of Debian's configuration has 65,000 procedures, the longest of 40 KiB, in a
 * list of 6 MiB. */
enum { PROCEDURES_MAX = 1 << 20, SIZE_MAX_BYTES = 64 << 10, CHUNK_BYTES = 64 << 10,
       LIST_MAX_BYTES = 64 << 20 };

#define KERNEL_TEXT UINT64_C(0xffffffff80000000)

struct procedure {
	uint32_t low;			/* of its address */
	uint32_t name;			/* its offset in text */
};

struct kernelnames {
	struct procedure *at;		/* [n], ascending, each address once */
	uint32_t n, cap;
	char *text;
	uint32_t ntext, text_cap;
};

bool kernelnames_hidden(void)
{
	char level[8];

	return sysfs_line("/proc/sys/kernel/kptr_restrict", level, sizeof(level)) == 0 &&
	       strcmp(level, "2") == 0;
}

int kernelnames_open(struct err *err)
{
	if (kernelnames_hidden())
		return err_set(err, ERR_SYS, "kernel.kptr_restrict is 2");
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : err_set(err, ERR_SYS, "'/proc/kallsyms': %s", strerror(errno));
}

/* --- one line: ADDRESS TYPE NAME, for a module's with a tab and [MODULE] behind it --- */

static bool is_of_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* What compilers put in front of a procedure, and what makes no name. */
static bool is_name(const char *s)
{
	size_t n = strlen(s);

	if (!n || n > SPOOL_PROCEDURE_MAX || strncmp(s, "__pfx_", 6) == 0 ||
	    strncmp(s, "__cfi_", 6) == 0)
		return false;
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

static void add(struct kernelnames *k, uint64_t addr, const char *name)
{
	uint32_t n = (uint32_t)strlen(name) + 1;

	if (k->n == PROCEDURES_MAX)
		return;
	if (k->n == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 4096;
		k->at = memory_grow(k->at, k->cap, sizeof(*k->at));
	}
	while (k->ntext + n > k->text_cap) {
		k->text_cap = k->text_cap ? 2 * k->text_cap : 1 << 16;
		k->text = memory_grow(k->text, k->text_cap, 1);
	}
	k->at[k->n++] = (struct procedure){ (uint32_t)addr, k->ntext };
	memcpy(k->text + k->ntext, name, n);
	k->ntext += n;
}

static void take_line(struct kernelnames *k, char *line)
{
	char *end, *tab;
	uint64_t addr = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !is_of_text(end[1]) || end[2] != ' ' ||
	    addr < KERNEL_TEXT)
		return;
	char *name = end + 3;
	tab = strchr(name, '\t');
	if (tab)
		*tab = ' ';
	if (is_name(name))
		add(k, addr, name);
}

/* --- all of them --- */

/* Of names of one address the first in the list stays. */
static int by_address(const void *a, const void *b)
{
	const struct procedure *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void sort(struct kernelnames *k)
{
	uint32_t n = 0;

	if (k->n)
		qsort(k->at, k->n, sizeof(*k->at), by_address);
	for (uint32_t i = 0; i < k->n; i++)
		if (!n || k->at[n - 1].low != k->at[i].low)
			k->at[n++] = k->at[i];
	k->n = n;
}

/* Line by line; one that has no end within a chunk is none. */
static int take_all(struct kernelnames *k, int fd, struct err *err)
{
	char *chunk = memory_new(CHUNK_BYTES + 1, 1), *line, *end;
	size_t have = 0, all = 0;
	ssize_t got;

	while (all < LIST_MAX_BYTES &&
	       (got = read(fd, chunk + have, CHUNK_BYTES - have)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(chunk);
			return err_set(err, ERR_SYS, "'/proc/kallsyms': %s", strerror(errno));
		}
		all += (size_t)got;
		have += (size_t)got;
		for (line = chunk; (end = memchr(line, '\n', have)); line = end + 1) {
			*end = '\0';
			have -= (size_t)(end + 1 - line);
			take_line(k, line);
		}
		have = have < CHUNK_BYTES ? have : 0;
		memmove(chunk, line, have);
	}
	free(chunk);
	return 0;
}

struct kernelnames *kernelnames_read(int fd, struct err *err)
{
	struct kernelnames *k = memory_new(1, sizeof(*k));
	int rc = take_all(k, fd, err);

	close(fd);
	if (rc == 0 && !k->n)
		rc = err_set(err, ERR_SYS, "'/proc/kallsyms' shows no addresses");
	if (rc < 0) {
		kernelnames_free(k);
		return NULL;
	}
	sort(k);
	return k;
}

void kernelnames_free(struct kernelnames *k)
{
	if (!k)
		return;
	free(k->at);
	free(k->text);
	free(k);
}

/* --- questions --- */

static uint64_t start_of(const struct kernelnames *k, uint32_t i)
{
	return UINT64_C(0xffffffff00000000) | k->at[i].low;
}

static uint64_t end_of(const struct kernelnames *k, uint32_t i)
{
	uint64_t most = start_of(k, i) + SIZE_MAX_BYTES;

	return i + 1 < k->n && start_of(k, i + 1) < most ? start_of(k, i + 1) : most;
}

const char *kernelnames_at(const struct kernelnames *k, uint64_t addr)
{
	uint32_t i = search_first(m, 0, k->n, start_of(k, m) <= addr);

	return i && addr < end_of(k, i - 1) ? k->text + k->at[i - 1].name : NULL;
}

struct kernelnames_range kernelnames_of(const struct kernelnames *k, const char *name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (strcmp(k->text + k->at[i].name, name) == 0)
			return (struct kernelnames_range){ start_of(k, i), end_of(k, i) };
	return (struct kernelnames_range){ 0, 0 };
}

void kernelnames_tell(const struct kernelnames *k, struct spool_event *ev)
{
	if (k && ev->kind == SPOOL_SAMPLE && ev->sample.kernel && ev->sample.kernel_pc)
		ev->sample.procedure = kernelnames_at(k, ev->sample.kernel_pc);
}
