/* ingest.c - spool file to store
 *
 * Either the store has everything of a file (counts, counters, address spaces, its name) or
 * nothing.  When something fails, the address spaces in memory have moved on and are taken back
 * from the store, so that the file can be given again.
 */
#include "manager/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "monitor/spool.h"

struct ingest {
	struct store *store;
	struct modules *modules;
	struct spaces *spaces;
};

/* The address spaces of the store; none when they are of another boot or damaged. */
static int reload(struct ingest *g, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_spaces_get(g->store, &w, err);

	spaces_free(g->spaces);
	g->spaces = spaces_new(NULL);
	/* Damaged ones are left empty: their samples count as of unknown processes. */
	if (rc == 1)
		(void)spaces_load(g->spaces, wr_bytes(&w), NULL);
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

struct ingest *ingest_new(struct store *s, struct modules *ms, struct err *err)
{
	struct ingest *g = calloc(1, sizeof(*g));

	if (!g) {
		err_set(err, ERR_SYS, "out of memory");
		return NULL;
	}
	g->store = s;
	g->modules = ms;
	if (reload(g, err) < 0) {
		ingest_free(g);
		return NULL;
	}
	return g;
}

void ingest_free(struct ingest *g)
{
	if (!g)
		return;
	spaces_free(g->spaces);
	free(g);
}

void ingest_spaces_counts(const struct ingest *g, struct spaces_counts *out)
{
	spaces_counts(g->spaces, out);
}

static int enter(struct ingest *g, struct spool_reader *r, const char *name,
		 struct attribution *out, struct err *err)
{
	struct attribute_resolver resolver = modules_resolver(g->modules);
	struct attribute *a = attribute_new(g->spaces);
	struct wr spaces = { 0 };

	attribute_spool(a, r);
	int rc = attribute_resolve(a, &resolver, out, err);
	attribute_free(a);
	if (rc < 0)
		return -1;
	spaces_compact(g->spaces);
	spaces_save(g->spaces, &spaces);
	rc = store_add_attribution(g->store, name, out, wr_bytes(&spaces), err);
	wr_free(&spaces);
	return rc;
}

int ingest_spool_file(struct ingest *g, int fd, const char *name, struct attribution *sum,
		      struct err *err)
{
	struct attribution a = { 0 };
	char last[256];

	if (store_spool_last(g->store, last, sizeof(last), err) < 0)
		return -1;
	if (strcmp(name, last) <= 0)
		return 0;
	struct spool_reader *r = spool_reader_open(fd, err);
	if (!r)
		return err_wrap(err, "'%s'", name);
	int rc = enter(g, r, name, &a, err);
	spool_reader_free(r);
	if (rc < 0) {
		err_wrap(err, "'%s'", name);
		(void)reload(g, NULL);		/* the next call finds the same error */
	} else if (sum) {
		attribution_add(sum, &a);
	}
	attribution_free(&a);
	return rc < 0 ? -1 : 1;
}
