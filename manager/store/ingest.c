/* ingest.c - enters one spool file in the store, whole or not at all
 *
 * Either the store has everything of a file (counts, counters, address spaces, its name) or
 * nothing.  When something fails, the address spaces in memory have moved on; they are read
 * back from the store, so that the file can be given again.
 *
 * A file is known to be done by its name and the time it was begun, because the Monitor numbers
 * anew when it finds no files.  No process outlives a boot: with the first file of another boot
 * the address spaces begin empty.  So the store keeps the boot's id, 16 bytes, and the list of
 * processes, and for each process what it has mapped: of that only what has changed is written.
 *
 * Tested by tests/unit/manager/store/test_suspend.c.
 */
#include "manager/store/ingest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "manager/samples/runs.h"
#include "manager/samples/userset.h"
#include "monitor/spool.h"

enum { BOOT_SIZE = 16 };

struct ingest {
	struct store *store;
	struct modules *modules;
	struct spaces *spaces;
	struct statefeed *feed;
	struct userset *users;		/* NULL: whose samples they are is not asked */
	bool by_module;			/* and for each module, too */
	const uint32_t *user;
	uint32_t nuser;
	double half_life_s, observe_s;
	uint8_t boot[BOOT_SIZE];
};

/* Whose process that is, if it is still there. */
static uint32_t owner_of(uint32_t pid)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return stat(path, &st) < 0 ? UINT32_MAX : st.st_uid;
}

static struct spaces *new_spaces(void)
{
	return spaces_new(&(struct spaces_limits){ .owner = owner_of });
}

static int load_row(void *ctx, uint32_t pid, struct bytes row, struct err *err)
{
	return spaces_load_row(ctx, pid, row, err);
}

/* The address spaces of the store; none when they are damaged. */
static int reload(struct ingest *g, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_spaces_get(g->store, &w, err);

	spaces_free(g->spaces);
	g->spaces = new_spaces();
	/* Damaged ones are left empty: their samples count as of unknown processes. */
	memset(g->boot, 0, sizeof(g->boot));
	if (rc == 1 && w.n >= BOOT_SIZE) {
		memcpy(g->boot, w.p, BOOT_SIZE);
		if (spaces_load(g->spaces, bytes_at(wr_bytes(&w), BOOT_SIZE, w.n - BOOT_SIZE),
				NULL) == 0)
			(void)store_space_each(g->store, load_row, g->spaces, NULL);
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

struct processes {
	uint32_t *pid, n, max;
};

/* The smallest ones, each once. */
static void add_process(void *ctx, uint32_t pid)
{
	struct processes *p = ctx;
	uint32_t i = 0;

	while (i < p->n && p->pid[i] < pid)
		i++;
	if (i == p->max || (i < p->n && p->pid[i] == pid))
		return;
	p->n += p->n < p->max;
	memmove(p->pid + i + 1, p->pid + i, sizeof(*p->pid) * (p->n - i - 1));
	p->pid[i] = pid;
}

uint32_t ingest_processes(struct ingest *g, const char *path, const struct digest *d,
			  uint32_t *pid, uint32_t max)
{
	struct processes p = { pid, 0, max };
	struct digest have;

	for (uint32_t i = 0; i < spaces_nfile(g->spaces); i++) {
		const struct space_file *f = spaces_file(g->spaces, i);

		if (modules_is_path(path, f->path) &&
		    modules_content(g->modules, f, &have, NULL) == 1 && digest_equal(&have, d))
			spaces_each_of(g->spaces, i, add_process, &p);
	}
	return p.n;
}

uint32_t ingest_kind(struct ingest *g, uint32_t pid)
{
	const struct space_run *run = spaces_run(g->spaces, pid);

	return run && run->exe ? attribute_kind(g->spaces, run->exe - 1,
						run->from ? run->from - 1 : RUNS_NO_FILE)
			       : 0;
}

void ingest_states(struct ingest *g, struct statefeed *feed)
{
	g->feed = feed;
}

void ingest_whose(struct ingest *g, const struct userset_source *source, bool by_module)
{
	if (!g->users)
		g->users = userset_new(source);
	g->by_module = by_module;
}

void ingest_users(struct ingest *g, const uint32_t *uid, uint32_t n)
{
	g->user = uid;
	g->nuser = n;
}

static void begin_boot(struct ingest *g, const uint8_t *boot)
{
	if (memcmp(g->boot, boot, BOOT_SIZE) == 0)
		return;
	spaces_free(g->spaces);
	g->spaces = new_spaces();
	if (g->users)
		userset_forget(g->users);
	memcpy(g->boot, boot, BOOT_SIZE);
}

static int save(struct ingest *g, const char *key, const struct attribution *a,
		struct bytes spaces, const struct store_fading *fading, struct err *err)
{
	if (store_begin(g->store, err) < 0)
		return -1;
	if (spaces_changes(g->spaces, store_space_change, g->store, err) < 0 ||
	    store_add_attribution(g->store, key, a, spaces, fading, err) < 0) {
		store_rollback(g->store);
		return -1;
	}
	if (store_commit(g->store, err) < 0)
		return -1;
	spaces_saved(g->spaces);
	return 0;
}

static int enter(struct ingest *g, struct spool_reader *r, const char *key,
		 struct attribution *out, struct err *err)
{
	struct attribute_resolver resolver = modules_resolver(g->modules);
	uint64_t now_ns = store_now_ns(), begun_ns = spool_reader_start_wall_ns(r);
	struct spaces_counts before, after;
	struct wr spaces = { 0 };

	begin_boot(g, spool_reader_boot_id(r));
	spaces_counts(g->spaces, &before);
	struct attribute *a = attribute_new(g->spaces);
	attribute_states(a, g->feed);
	attribute_whose(a, g->users);
	attribute_users(a, g->user, g->nuser);
	attribute_until(a, now_ns);
	attribute_spool(a, r);
	int rc = attribute_resolve(a, &resolver, out, err);
	attribute_free(a);
	if (rc < 0)
		return -1;
	if (!g->by_module)
		out->nwhose = 0;
	spaces_settle(g->spaces);
	spaces_compact(g->spaces);
	spaces_counts(g->spaces, &after);
	out->counter[COUNTER_SPACES_OVER] += after.refused - before.refused;
	wr_raw(&spaces, g->boot, BOOT_SIZE);
	spaces_save(g->spaces, &spaces);
	uint64_t start_ns = spool_reader_start_ns(r);
	struct store_fading fading = {
		.half_life_s = g->half_life_s, .observe_s = g->observe_s,
		.begun_ns = begun_ns < now_ns ? begun_ns : now_ns,
		.span_s = out->newest_ns > start_ns ? (double)(out->newest_ns - start_ns) / 1e9
						    : 0,
	};
	rc = save(g, key, out, wr_bytes(&spaces), &fading, err);
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
