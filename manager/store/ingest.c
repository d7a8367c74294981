/* ingest.c - spool file to store
 *
 * Either the store has everything of a file (counts, counters, address spaces, its name) or
 * nothing.  When something fails, the address spaces in memory have moved on and are taken back
 * from the store, so that the file can be given again.
 *
 * A file is known as done by its name and the time it was begun: the Monitor numbers anew when
 * it finds no files.  Processes live as long as the machine is up: with the first file of
 * another boot the address spaces begin empty.  What the store keeps is the boot, 16 bytes, and
 * the spaces.
 *
 * Tested by tests/unit/manager/store/test_suspend.c.
 */
#include "manager/store/ingest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/userset.h"
#include "monitor/spool.h"

enum { BOOT_SIZE = 16 };

struct ingest {
	struct store *store;
	struct modules *modules;
	struct spaces *spaces;
	struct statefeed *feed;
	struct userset *users;		/* NULL: whose samples they are is not asked */
	double half_life_s, observe_s;
	uint8_t boot[BOOT_SIZE];
};

/* The address spaces of the store; none when they are damaged. */
static int reload(struct ingest *g, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_spaces_get(g->store, &w, err);

	spaces_free(g->spaces);
	g->spaces = spaces_new(NULL);
	/* Damaged ones are left empty: their samples count as of unknown processes. */
	memset(g->boot, 0, sizeof(g->boot));
	if (rc == 1 && w.n >= BOOT_SIZE) {
		memcpy(g->boot, w.p, BOOT_SIZE);
		(void)spaces_load(g->spaces, bytes_at(wr_bytes(&w), BOOT_SIZE, w.n - BOOT_SIZE),
				  NULL);
	}
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
	g->half_life_s = 7 * 86400.0;
	g->observe_s = 600;
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
	userset_free(g->users);
	free(g);
}

void ingest_half_life(struct ingest *g, double seconds)
{
	g->half_life_s = seconds;
}

void ingest_observe(struct ingest *g, double seconds)
{
	g->observe_s = seconds;
}

void ingest_spaces_counts(const struct ingest *g, struct spaces_counts *out)
{
	spaces_counts(g->spaces, out);
}

void ingest_states(struct ingest *g, struct statefeed *feed)
{
	g->feed = feed;
}

void ingest_whose(struct ingest *g, const struct userset_source *source)
{
	userset_free(g->users);
	g->users = source ? userset_new(source) : NULL;
}

static void begin_boot(struct ingest *g, const uint8_t *boot)
{
	if (memcmp(g->boot, boot, BOOT_SIZE) == 0)
		return;
	spaces_free(g->spaces);
	g->spaces = spaces_new(NULL);
	if (g->users)
		userset_forget(g->users);
	memcpy(g->boot, boot, BOOT_SIZE);
}

static int enter(struct ingest *g, struct spool_reader *r, const char *key,
		 struct attribution *out, struct err *err)
{
	struct attribute_resolver resolver = modules_resolver(g->modules);
	struct wr spaces = { 0 };

	begin_boot(g, spool_reader_boot_id(r));
	struct attribute *a = attribute_new(g->spaces);
	attribute_states(a, g->feed);
	attribute_whose(a, g->users);
	attribute_spool(a, r);
	int rc = attribute_resolve(a, &resolver, out, err);
	attribute_free(a);
	if (rc < 0)
		return -1;
	spaces_compact(g->spaces);
	wr_raw(&spaces, g->boot, BOOT_SIZE);
	spaces_save(g->spaces, &spaces);
	uint64_t start_ns = spool_reader_start_ns(r);
	struct store_fading fading = {
		.half_life_s = g->half_life_s, .observe_s = g->observe_s,
		.span_s = out->newest_ns > start_ns ? (double)(out->newest_ns - start_ns) / 1e9
						    : 0,
	};
	rc = store_add_attribution(g->store, key, out, wr_bytes(&spaces), &fading, err);
	wr_free(&spaces);
	return rc;
}

int ingest_spool_file(struct ingest *g, int fd, const char *name, struct attribution *sum,
		      struct err *err)
{
	struct attribution a = { 0 };
	char last[256], key[256];

	if (store_spool_last(g->store, last, sizeof(last), err) < 0)
		return -1;
	struct spool_reader *r = spool_reader_open(fd, err);
	if (!r)
		return err_wrap(err, "'%s'", name);
	(void)snprintf(key, sizeof(key), "%.200s begun %" PRIu64, name,
		       spool_reader_start_wall_ns(r));		/* fits */
	bool done = strcmp(key, last) == 0;
	int rc = done ? 0 : enter(g, r, key, &a, err);
	spool_reader_free(r);
	if (done)
		return 0;
	if (rc < 0) {
		err_wrap(err, "'%s'", name);
		(void)reload(g, NULL);		/* the next call finds the same error */
	} else if (sum) {
		attribution_add(sum, &a);
	}
	attribution_free(&a);
	return rc < 0 ? -1 : 1;
}
