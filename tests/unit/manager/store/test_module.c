/* test_module.c - what is at a path, what runs, and spool files that count exactly once */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/store/ingest.h"
#include "manager/parent/program.h"
#include "monitor/spool.h"

static char dir[64], path[96], other[96];
static struct store *store;
static struct modules *modules;
static int analyses;
static enum err_kind analysis_fails;

static int open_path(void *ctx, const char *p, struct err *err)
{
	(void)ctx;
	return program_open(p, err);
}

/* Two blocks of 16 bytes at file offset 0x1000. */
static int analyze(void *ctx, const char *p, int fd, struct wr *table, struct err *err)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, 0x1000 };
	static struct blocktable_fn fn = { 0x401000, 0x20, 0 };
	static struct blocktable_block block[] = { { 0, 16, 4, 0 }, { 16, 16, 4, 0 } };
	struct blocktable t = { .base = 0x401000, .text_size = 0x1000, .nseg = 1, .nfn = 1,
				.nblock = 2, .seg = &seg, .fn = &fn, .block = block };

	(void)ctx;
	(void)p;
	analyses++;
	if (analysis_fails)
		return err_set(err, analysis_fails, "made of cheese");
	if (digest_fd(fd, &t.original, err) < 0)
		return -1;
	blocktable_write(&t, table);
	return 0;
}

/* Of content "stray", a generation whose original is "original". */
static enum module_made adopts;
static const char stray[] = "\177ELF stray .morph.map";

static enum module_made adopt(void *ctx, const char *p, int fd, struct digest *original,
			      uint32_t *number, struct wr *map)
{
	char text[sizeof(stray)] = "";

	(void)ctx;
	(void)p;
	assert_int_equal(pread(fd, text, sizeof(stray), 0), sizeof(stray));
	assert_string_equal(text, stray);
	*original = digest_of((struct bytes){ (const uint8_t *)"original", 8 });
	*number = 7;
	wr_raw(map, "map", 3);
	return adopts;
}

static bool allows(void *ctx, const char *p)
{
	(void)ctx;
	return strcmp(p, path) == 0;
}

static bool devices_differ;

static bool on_other_device(int fd)
{
	(void)fd;
	return devices_differ;
}

static const struct module_services services = { .open = open_path, .analyze = analyze,
						 .other_device = on_other_device,
						 .adopt = adopt,
						 .allows = allows };

static void write_file(const char *p, const char *text)
{
	int fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	char name[96];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-module-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/prog", dir);
	(void)snprintf(other, sizeof(other), "%s/other", dir);
	(void)snprintf(name, sizeof(name), "%s/store", dir);
	store = store_open(name, NULL);
	modules = modules_new(store, &services);
	analyses = 0;
	analysis_fails = ERR_NONE;
	write_file(path, "original");
	return store ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	modules_free(modules);
	store_close(store);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static enum module_look look(struct store_module *m)
{
	enum module_look how;
	struct err err = { 0 };

	if (modules_look(modules, path, &how, m, &err) < 0)
		fail_msg("%s", err.text);
	return how;
}

/* Puts `text` at the path as another inode, as a swap and a package manager do. */
static void replace(const char *text)
{
	write_file(other, text);
	assert_int_equal(rename(other, path), 0);
}

static struct digest digest_text(const char *text)
{
	return digest_of((struct bytes){ (const uint8_t *)text, strlen(text) });
}

/* Tells the store of generation 1, whose new text at file offset 0x3000 holds block 1. */
static void tell_generation(int64_t module, const char *text)
{
	struct store_generation *g = calloc(1, sizeof(*g));
	struct blockmap_seg seg = { 0x900000, 0x3000, 0x100 };
	struct blockmap_block block = { 0, 16, 16, 16, false };
	struct blockmap map = { .generation = 1, .original = digest_text("original"),
				.orig_base = 0x401000, .gen_base = 0x900000, .hot_size = 0x10,
				.nseg = 1, .nblock = 1, .seg = &seg, .block = &block };
	struct wr w = { 0 };

	assert_non_null(g);
	g->module = module;
	g->number = 1;
	g->digest = digest_text(text);
	g->original = map.original;
	g->state = STATE_INSTALLED;
	blockmap_write(&map, &w);
	assert_int_equal(store_generation_add(store, g, wr_bytes(&w),
					      &(struct store_profile){ 0 }, NULL),
			 0);
	wr_free(&w);
	free(g);
}

static void a_path_is_new_then_the_same_then_swapped_and_back(void **state)
{
	struct store_module m;

	(void)state;
	assert_int_equal(look(&m), MODULE_NEW);
	assert_int_equal(look(&m), MODULE_SAME);
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);	/* touched only */
	assert_int_equal(look(&m), MODULE_SAME);
	tell_generation(m.id, "generation");
	replace("generation");
	assert_int_equal(look(&m), MODULE_SWAPPED);
	assert_int_equal(m.generation, 1);
	struct digest original = digest_text("original");
	assert_memory_equal(&m.original, &original, sizeof(original));
	replace("original");
	assert_int_equal(look(&m), MODULE_SWAPPED);
	assert_int_equal(m.generation, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(look(&m), MODULE_GONE);
	assert_true(m.id > 0);
}

static bool same_event(void *ctx, const struct store_event *e)
{
	unsigned *n = ctx;

	n[0] += strcmp(e->event, "put back") == 0;
	n[1] += strcmp(e->event, "found") == 0;
	return true;
}

static void events(unsigned put_back, unsigned found)
{
	unsigned n[2] = { 0 };

	assert_int_equal(store_history_each(store, path, 100, same_event, n, NULL), 0);
	assert_int_equal(n[0], put_back);
	assert_int_equal(n[1], found);
}

static void an_original_that_comes_back_by_itself_is_an_event(void **state)
{
	struct digest d = digest_text("generation");
	struct store_generation g;
	struct store_use use = { 0 };
	struct store_module m;

	(void)state;
	(void)look(&m);
	tell_generation(m.id, "generation");
	replace("generation");
	(void)look(&m);
	replace("original");
	assert_int_equal(look(&m), MODULE_SWAPPED);
	events(1, 0);
	assert_int_equal(store_generation_by_digest(store, &d, &g, NULL), 1);
	assert_int_equal(g.state, STATE_REPLACED);
	assert_int_equal(store_use_get(store, m.id, &use, NULL), 0);
	assert_string_equal(use.verdict, "its original came back");
	store_profile_free(&use.recent);
	assert_int_equal(look(&m), MODULE_SAME);
	events(1, 0);
	/* not when we did it */
	replace("generation");
	(void)look(&m);
	assert_int_equal(store_generation_state(store, g.id, STATE_RESTORED, "", NULL), 0);
	replace("original");
	(void)look(&m);
	events(1, 0);
}

static void write_bytes(const char *p, const void *bytes, size_t n)
{
	int fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void a_generation_without_a_record_is_adopted(void **state)
{
	struct digest original = digest_text("original");
	struct store_generation g;
	struct store_module m;
	struct wr map = { 0 };

	(void)state;
	adopts = MADE_ADOPTED;
	write_bytes(path, stray, sizeof(stray));
	assert_int_equal(look(&m), MODULE_NEW);
	assert_int_equal(m.generation, 7);
	assert_memory_equal(&m.original, &original, sizeof(original));
	assert_int_equal(store_generation_by_digest(store, &m.present, &g, NULL), 1);
	assert_int_equal(g.state, STATE_INSTALLED);
	assert_memory_equal(&g.original, &original, sizeof(original));
	assert_int_equal(store_generation_map(store, &m.present, &map, NULL), 1);
	assert_int_equal(map.n, 3);
	wr_free(&map);
	events(0, 1);
	assert_int_equal(look(&m), MODULE_SAME);
	replace("original");
	assert_int_equal(look(&m), MODULE_SWAPPED);
	assert_int_equal(m.generation, 0);
}

static void what_is_not_shown_is_not_adopted(void **state)
{
	struct store_module m;

	(void)state;
	adopts = MADE_LATER;
	write_bytes(path, stray, sizeof(stray));
	assert_true(look(&m) == MODULE_LATER && modules_wait_ms(modules) > 0);
	assert_int_equal(store_module_by_path(store, path, &m, NULL), 0);
	adopts = MADE_NOT;
	assert_int_equal(look(&m), MODULE_NEW);
	assert_int_equal(m.generation, 0);
	assert_true(digest_equal(&m.original, &m.present));
	events(0, 0);
}

static void a_change_in_place_that_keeps_size_and_time_is_seen(void **state)
{
	struct store_module m;
	struct stat st;

	(void)state;
	assert_int_equal(look(&m), MODULE_NEW);
	assert_int_equal(stat(path, &st), 0);
	usleep(20000);				/* the clock of file times ticks */
	write_file(path, "0riginal");
	const struct timespec times[2] = { st.st_atim, st.st_mtim };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(look(&m), MODULE_CHANGED);
}

static bool last_event(void *ctx, const struct store_event *e)
{
	(void)snprintf(ctx, 32, "%s", e->event);
	return false;
}

static void a_foreign_change_discards_profile_and_refusal(void **state)
{
	struct store_count count = { 0, 50 << 8 };
	struct store_profile p = { .ncount = 1, .count = &count }, got;
	uint64_t counter[NCOUNTER];
	char event[32] = "";
	struct store_module m;

	(void)state;
	(void)look(&m);
	(void)snprintf(m.refusal, sizeof(m.refusal), "because");
	assert_int_equal(store_module_put(store, &m, NULL), 0);
	assert_int_equal(store_profile_put(store, m.id, &p, 0, NULL), 0);
	replace("upgrade");
	assert_int_equal(look(&m), MODULE_CHANGED);
	assert_string_equal(m.refusal, "");
	assert_int_equal(m.text_bytes, 0);
	assert_int_equal(store_profile_get(store, m.id, &got, NULL), 0);
	assert_int_equal(store_counters(store, counter, NULL), 0);
	assert_int_equal(counter[COUNTER_CHANGED], 50);
	assert_int_equal(store_history_each(store, path, 1, last_event, event, NULL), 0);
	assert_string_equal(event, "changed");
}

static void only_regular_files_are_opened(void **state)
{
	char through[128];
	struct err err;

	(void)state;
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(program_open(other, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(program_open(other, &err), -1);	/* at once */
	assert_int_equal(program_open("prog", &err), -1);
	assert_int_equal(program_open(dir, &err), -1);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(symlink(dir, other), 0);	/* a folder that leads elsewhere */
	(void)snprintf(through, sizeof(through), "%s/prog", other);
	assert_int_equal(access(through, R_OK), 0);
	assert_int_equal(program_open(through, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
}

static void a_table_is_made_once_and_a_refusal_is_kept(void **state)
{
	struct store_module m;
	struct err err;

	(void)state;
	(void)look(&m);
	analysis_fails = ERR_SYS;
	assert_int_equal(modules_analyze(modules, &m, &err), -1);
	analysis_fails = ERR_NONE;
	assert_int_equal(modules_analyze(modules, &m, &err), 1);
	assert_int_equal(modules_analyze(modules, &m, &err), 1);
	assert_int_equal(analyses, 2);
	assert_int_equal(m.text_bytes, 0x1000);
	assert_int_equal(m.movable, 1);
	replace("cheese");
	(void)look(&m);
	analysis_fails = ERR_REFUSED;
	assert_int_equal(modules_analyze(modules, &m, &err), 0);
	assert_int_equal(modules_analyze(modules, &m, &err), 0);
	assert_int_equal(analyses, 3);
	assert_string_equal(m.refusal, "made of cheese");
}

/* --- spool files --- */

static struct stat running;	/* the inode that the log's process maps */

static struct spool_writer *log_begin(int *fd)
{
	*fd = memfd_create("log", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(*fd, "tick", 4000000, NULL);

	assert_non_null(w);
	return w;
}

static const char *run_as;		/* NULL: `path` */

static void put_map(struct spool_writer *w, uint32_t pid, unsigned dev_off, uint64_t pgoff)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .time_ns = 1000, .pid = pid, .tid = pid };

	ev.mmap.addr = 0x10000000 + pgoff;
	ev.mmap.len = 0x1000;
	ev.mmap.pgoff = pgoff;
	ev.mmap.dev_major = major(running.st_dev);
	ev.mmap.dev_minor = minor(running.st_dev) + dev_off;
	ev.mmap.inode = running.st_ino;
	ev.mmap.path = run_as ? run_as : path;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
}

static void put_samples(struct spool_writer *w, uint32_t pid, uint64_t off, int n)
{
	struct spool_event ev = {
		.kind = SPOOL_SAMPLE, .time_ns = 2000, .pid = pid, .tid = pid
	};

	ev.sample.pc = 0x10000000 + off;
	while (n--)
		assert_int_equal(spool_write(w, &ev, NULL), 0);
}

static int take_in(struct ingest *g, struct spool_writer *w, int fd, const char *name)
{
	struct err err = { 0 };

	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	int rc = ingest_spool_file(g, fd, name, NULL, &err);
	if (rc < 0)
		print_message("# %s\n", err.text);
	return rc;
}

static void check_profile(uint64_t block0, uint64_t block1)
{
	struct store_profile p = { 0 };
	struct store_module m;
	uint64_t got[2] = { 0, 0 };

	assert_int_equal(store_module_by_path(store, path, &m, NULL), 1);
	assert_true(store_profile_get(store, m.id, &p, NULL) >= 0);
	for (uint32_t i = 0; i < p.ncount; i++) {
		assert_true(p.count[i].block < 2);
		got[p.count[i].block] = p.count[i].samples >> 8;
	}
	store_profile_free(&p);
	assert_int_equal(got[0], block0);
	assert_int_equal(got[1], block1);
}

/* `n` samples of a process that maps the file at the path now, as a device that is `dev_off`
 * off, at `off`; a spool file of that name, taken in. */
static void take_in_samples(struct ingest *g, const char *name, uint32_t pid, unsigned dev_off,
			    uint64_t off, int n)
{
	int fd;
	struct spool_writer *w = log_begin(&fd);

	put_map(w, pid, dev_off, off & ~UINT64_C(0xfff));
	put_samples(w, pid, off, n);
	assert_int_equal(take_in(g, w, fd, name), 1);
	close(fd);
}

/* Opens what is at the path, as a process that runs it does: so its inode stays. */
static int run_it(void)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &running), 0);
	return fd;
}

static int swap_in_generation(void)
{
	struct store_module m;

	(void)look(&m);
	tell_generation(m.id, "generation");
	replace("generation");
	(void)look(&m);
	return run_it();
}

static void an_intake_leaves_no_memory_behind(void **state)
{
	size_t used[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct ingest *g = ingest_new(store, modules, NULL);

		assert_non_null(g);
		ingest_free(g);
		used[i] = mallinfo2().uordblks;
	}
	assert_false(used[3] > used[2] && used[2] > used[1]);
}

static void a_spool_file_given_again_is_not_counted_again(void **state)
{
	struct ingest *g = ingest_new(store, modules, NULL);
	int held = run_it(), fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 7, 0, 0x1000);
	put_samples(w, 7, 0x1004, 5);
	assert_int_equal(take_in(g, w, fd, "0000000000000001.spool"), 1);
	check_profile(5, 0);

	/* As after a kill between commit and unlink: by a new Manager. */
	ingest_free(g);
	g = ingest_new(store, modules, NULL);
	assert_int_equal(ingest_spool_file(g, fd, "0000000000000001.spool", NULL, NULL), 0);
	check_profile(5, 0);
	close(fd);

	/* The Monitor began to number anew: another file of the same name counts. */
	take_in_samples(g, "0000000000000002.spool", 7, 0, 0x1004, 1);
	take_in_samples(g, "0000000000000001.spool", 7, 0, 0x1004, 10);
	check_profile(16, 0);
	close(held);
	ingest_free(g);
}

static void samples_of_all_generations_arrive_in_one_profile(void **state)
{
	struct ingest *g = ingest_new(store, modules, NULL);
	int held[2], fd;

	(void)state;
	held[0] = run_it();
	take_in_samples(g, "0000000000000001.spool", 7, 0, 0x1004, 5);

	/* Swapped; the old process runs on in the old inode, a new one in the generation. */
	held[1] = swap_in_generation();
	struct spool_writer *w = log_begin(&fd);
	put_samples(w, 7, 0x1014, 10);		/* mapped in the file before */
	put_map(w, 8, 0, 0x3000);
	put_samples(w, 8, 0x3004, 100);
	assert_int_equal(take_in(g, w, fd, "0000000000000002.spool"), 1);
	close(fd);
	check_profile(5, 110);
	assert_int_equal(analyses, 1);

	/* A package upgrade: nothing of what still runs is counted for the new program. */
	replace("upgrade");
	w = log_begin(&fd);
	put_samples(w, 7, 0x1004, 77);
	put_samples(w, 8, 0x3004, 77);
	assert_int_equal(take_in(g, w, fd, "0000000000000003.spool"), 1);
	close(fd);
	check_profile(0, 0);
	close(held[0]);
	close(held[1]);
	ingest_free(g);
}

static void another_device_is_the_same_file_only_where_devices_differ(void **state)
{
	struct ingest *g = ingest_new(store, modules, NULL);
	int held[2];

	(void)state;
	held[0] = run_it();
	take_in_samples(g, "0000000000000001.spool", 7, 0, 0x1004, 5);
	held[1] = swap_in_generation();
	devices_differ = true;
	take_in_samples(g, "0000000000000002.spool", 9, 3, 0x3004, 1000);
	check_profile(5, 1000);

	/* Where devices are what they seem, it is the file of a container. */
	devices_differ = false;
	take_in_samples(g, "0000000000000003.spool", 10, 3, 0x3004, 5000);
	check_profile(5, 1000);
	close(held[0]);
	close(held[1]);
	ingest_free(g);
}

static void an_analysis_that_fails_does_not_hold_up_the_spool(void **state)
{
	uint64_t counter[NCOUNTER];
	int fd;

	(void)state;
	struct ingest *g = ingest_new(store, modules, NULL);
	assert_int_equal(stat(path, &running), 0);
	analysis_fails = ERR_SYS;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 7, 0, 0x1000);
	put_samples(w, 7, 0x1004, 5);
	assert_int_equal(take_in(g, w, fd, "1.spool"), 1);
	close(fd);
	assert_int_equal(store_counters(store, counter, NULL), 0);
	assert_int_equal(counter[COUNTER_OUTSIDE], 5);

	/* A file that is no spool is refused with its name; the spaces live on. */
	fd = open(path, O_RDONLY);
	struct err err = { 0 };
	assert_int_equal(ingest_spool_file(g, fd, "2.spool", NULL, &err), -1);
	assert_non_null(strstr(err.text, "2.spool"));
	close(fd);
	analysis_fails = ERR_NONE;
	w = log_begin(&fd);
	put_samples(w, 7, 0x1004, 5);
	assert_int_equal(take_in(g, w, fd, "3.spool"), 1);
	close(fd);
	check_profile(5, 0);
	ingest_free(g);
}

/* Run by another name of the file: it is the same module, and no other comes of it. */
static void another_name_of_the_file_is_the_same_module(void **state)
{
	struct ingest *g = ingest_new(store, modules, NULL);
	int held = run_it();
	struct store_module m;
	char as[PATH_MAX];

	(void)state;
	assert_int_equal(link(path, other), 0);
	assert_false(modules_other_name(store, other, as));	/* nothing is known yet */
	take_in_samples(g, "1.spool", 7, 0, 0x1004, 5);
	run_as = other;
	take_in_samples(g, "2.spool", 8, 0, 0x1004, 3);
	run_as = NULL;
	check_profile(8, 0);
	assert_int_equal(store_module_by_path(store, other, &m, NULL), 0);
	assert_true(modules_other_name(store, other, as));
	assert_string_equal(as, path);
	assert_false(modules_other_name(store, path, as));
	/* a link to it is no name of it, nor is another file with the same content */
	assert_int_equal(unlink(other), 0);
	assert_int_equal(symlink(path, other), 0);
	assert_false(modules_other_name(store, other, as));
	assert_int_equal(unlink(other), 0);
	write_file(other, "original");
	assert_false(modules_other_name(store, other, as));
	close(held);
	ingest_free(g);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* What /proc says of files that are not at their paths any more. */
static void names_of_files_that_are_gone(void **state)
{
	const char *p = "/usr/bin/perl";

	(void)state;
	assert_true(modules_is_path(p, p));
	assert_true(modules_is_path(p, "/usr/bin/perl (deleted)"));
	assert_true(modules_is_path(p, "/usr/bin/.morph-0abc12"));
	assert_true(modules_is_path(p, "/usr/bin/.morph-0abc12 (deleted)"));
	assert_false(modules_is_path(p, "/usr/bin/perl5"));
	assert_false(modules_is_path(p, "/usr/bin/pe"));
	assert_false(modules_is_path(p, "/usr/.morph-0abc12"));
	assert_false(modules_is_path(p, "/usr/bin/.morph-0abc12/perl"));
	assert_false(modules_is_path(p, "/usr/bin/other (deleted)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_of_files_that_are_gone),
		TEST(a_path_is_new_then_the_same_then_swapped_and_back),
		TEST(an_original_that_comes_back_by_itself_is_an_event),
		TEST(a_generation_without_a_record_is_adopted),
		TEST(what_is_not_shown_is_not_adopted),
		TEST(a_change_in_place_that_keeps_size_and_time_is_seen),
		TEST(a_foreign_change_discards_profile_and_refusal),
		TEST(only_regular_files_are_opened),
		TEST(a_table_is_made_once_and_a_refusal_is_kept),
		TEST(an_intake_leaves_no_memory_behind),
		TEST(a_spool_file_given_again_is_not_counted_again),
		TEST(samples_of_all_generations_arrive_in_one_profile),
		TEST(another_device_is_the_same_file_only_where_devices_differ),
		TEST(an_analysis_that_fails_does_not_hold_up_the_spool),
		TEST(another_name_of_the_file_is_the_same_module),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
