/* test_faults.c - every system call of a swap, of a restore, of their recovery, of the spool
 * and of the store's commits fails, is cut short or is the last one before a kill
 *
 * Afterwards, as a new start would find it: the program is exactly the old or the new one, the
 * store has all of a spool file or nothing, what the spool gives back was written, nothing lies
 * around.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* In memory: thousands of operations that each wait for a disk would take minutes. */
#define PLACE_ROOT "/dev/shm"

#include "manager/parent/originals.h"
#include "manager/samples/attribute.h"
#include "manager/store/store.h"
#include "monitor/spool.h"
#include "tests/unit/inject.h"
#include "tests/unit/place.h"

enum { MANY = 5000 };		/* no operation has so many system calls */

struct outcomes {
	unsigned points, failed, done, killed;
};

static void count(struct outcomes *o, const struct injected *i)
{
	if (i->leaked)
		fail_msg("%d descriptors are left, after a fault at call %ld", i->leaked,
			 i->call);
	o->points++;
	o->killed += i->exit_code == -1;
	o->failed += i->exit_code > 0;
	o->done += i->exit_code == 0;
}

static void tell(const char *what, const struct outcomes *o)
{
	print_message("# %s: %u points; %u failed, %u done in spite of it, %u killed\n", what,
		      o->points, o->failed, o->done, o->killed);
	assert_true(o->points > 50 && o->killed > 10 && o->failed > 10);
}

/* --- swaps --- */

static void check_place(struct place *p, bool to_generation, bool done)
{
	const struct digest *to = to_generation ? &p->generation : &p->original;
	struct install_recovered recovered;
	struct stat st;
	struct err err = { 0 };

	assert_true(holds(p->path, &p->original) || holds(p->path, &p->generation));
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0751);
	if (place_recover(p, &recovered, &err) != 0)
		fail_msg("%s", err.text);
	assert_true(holds(p->path, &p->original) || holds(p->path, &p->generation));
	assert_int_equal(entries(p->dir), 1);
	assert_int_not_equal(recovered.outcome, INSTALL_OVERTAKEN);
	if (done || recovered.outcome == INSTALL_FINISHED)
		assert_true(holds(p->path, to));
	if (recovered.outcome == INSTALL_UNDONE)
		assert_false(holds(p->path, to));
	/* From a generation the original can be had; from anywhere all goes on as if nothing
	 * had been. */
	if (holds(p->path, &p->generation) != to_generation)
		assert_int_equal(to_generation ? do_install(p) : do_restore(p), 0);
	if (to_generation)
		assert_int_equal(do_restore(p), 0);
	assert_true(holds(p->path, &p->original));
	assert_int_equal(entries(p->dir), 1);
}

/* One fault at the n-th call of a fresh run, or at the next to which it applies. */
static struct injected swap_with(enum fault fault, unsigned n, bool to_generation,
				 struct outcomes *o)
{
	struct place p = place_new();

	if (!to_generation)
		assert_int_equal(do_install(&p), 0);
	struct injected i = inject(fault, n, to_generation ? do_install : do_restore, &p);
	if (i.reached) {
		count(o, &i);
		check_place(&p, to_generation, i.exit_code == 0);
	}
	place_free(&p);
	return i;
}

static void every_fault(const char *what,
			struct injected (*with)(enum fault, unsigned, bool, struct outcomes *),
			bool which)
{
	struct outcomes o = { 0 };

	for (int fault = 0; fault < NFAULT; fault++) {
		struct injected i = { 0 };

		do
			i = with((enum fault)fault, i.n + 1, which, &o);
		while (i.reached && i.n < MANY);
		assert_in_range(i.n, 10, MANY - 1);
	}
	tell(what, &o);
}

static void a_swap_survives_every_fault(void **state)
{
	(void)state;
	every_fault("swap", swap_with, true);
}

static void a_restore_survives_every_fault(void **state)
{
	(void)state;
	every_fault("restore", swap_with, false);
}

/* Which of the calls of a swap exchanges the two files. */
static unsigned the_exchange(void)
{
	static unsigned n;

	while (!n) {
		static unsigned at;
		struct place p = place_new();
		struct injected i = inject(FAULT_KILL_BEFORE, ++at, do_install, &p);

		assert_true(i.reached && at < MANY);
		if (i.call == SYS_renameat2)
			n = at;
		place_free(&p);
	}
	return n;
}

/* 0: the new file could not be made, and that is what is said. */
static int has_no_temporary(void *ctx)
{
	struct install_request r = request_of(ctx);
	struct err err = { 0 };

	return install_generation(&r, &err) < 0 &&
	       strstr(err.text, "temporary file: No space left on device") ? 0 : -1;
}

static void a_file_that_cannot_be_made_is_told(void **state)
{
	struct injected i = { 0 };
	unsigned told = 0;

	(void)state;
	do {
		struct place p = place_new();

		i = inject(FAULT_ENOSPC, i.n + 1, has_no_temporary, &p);
		told += i.reached && i.exit_code == 0 && i.call == SYS_openat;
		assert_true(holds(p.path, &p.original) || holds(p.path, &p.generation));
		place_free(&p);
	} while (i.reached && i.n < MANY);
	assert_int_equal(told, 1);
}

/* A swap killed right before or right behind its renaming, and then the recovery meets the
 * fault. */
static struct injected recover_with(enum fault fault, unsigned n, bool behind,
				    struct outcomes *o)
{
	struct place p = place_new();
	unsigned at = the_exchange();

	(void)inject(behind ? FAULT_KILL_AFTER : FAULT_KILL_BEFORE, at, do_install, &p);
	assert_int_equal(holds(p.path, &p.generation), behind);
	struct injected i = inject(fault, n, do_recover, &p);
	if (i.reached) {
		count(o, &i);
		check_place(&p, true, false);
	}
	place_free(&p);
	return i;
}

static void a_recovery_survives_every_fault(void **state)
{
	(void)state;
	every_fault("recovery before the swap", recover_with, false);
	every_fault("recovery behind the swap", recover_with, true);
}

/* --- old originals --- */

static int do_sweep(void *ctx)
{
	const struct place *p = ctx;
	struct originals_swept swept;

	return originals_sweep(p->originals_fd, p->ledger_fd, (time_t)1 << 40, &swept, NULL);
}

static int is_named(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
		    struct err *err)
{
	const struct place *p = ctx;
	int fd = install_open_original(p->originals_fd, &e->original, err);

	(void)name;
	(void)seen;
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

/* Three programs that were restored, and one that is installed.  An entry whose original could
 * not be removed any more is gone: that original stays. */
static struct injected sweep_with(enum fault fault, unsigned n, bool which,
				  struct outcomes *o)
{
	struct place p = place_new(), more = p;

	(void)which;
	for (int i = 0; i < 4; i++) {
		(void)snprintf(more.path, sizeof(more.path), "%s/prog%d", p.dir, i);
		write_file(more.path, i ? more.path : old_text, 0751);
		more.original = digest_path(more.path);
		assert_int_equal(do_install(&more), 0);
		if (i < 3)
			assert_int_equal(do_restore(&more), 0);
	}
	struct injected i = inject(fault, n, do_sweep, &p);
	if (i.reached) {
		char dir[128];

		count(o, &i);
		assert_int_equal(ledger_each(p.ledger_fd, is_named, &p, NULL), 0);
		assert_int_equal(do_sweep(&p), 0);
		(void)snprintf(dir, sizeof(dir), "%s/originals", p.store);
		assert_in_range(entries(dir), 1, i.exit_code == 0 ? 1 : 4);
		assert_int_equal(do_restore(&more), 0);
	}
	place_free(&p);
	return i;
}

static void a_sweep_survives_every_fault(void **state)
{
	(void)state;
	every_fault("old originals", sweep_with, true);
}

/* --- spool --- */

struct spooling {
	char dir[64];
	int fd;
};

enum { NSAMPLE = 40 };

static int do_spool(void *ctx)
{
	const struct spooling *s = ctx;
	struct spool_writer *w = spool_writer_new(s->fd, "tick", 4000000, 1 << 20, NULL);
	int rc = 0;

	if (!w)
		return -1;
	for (unsigned i = 0; i < NSAMPLE; i++) {
		struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = 7, .tid = 7,
					  .time_ns = i * UINT64_C(1000000000) };

		ev.sample.pc = 0x1000 + i;
		rc |= spool_write(w, &ev, NULL);
		if (i % 10 == 9)
			rc |= spool_flush(w, i % 20 == 19, NULL);
	}
	spool_writer_free(w);
	return rc;
}

/* Every sample that comes back was written, once and in order; how many there are. */
static unsigned read_spool(const struct spooling *s)
{
	struct dirent **list;
	unsigned samples = 0;
	uint64_t last = 0;

	int n = scandir(s->dir, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		uint64_t number;
		int fd = openat(s->fd, list[i]->d_name, O_RDONLY);
		struct spool_reader *r = spool_file_number(list[i]->d_name, &number) == 0 ?
					 spool_reader_open(fd, NULL) : NULL;
		struct spool_event ev;

		while (r && spool_read(r, &ev) == 1) {
			if (ev.kind != SPOOL_SAMPLE)
				continue;
			assert_in_range(ev.sample.pc, 0x1000 + last, 0x1000 + NSAMPLE - 1);
			last = ev.sample.pc - 0x1000 + 1;
			samples++;
		}
		spool_reader_free(r);
		close(fd);
		free(list[i]);
	}
	free(list);
	return samples;
}

static struct injected spool_with(enum fault fault, unsigned n, bool which,
				  struct outcomes *o)
{
	struct spooling s = { .dir = PLACE_ROOT "/morph-faults-XXXXXX" };

	(void)which;
	assert_non_null(mkdtemp(s.dir));
	s.fd = open(s.dir, O_RDONLY | O_DIRECTORY);
	struct injected i = inject(fault, n, do_spool, &s);
	if (i.reached) {
		unsigned samples = read_spool(&s);

		count(o, &i);
		if (i.exit_code == 0)
			assert_int_equal(samples, NSAMPLE);
		/* The next writer goes on behind whatever there is. */
		assert_int_equal(do_spool(&s), 0);
	}
	close(s.fd);
	remove_all(s.dir);
	return i;
}

static void the_spool_survives_every_fault(void **state)
{
	(void)state;
	every_fault("spool", spool_with, true);
}

/* --- store --- */

struct storing {
	char dir[64];
	int64_t module;
};

static int do_store(void *ctx)
{
	static const struct store_fading fading = { .span_s = 60, .half_life_s = 86400 };
	const struct storing *st = ctx;
	struct blockcount c[] = { { 3, 10 }, { 9, 4 } };
	struct attribute_module m = {
		.module = (uint64_t)st->module, .samples = 14, .ncount = 2, .count = c
	};
	struct attribution a = { .nmodule = 1, .module = &m };
	struct store *s = store_open(st->dir, NULL);

	a.counter[COUNTER_KNOWN] = 14;
	int rc = s ? store_add_attribution(s, "1.spool", &a, (struct bytes){ 0 }, &fading, NULL)
		   : -1;
	store_close(s);
	return rc;
}

/* With a module.  It is made once, and then lies in memory. */
static struct storing store_new(void)
{
	static char content[1 << 20];
	static size_t size;
	static int64_t module;
	struct storing st = { .dir = PLACE_ROOT "/morph-faults-XXXXXX" };
	struct store_module m = { .path = "/usr/bin/perl" };
	char file[128];

	assert_non_null(mkdtemp(st.dir));
	(void)snprintf(file, sizeof(file), "%s/morph.db", st.dir);
	if (!size) {
		struct store *s = store_open(st.dir, NULL);

		assert_non_null(s);
		assert_int_equal(store_module_put(s, &m, NULL), 0);
		store_close(s);
		module = m.id;
	}
	FILE *f = fopen(file, size ? "wx" : "r");
	assert_non_null(f);
	if (size)
		assert_int_equal(fwrite(content, 1, size, f), size);
	else
		size = fread(content, 1, sizeof(content), f);
	assert_in_range(size, 1, sizeof(content) - 1);
	assert_int_equal(fclose(f), 0);
	st.module = module;
	return st;
}

/* All of the spool file is there, or nothing of it. */
static bool check_store(const struct storing *st)
{
	struct store_profile p = { 0 };
	uint64_t counter[NCOUNTER];
	char last[256];
	struct err err = { 0 };

	struct store *s = store_open(st->dir, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(store_spool_last(s, last, sizeof(last), &err), 0);
	assert_int_equal(store_counters(s, counter, &err), 0);
	int rc = store_profile_get(s, st->module, &p, &err);
	bool there = last[0] != '\0';
	assert_int_equal(rc, there);
	assert_int_equal(p.ncount, there ? 2 : 0);
	assert_int_equal(counter[COUNTER_KNOWN], there ? 14 : 0);
	store_profile_free(&p);
	store_close(s);
	return there;
}

static struct injected store_with(enum fault fault, unsigned n, bool which,
				  struct outcomes *o)
{
	struct storing st = store_new();

	(void)which;
	struct injected i = inject(fault, n, do_store, &st);
	if (i.reached) {
		bool there = check_store(&st);

		count(o, &i);
		if (i.exit_code == 0)
			assert_true(there);
		/* done before, or now */
		assert_int_equal(do_store(&st), there ? -1 : 0);
		assert_true(check_store(&st));
	}
	remove_all(st.dir);
	return i;
}

static void the_store_survives_every_fault(void **state)
{
	(void)state;
	every_fault("store", store_with, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_swap_survives_every_fault),
		cmocka_unit_test(a_restore_survives_every_fault),
		cmocka_unit_test(a_file_that_cannot_be_made_is_told),
		cmocka_unit_test(a_recovery_survives_every_fault),
		cmocka_unit_test(a_sweep_survives_every_fault),
		cmocka_unit_test(the_spool_survives_every_fault),
		cmocka_unit_test(the_store_survives_every_fault),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
