/* test_attribute.c - samples arrive in the block that ran, through the block map if need be */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/statesample.h"
#include "manager/samples/attribute.h"
#include "monitor/spool.h"

/* Original: text at 0x401000 (file 0x1000), blocks 0x0-0x10, 0x10-0x20, 0x40-0x50.
 * Generation: the same, and new text at 0x900000 (file 0x3000) with blocks 2, 0 in this
 * order. */
static struct blockmap_seg orig_seg[] = { { 0x401000, 0x1000, 0x1000 } };
static struct blockmap_seg gen_seg[] = { { 0x401000, 0x1000, 0x1000 },
					 { 0x900000, 0x3000, 0x100 } };
static struct blocktable_fn fns[] = { { 0x401000, 0x20, 0 }, { 0x401040, 0x10, 0 } };
static struct blocktable_block blocks[] = {
	{ 0x00, 0x10, 4, 0 }, { 0x10, 0x10, 4, 0 }, { 0x40, 0x10, 4, 1 },
};
static struct blocktable table = {
	.base = 0x401000, .text_size = 0x1000, .nseg = 1, .nfn = 2, .nblock = 3,
	.seg = orig_seg, .fn = fns, .block = blocks,
};
static struct blockmap_block moved[] = {
	{ 0x00, 0x20, 0x40, 0x10, false }, { 0x20, 0x10, 0x00, 0x10, false },
};
static struct blockmap map = {
	.generation = 1, .orig_base = 0x401000, .gen_base = 0x900000, .hot_size = 0x30,
	.nseg = 2, .nblock = 2, .seg = gen_seg, .block = moved,
};

static struct blockindex *of_table, *of_map;
static int resolved, released;

static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	(void)ctx;
	if (!of_table) {
		of_table = blockindex_new(&table, NULL);
		of_map = blockindex_new(&table, &map);
	}
	if (strcmp(file->path, "/fail") == 0)
		return err_set(err, ERR_SYS, "no luck");
	if (file->inode == 1)
		*out = (struct attribute_target){ 5, of_table, 0, NULL, false };
	else if (file->inode == 2)
		*out = (struct attribute_target){ 5, of_map, 3, NULL, true };
	else if (file->inode == 3)
		*out = (struct attribute_target){ 4, NULL, 0, NULL, false };
	else
		return 0;
	resolved++;
	return 1;
}

static void release(void *ctx, const struct attribute_target *target)
{
	(void)ctx;
	assert_true(target->module == 4 || target->module == 5);
	released++;
}

/* What the interpreter was given last, and what it says. */
static struct statesample seen[8];
static unsigned nseen, interpreted;
static const char *answer;

static int interpret(void *ctx, const struct attribute_target *target, struct bytes states,
		     struct edgecounts *out, struct err *err)
{
	struct statesample_reader r;

	(void)ctx;
	assert_true(target->index == of_table || target->index == of_map);
	interpreted++;
	assert_int_equal(statesample_open(states, &r, err), 0);
	for (nseen = 0; nseen < 8 && statesample_read(&r, &seen[nseen], err) == 1; nseen++)
		assert_true(seen[nseen].stack.n <= 8);
	if (!answer)
		return err_set(err, ERR_SYS, "the interpreter is ill");
	return edgecounts_read((struct bytes){ (const uint8_t *)answer, strlen(answer) },
			       &table, out, err);
}

static const struct attribute_resolver interpreting = {
	.resolve = resolve, .release = release, .interpret = interpret
};
static const struct attribute_resolver resolver = { .resolve = resolve, .release = release };

static void put(struct spool_writer *w, struct spool_event ev)
{
	static uint64_t now_ns = 1000000;

	ev.time_ns = now_ns += 4000000;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
}

static void put_map(struct spool_writer *w, uint32_t pid, uint64_t addr, uint64_t len,
		    uint64_t pgoff, uint64_t inode, const char *path)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = len;
	ev.mmap.pgoff = pgoff;
	ev.mmap.inode = inode;
	ev.mmap.path = path;
	put(w, ev);
}

static void put_samples(struct spool_writer *w, uint32_t pid, uint64_t pc, bool kernel, int n)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = pid, .tid = pid };

	ev.sample.pc = pc;
	ev.sample.kernel = kernel;
	while (n--)
		put(w, ev);
}

static void put_states(struct spool_writer *w, uint32_t pid, uint64_t pc, int n)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = pid, .tid = pid };

	ev.sample.pc = pc;
	ev.sample.has_state = true;
	ev.sample.state.rflags = 0x246;
	ev.sample.state.stack = (const uint8_t *)"the stack";
	for (int i = 0; i < n; i++) {
		for (unsigned r = 0; r < SPOOL_NGPR; r++)
			ev.sample.state.gpr[r] = pc + 100 * r + (unsigned)i;
		ev.sample.state.stack_bytes = 8 * (unsigned)(i % 2);
		put(w, ev);
	}
}

static void put_lost(struct spool_writer *w, enum spool_kind kind, uint64_t lost)
{
	struct spool_event ev = { .kind = kind };

	ev.lost = lost;
	put(w, ev);
}

static struct spool_writer *log_begin(int *fd)
{
	struct err err;

	*fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	struct spool_writer *w = spool_writer_new_file(*fd, "tick", 4000000, &err);
	assert_non_null(w);
	return w;
}

static void gather(struct attribute *a, struct spool_writer *w, int fd)
{
	struct err err;

	assert_int_equal(spool_flush(w, true, &err), 0);
	spool_writer_free(w);
	struct spool_reader *r = spool_reader_open(fd, &err);
	assert_non_null(r);
	attribute_spool(a, r);
	spool_reader_free(r);
	close(fd);
}

static void check_block(const struct attribute_module *m, uint32_t i, uint32_t block,
			uint32_t samples)
{
	assert_true(i < m->ncount);
	assert_int_equal(m->count[i].block, block);
	assert_int_equal(m->count[i].samples, samples);
}

/* Process 10 runs the original, process 20 a generation and much else; every kind of sample. */
static void put_a_bit_of_everything(struct spool_writer *w)
{
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	put_map(w, 20, 0x66001000, 0x1000, 0x1000, 2, "/orig");	/* the generation's old text */
	put_map(w, 20, 0x66800000, 0x1000, 0x3000, 2, "/orig");	/* and its new text */
	put_map(w, 20, 0x70000000, 0x1000, 0, 3, "/refused");
	put_map(w, 20, 0x71000000, 0x1000, 0, 4, "/stranger");
	put_map(w, 20, 0x72000000, 0x1000, 0, 0, "//anon");
	put_map(w, 20, 0x73000000, 0x1000, 0, 0, "[vdso]");
	put_samples(w, 10, 0x5500100f, false, 1);	/* last byte of block 0 */
	put_samples(w, 10, 0x55001010, false, 2);	/* first of block 1 */
	put_samples(w, 10, 0x55001030, false, 4);	/* between blocks */
	put_samples(w, 20, 0x6680001f, false, 8);	/* block 2, in what emit added to it */
	put_samples(w, 20, 0x66800020, false, 16);	/* block 0 */
	put_samples(w, 20, 0x66800030, false, 32);	/* behind the new text */
	/* old text of the generation: block 1 */
	put_samples(w, 20, 0x66001015, false, 64);
	put_samples(w, 20, 0x70000005, false, 128);
	put_samples(w, 20, 0x71000005, false, 256);
	put_samples(w, 20, 0x72000005, false, 3);
	put_samples(w, 20, 0x73000005, false, 5);
	put_samples(w, 20, 0x74000005, false, 15);	/* nothing is known to be there */
	put_samples(w, 20, 0x66800020, true, 7);
	put_samples(w, 99, 0x66800020, false, 9);
	put_samples(w, 0, 0x66800020, false, 13);
	put_lost(w, SPOOL_LOST, 11);
	put_lost(w, SPOOL_THROTTLE, 1);
	put_lost(w, SPOOL_GAP, 1000);
}

/* The fault was in one file, the program is another; the rest says nothing. */
static void put_a_crash(struct spool_writer *w)
{
	struct spool_event dies = { .kind = SPOOL_CRASH, .pid = 20, .tid = 21,
				    .crash = { 0x70000005, 11, 64001 } };

	assert_int_equal(spool_write(w, &dies, NULL), 0);
	dies.pid = 99;				/* of which nothing is known */
	assert_int_equal(spool_write(w, &dies, NULL), 0);
}

static void check_crash(const struct attribution *out)
{
	unsigned generations = 0;

	assert_int_equal(out->ncrash, 2);
	for (uint32_t i = 0; i < out->ncrash; i++) {
		assert_int_equal(out->crash[i].pid, 20);
		assert_int_equal(out->crash[i].signal, 11);
		assert_int_equal(out->crash[i].uid, 64001);
		generations += out->crash[i].generation;
	}
	assert_int_equal(generations, 3);
}

/* Samples that came while a program ran, in the module, or (-counter) in none. */
static uint64_t ran_in(const struct attribution *out, const char *program, int64_t module)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < out->nran; i++)
		if (out->ran[i].module == module && strcmp(out->ran[i].program, program) == 0)
			sum += out->ran[i].samples;
	return sum;
}

static void every_sample_is_counted_once_where_it_belongs(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;
	const uint64_t want[NCOUNTER] = {
		[COUNTER_KNOWN] = 1 + 2 + 8 + 16 + 64, [COUNTER_OUTSIDE] = 4 + 32 + 128,
		[COUNTER_UNKNOWN] = 256, [COUNTER_ANON] = 3, [COUNTER_VDSO] = 5,
		[COUNTER_KERNEL] = 7, [COUNTER_NOPROCESS] = 9, [COUNTER_LOST] = 11,
		[COUNTER_THROTTLED] = 1, [COUNTER_DROPPED] = 1000, [COUNTER_ELSEWHERE] = 13,
		[COUNTER_NOWHERE] = 15,
	};

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_a_bit_of_everything(w);
	gather(a, w, fd);
	resolved = released = 0;
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	assert_int_equal(resolved, 3);
	assert_int_equal(released, 3);
	for (int i = 0; i < NCOUNTER; i++)
		if (out.counter[i] != want[i])
			fail_msg("%s: %u", counter_name[i], (unsigned)out.counter[i]);
	assert_int_equal(out.nmodule, 2);
	assert_int_equal(out.module[0].module, 4);
	assert_int_equal(out.module[0].outside, 128);
	const struct attribute_module *m = &out.module[1];
	assert_int_equal(m->module, 5);
	assert_int_equal(m->samples, 91);
	assert_int_equal(m->outside, 36);
	assert_int_equal(m->ncount, 3);
	check_block(m, 0, 0, 17);
	check_block(m, 1, 1, 66);
	check_block(m, 2, 2, 8);
	assert_int_equal(ran_in(&out, "/orig", 5), 91 + 36);	/* what ran first is it */
	assert_int_equal(ran_in(&out, "/orig", 4), 128);
	assert_int_equal(ran_in(&out, "/orig", -COUNTER_UNKNOWN), 256);
	assert_int_equal(ran_in(&out, "/orig", -COUNTER_ANON), 3);
	assert_int_equal(ran_in(&out, "/orig", -COUNTER_KERNEL), 7);
	assert_int_equal(ran_in(&out, "", -COUNTER_NOPROCESS), 9);
	assert_int_equal(ran_in(&out, "", -COUNTER_ELSEWHERE), 13);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

static void a_second_spool_adds_to_the_first(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_a_bit_of_everything(w);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	w = log_begin(&fd);
	put_samples(w, 20, 0x66800020, false, 100);	/* its process lives on */
	put_samples(w, 20, 0x66800000, false, 1);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	const struct attribute_module *m = &out.module[1];
	assert_int_equal(m->samples, 91 + 101);
	check_block(m, 0, 0, 117);
	check_block(m, 2, 2, 9);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

static void a_crash_counts_for_where_the_fault_was_and_for_the_program(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_a_bit_of_everything(w);
	put_a_crash(w);
	gather(a, w, fd);
	resolved = released = 0;
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	assert_int_equal(resolved, 3 + 2);	/* for its samples, and for its crash */
	assert_int_equal(released, 3 + 2);
	check_crash(&out);
	assert_int_equal(out.counter[COUNTER_CRASHES], 2);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

#define EDGES_OF(sha) "morph-profile 2\nmodule x\nsha256 " sha "\nclock cpu-clock\n"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

/* Edges 0 -> 1 and 1 -> 2, a call of 2 in block 0; the others are of places that do not
 * exist. */
static const char good_answer[] =
	EDGES_OF(ZEROS) "edge 0x401000 0x401010 3.000\nedge 0x401000 0x401018 9.000\nedge "
			"0x401010 0x401040 2.000\n"
			"edge 0x401010 0x500000 9.000\nedge 0x401030 0x401040 9.000\nedge "
			"0x401040 0x401040 0.100\n"
			"call 0x401004 0x401040 5.000\ncall 0x401004 0x401044 9.000\ncall "
			"0x401030 0x401040 9.000\n";

static void states_become_edges_of_the_original(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 }, sum = { 0 };
	struct err err;
	int fd;

	(void)state;
	interpreted = 0;
	answer = good_answer;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	put_map(w, 20, 0x66800000, 0x1000, 0x3000, 2, "/orig");
	put_map(w, 20, 0x70000000, 0x1000, 0, 3, "/refused");
	put_map(w, 20, 0x71000000, 0x1000, 0, 4, "/stranger");
	put_states(w, 10, 0x55001004, 2);
	put_states(w, 20, 0x66800021, 1);
	put_states(w, 20, 0x70000000, 10);
	put_states(w, 20, 0x71000000, 20);
	put_states(w, 20, 0x72000000, 40);	/* nowhere */
	put_samples(w, 10, 0x55001004, false, 5);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &interpreting, &out, &err), 0);
	/* The generation came last: its bias is against its own addresses. */
	assert_int_equal(interpreted, 2);
	assert_int_equal(nseen, 1);
	assert_int_equal(seen[0].pc, 0x66800021);
	assert_int_equal(seen[0].bias, 0x66800000 - 0x900000);
	assert_int_equal(seen[0].rflags, 0x246);
	assert_int_equal(seen[0].gpr[15], 0x66800021 + 1500);
	assert_int_equal(out.counter[COUNTER_STATES], 3);
	assert_int_equal(out.counter[COUNTER_NOSTATES], 10 + 20 + 40);
	assert_int_equal(out.counter[COUNTER_EDGES], 2 * (3 + 2 + 5));
	attribution_add(&sum, &out);
	attribution_add(&sum, &out);
	const struct attribute_module *m = &sum.module[1];
	assert_int_equal(m->module, 5);
	assert_int_equal(m->samples, 2 * 8);
	assert_int_equal(ran_in(&sum, "/orig", 5), 2 * 8);
	assert_int_equal(m->states, 2 * 3);
	assert_int_equal(m->edges.nedge, 2);
	assert_int_equal(m->edges.edge[0].from, 0);
	assert_int_equal(m->edges.edge[0].to, 1);
	assert_int_equal(m->edges.edge[0].count, 4 * 3);
	assert_int_equal(m->edges.edge[1].from, 1);
	assert_int_equal(m->edges.edge[1].to, 2);
	assert_int_equal(m->edges.edge[1].count, 4 * 2);
	assert_int_equal(m->edges.ncall, 1);
	assert_int_equal(m->edges.call[0].block, 0);
	assert_int_equal(m->edges.call[0].at, 4);
	assert_int_equal(m->edges.call[0].target, 2);
	assert_int_equal(m->edges.call[0].count, 4 * 5);
	attribution_free(&out);
	attribution_free(&sum);
	attribute_free(a);
	spaces_free(s);
}

static bool lacks_nothing(void *ctx, const struct attribute_target *target)
{
	return ctx || target->module != 5;
}

static void an_ill_lying_or_needless_interpreter_costs_no_samples(void **state)
{
	static const char
		*const lie[] = {
			NULL, "", "nonsense",
			EDGES_OF("11" ZEROS),
			EDGES_OF(ZEROS) "edge 0x401000 0x401010\n",
			EDGES_OF("1111111111111111111111111111111111111111111111111111111111111"
				 "111") "edge 0x401000 0x401010 3.000\n",
			EDGES_OF(ZEROS) "outside 0.000\nblock 0x401000 3.000\n",
			good_answer,		/* not asked for */
		};
	struct attribute_resolver by = interpreting;
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct err err;
	int fd;

	(void)state;
	interpreted = 0;
	for (unsigned i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct attribution out = { 0 };

		if (lie[i] == good_answer)
			by.lacks = lacks_nothing;
		answer = lie[i];
		struct spool_writer *w = log_begin(&fd);
		put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
		put_states(w, 10, 0x55001004, 2);
		gather(a, w, fd);
		assert_int_equal(attribute_resolve(a, &by, &out, &err), 0);
		assert_int_equal(out.counter[COUNTER_KNOWN], 2);
		assert_int_equal(out.counter[COUNTER_NOSTATES], 2);
		assert_int_equal(out.counter[COUNTER_STATES], 0);
		assert_int_equal(out.module[0].edges.nedge, 0);
		attribution_free(&out);
	}
	assert_int_equal(interpreted, sizeof(lie) / sizeof(lie[0]) - 1);
	attribute_free(a);
	spaces_free(s);
}

/* Of one kind, by what they had mapped; nothing at all when samples are missing. */
static void time_of_processes_goes_to_generations(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	for (int lossy = 0; lossy < 2; lossy++) {
		struct spool_writer *w = log_begin(&fd);
		for (uint32_t pid = 10; pid < 12; pid++) {
			put(w,
			    (struct spool_event){ .kind = SPOOL_EXEC, .pid = pid, .tid = pid });
			put_map(w, pid, 0x44000000, 0x1000, 0, 8, "/prog");
			put_map(w, pid, 0x66001000, 0x1000, 0x1000, pid - 9, "/orig");
			put_samples(w, pid, 0x66001000, false, (int)pid);
			put_samples(w, pid, 0x44000000, false, 5);
			put_samples(w, pid, 0, true, 2);
		}
		put(w, (struct spool_event){ .kind = SPOOL_EXIT, .pid = 11, .tid = 11 });
		if (lossy)
			put_lost(w, SPOOL_LOST, 1);
		gather(a, w, fd);
		assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
		assert_int_equal(out.nuse, 2);
	}
	const struct attribute_use *u = out.use;
	assert_int_equal(u[0].kind, u[1].kind);
	for (uint32_t i = 0; i < 2; i++) {
		const struct speedtest_sums *sums = &u[i].sums;
		bool old = u[i].generation == 0;

		assert_int_equal(u[i].module, 5);
		assert_int_equal(u[i].generation, old ? 0 : 3);
		assert_int_equal(u[i].live, !old);
		assert_true(sums->module_s > (old ? 0.0399 : 0.0439) &&
			    sums->module_s < (old ? 0.0401 : 0.0441));
		assert_true(sums->rest_s > 0.0279 && sums->rest_s < 0.0281);
		assert_int_equal(sums->samples, old ? 17 : 18);
		assert_int_equal(sums->rest_samples, 7);
		assert_int_equal(sums->runs, old ? 0 : 1);
		assert_true(old ? sums->run_s == 0
				: sums->run_s > 0.0719 && sums->run_s < 0.0721);
	}
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

static void a_failed_resolve_leaves_the_result_alone(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { .newest_ns = 1 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x1000, 0x1000, 0x1000, 1, "/orig");
	put_map(w, 10, 0x5000, 0x1000, 0x1000, 9, "/fail");
	put_samples(w, 10, 0x1000, false, 3);
	put_samples(w, 10, 0x5000, false, 3);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), -1);
	assert_string_equal(err.text, "'/fail': no luck");
	assert_int_equal(out.nmodule, 0);
	assert_int_equal(out.counter[COUNTER_KNOWN], 0);
	assert_int_equal(out.newest_ns, 1);
	attribute_free(a);
	spaces_free(s);
}

static void many_places_fold_into_few_blocks(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	for (int round = 0; round < 20; round++)
		for (uint64_t off = 0; off < 0x1000; off++)
			put_samples(w, 10, 0x55001000 + off, false, 1);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	for (uint32_t i = 0; i < 3; i++)
		check_block(&out.module[0], i, i, 20 * 0x10);
	assert_int_equal(out.module[0].outside, 20 * (0x1000 - 0x30));
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

static void put_crashes(struct spool_writer *w, uint32_t pid, uint64_t pc, uint32_t uid,
			uint32_t step, int n)
{
	struct spool_event ev = { .kind = SPOOL_CRASH, .pid = pid, .tid = pid };

	for (int i = 0; i < n; i++) {
		ev.crash.pc = pc;
		ev.crash.signal = 11;
		ev.crash.uid = uid + step * (uint32_t)i;
		put(w, ev);
	}
}

static void nobody_hides_the_crashes_of_others(void **state)
{
	static const uint32_t user[] = { 0, 5, 7 };
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	unsigned of[4] = { 0 };
	int fd;

	(void)state;
	attribute_users(a, user, 3);
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	put_crashes(w, 10, 0x55001000, 5, 0, 1000);
	/* as many users without an account */
	put_crashes(w, 10, 0x55001000, 100000, 1, 1000);
	put_crashes(w, 10, 0x55001000, 7, 0, 2);
	put_crashes(w, 10, 0x55001000, 0, 0, 1);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	for (uint32_t i = 0; i < out.ncrash; i++)
		of[out.crash[i].uid == 0 ? 0 : out.crash[i].uid == 5 ? 1 :
		   out.crash[i].uid == 7 ? 2 : 3]++;
	assert_int_equal(of[0], 1);
	assert_int_equal(of[1], 16);
	assert_int_equal(of[2], 2);
	assert_int_equal(of[3], 16);
	assert_int_equal(out.counter[COUNTER_CRASHES], 2003);
	assert_int_equal(out.counter[COUNTER_CRASHES_OVER], 2 * (1000 - 16));
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

/* That a file is mapped says nothing: neither when the fault was nowhere nor when it was in the
 * program itself. */
static void what_is_only_mapped_is_not_blamed(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x71000000, 0x1000, 0, 4, "/stranger");	/* its program */
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	put_crashes(w, 10, 0x10, 5, 0, 1);
	put_crashes(w, 10, 0x71000005, 5, 0, 1);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	assert_int_equal(out.counter[COUNTER_CRASHES], 2);
	assert_int_equal(out.ncrash, 0);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

/* A form of generation 3 is in the place of the text of the process's program: what dies is the
 * generation, not the original that the program's file is, wherever the fault was.  A form that
 * is in the place of a library's text is only mapped. */
static void a_generation_in_a_running_process_is_blamed_as_the_program(void **state)
{
	static const char form[] = "/var/lib/morph/live/0123456789abcdef0123456789abcdef"
				   "0123456789abcdef0123456789abcdef";
	struct spaces *s = spaces_new(NULL);
	struct attribute *a = attribute_new(s);
	struct attribution out = { 0 };
	struct err err;
	int fd;

	(void)state;
	struct spool_writer *w = log_begin(&fd);
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 1, "/orig");
	put_map(w, 10, 0x71000000, 0x1000, 0, 4, "/stranger");
	put_map(w, 10, 0x55001000, 0x1000, 0x1000, 2, form);
	put_map(w, 10, 0x55800000, 0x1000, 0x3000, 2, form);
	put_crashes(w, 10, 0x55800005, 5, 0, 1);
	put_crashes(w, 10, 0x71000005, 6, 0, 1);
	put_map(w, 20, 0x70000000, 0x1000, 0, 3, "/refused");	/* another module */
	put_map(w, 20, 0x55800000, 0x1000, 0x3000, 2, form);
	put_crashes(w, 20, 0x10, 7, 0, 1);
	gather(a, w, fd);
	assert_int_equal(attribute_resolve(a, &resolver, &out, &err), 0);
	assert_int_equal(out.ncrash, 3);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(out.crash[i].module, 5);
		assert_int_equal(out.crash[i].generation, 3);
		assert_int_equal(out.crash[i].uid, 5 + i);
	}
	assert_int_equal(out.crash[2].module, 4);
	assert_int_equal(out.crash[2].generation, 0);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_is_counted_once_where_it_belongs),
		cmocka_unit_test(a_second_spool_adds_to_the_first),
		cmocka_unit_test(a_crash_counts_for_where_the_fault_was_and_for_the_program),
		cmocka_unit_test(states_become_edges_of_the_original),
		cmocka_unit_test(an_ill_lying_or_needless_interpreter_costs_no_samples),
		cmocka_unit_test(time_of_processes_goes_to_generations),
		cmocka_unit_test(a_failed_resolve_leaves_the_result_alone),
		cmocka_unit_test(many_places_fold_into_few_blocks),
		cmocka_unit_test(a_generation_in_a_running_process_is_blamed_as_the_program),
		cmocka_unit_test(nobody_hides_the_crashes_of_others),
		cmocka_unit_test(what_is_only_mapped_is_not_blamed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
