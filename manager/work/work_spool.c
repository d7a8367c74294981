/* work_spool.c - the spool taken in: its files in order, each once, and then deleted
 *
 * A file that the monitor still writes ends the round; it comes with the next.  What the files
 * tell is acted on at once: crashes (work_crash.c), speed tests (work_speed.c), and whether
 * registers are wanted with the samples that follow (work_registers.c).  Tested with the whole
 * daemon by tests/e2e/daemon.sh.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/secret.h"
#include "manager/samples/statefeed.h"
#include "manager/store/ingest.h"
#include "manager/work/work.h"
#include "monitor/spool.h"

enum { SPOOL_NAME_LEN = 22 };		/* 16 hexadecimal digits and ".spool" */

static int is_spool(const struct dirent *d)
{
	return strlen(d->d_name) == SPOOL_NAME_LEN &&
	       strspn(d->d_name, "0123456789abcdef") == 16 &&
	       strcmp(d->d_name + 16, ".spool") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_list(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* A read lease is granted only when nobody has the file open for writing. */
static bool is_complete(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		/* a file system without leases: the monitor has rotated */
		return errno != EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);	/* goes with the descriptor anyway */
	return true;
}

/* Of a file that cannot be read at all, *err says why: it must not hold up those behind it. */
static int drop(struct work *w, const char *name, struct err *err)
{
	role_error("'%s/spool/%s': %s; dropped", w->options->store, name, err->text);
	return store_counter_add(w->store, COUNTER_DAMAGED, 1, err);
}

/* 1: taken in; 0: nothing in it; -1: it could not be, for now; -2: it cannot be read at all. */
static int take_in_open(struct work *w, int fd, const char *name, struct attribution *sum,
			struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size > SPOOL_FILE_MAX) {
		err_set(err, ERR_INPUT, "larger than the monitor writes any");
		return -2;
	}
	int rc = ingest_spool_file(w->ingest, fd, name, sum, err);
	if (rc >= 0)
		return rc;
	struct spool_reader *r = spool_reader_open(fd, NULL);
	spool_reader_free(r);
	return r ? -1 : -2;
}

/* Takes in one file and deletes it; a file that cannot be read at all is deleted too, and said.
 * 1: taken in; 0: nothing in it; 2: the monitor still writes it, as all that follow. */
static int take_in(struct work *w, const char *name, struct attribution *sum, struct err *err)
{
	struct stat st;
	int rc;

	if (fstatat(w->spool_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return 0;		/* a folder or a link, say: it stays */
	int fd = openat(w->spool_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;		/* dropped for space meanwhile, and counted there */
	if (fd < 0 && errno == EAGAIN)
		return 2;		/* its writer has a lease on it */
	if (fd < 0) {
		rc = errno == EACCES ? -2 : -1;
		err_set(err, ERR_SYS, "'%s': open: %s", name, strerror(errno));
	} else if (!is_complete(fd)) {
		close(fd);
		return 2;
	} else {
		rc = take_in_open(w, fd, name, sum, err);
		close(fd);
	}
	if (rc == -1 || (rc == -2 && drop(w, name, err) < 0))
		return -1;
	if (unlinkat(w->spool_dir, name, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", name, strerror(errno));
	return rc == 1;
}

/* States that belong to no sample: theirs was dropped, or not taken in. */
static int end_feed(struct work *w, struct statefeed *feed, struct err *err)
{
	uint64_t n = statefeed_free(feed);

	ingest_states(w->ingest, NULL);
	secret_wipe_stack();
	return n ? store_counter_add(w->store, COUNTER_NOSTATES, n, err) : 0;
}

int work_sync(struct work *w, struct work_spool *out, struct err *err)
{
	struct attribution sum = { 0 };
	struct dirent **list = NULL;
	int rc = 0, states = -1;

	memset(out, 0, sizeof(*out));
	if (ask_sync(w->ask, &states, err) < 0) {
		if (w->ask->stop)
			return -1;
		(void)snprintf(out->warning, sizeof(out->warning), "%.500s", err->text);
	}
	struct statefeed *feed = statefeed_new(states);
	ingest_states(w->ingest, feed);
	work_made_begin(w);
	accounts_read(&w->accounts, w->options->host);
	ingest_users(w->ingest, w->accounts.uid, w->accounts.n);
	int n = scandirat(w->spool_dir, ".", &list, is_spool, by_name);
	if (n < 0)
		rc = err_set(err, ERR_SYS, "'%s/spool': %s", w->options->store,
			     strerror(errno));
	for (int i = 0; i < n && (rc == 0 || rc == 1) && !w->ask->stop; i++) {
		rc = take_in(w, list[i]->d_name, &sum, err);
		out->files += rc == 1;
		if (w->ask->pass)	/* however many there are, others are answered */
			w->ask->pass(w->ask->ctx);
	}
	work_made_end(w);
	for (uint32_t i = 0; i < sum.nmodule; i++)
		out->samples += sum.module[i].samples;
	work_crashes(w, &sum);
	work_speedtests(w, &sum);
	work_fleet_seen(w, &sum);
	work_account(w, &sum);
	attribution_free(&sum);
	free_list(list, n);
	struct err why;
	if (end_feed(w, feed, &why) < 0 && rc >= 0) {
		*err = why;
		rc = -1;
	}
	if (rc >= 0 && !w->ask->stop)
		rc = work_registers(w, err);
	return rc < 0 ? err_wrap(err, "spool") : 0;
}
