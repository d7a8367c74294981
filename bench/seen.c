/* seen.c - a complete profile, of those functions only of which samples tell
 *
 *	seen TABLE COMPLETE SAMPLED
 *
 * Prints what the profile COMPLETE says of the functions in which the profile SAMPLED has a
 * sample or an edge.
 * A layout from it has lost what samples did not reach, and nothing else: the rest of what it
 * is better by than a layout from SAMPLED alone was lost by estimating.  TABLE is what
 * `morph-edit analyze --table` says of the program.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/blocktable.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"

enum { MAX_FILE = 1 << 30 };

static int read_file(const char *path, struct arena *a, struct bytes *out, struct err *err)
{
	int fd = io_open_read(path, err), rc = -1;

	if (fd >= 0) {
		rc = io_read_all(fd, MAX_FILE, a, out, err);
		close(fd);
	}
	return rc;
}

/* The function of `addr` is one of those in `seen`. */
static bool is_seen(const struct blocktable *t, const bool *seen, vaddr addr)
{
	uint32_t b = blocktable_find(t, addr);

	return b != UINT32_MAX && seen[t->block[b].fn];
}

static void mark_seen(const struct blocktable *t, bool *seen, vaddr addr)
{
	uint32_t b = blocktable_find(t, addr);

	if (b != UINT32_MAX)
		seen[t->block[b].fn] = true;
}

static void keep_seen(struct profile *p, const struct blocktable *t, const bool *seen)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nblock; i++)
		if (is_seen(t, seen, p->block[i].addr))
			p->block[n++] = p->block[i];
	p->nblock = n;
	n = 0;
	for (uint32_t i = 0; i < p->nedge; i++)
		if (is_seen(t, seen, p->edge[i].from))
			p->edge[n++] = p->edge[i];
	p->nedge = n;
	n = 0;
	for (uint32_t i = 0; i < p->ncall; i++)
		if (is_seen(t, seen, p->call[i].insn))
			p->call[n++] = p->call[i];
	p->ncall = n;
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct profile complete, sampled;
	struct blocktable t;
	struct bytes table, text[2];
	struct wr out = { 0 };
	struct err err;

	if (argc != 4) {
		(void)fprintf(stderr, "usage: seen TABLE COMPLETE SAMPLED\n");
		return 2;
	}
	if (read_file(argv[1], a, &table, &err) < 0 || blocktable_read(table, &t, &err) < 0 ||
	    read_file(argv[2], a, &text[0], &err) < 0 ||
	    profile_read(text[0], a, &complete, &err) < 0 ||
	    read_file(argv[3], a, &text[1], &err) < 0 ||
	    profile_read(text[1], a, &sampled, &err) < 0)
		goto failed;
	bool *seen = arena_array(a, t.nfn, sizeof(*seen));
	for (uint32_t i = 0; i < sampled.nblock; i++)
		mark_seen(&t, seen, sampled.block[i].addr);
	for (uint32_t i = 0; i < sampled.nedge; i++)
		mark_seen(&t, seen, sampled.edge[i].from);
	keep_seen(&complete, &t, seen);
	profile_write(&complete, &out);
	if (io_write_all(STDOUT_FILENO, out.p, out.n, &err) < 0)
		goto failed;
	wr_free(&out);
	blocktable_free(&t);
	arena_free(a);
	return 0;
failed:
	(void)fprintf(stderr, "seen: %s\n", err.text);
	return 1;
}
