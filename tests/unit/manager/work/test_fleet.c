/* test_fleet.c - what the Manager makes of answers from a fleet's database, of strangers */
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/arena.h"
#include "lib/blocktable.h"
#include "lib/fleetfile.h"
#include "lib/io.h"
#include "manager/store/store_db.h"
#include "manager/work/fleetwork.h"
#include "policy/setting.h"
#include "tests/unit/manager/work/workscene.h"

enum { BLOCKS = 10, BLOCK = 16 };

static struct err err;

static void put_table_of(const struct digest *original_digest)
{
	struct blockmap_seg seg = { 0x401000, 0x1000, BLOCKS * BLOCK };
	struct blocktable_fn fn = { 0x401000, BLOCKS * BLOCK, 0 };
	struct blocktable_block block[BLOCKS];
	struct blocktable t = { .original = *original_digest, .base = 0x401000,
				.text_size = 1 << 20, .nseg = 1, .nfn = 1, .nblock = BLOCKS,
				.seg = &seg, .fn = &fn, .block = block };
	struct wr bytes = { 0 };

	for (uint32_t i = 0; i < BLOCKS; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 4, 0 };
	blocktable_write(&t, &bytes);
	assert_int_equal(store_table_put(w.store, original_digest, wr_bytes(&bytes),
					 &err), 0);
	wr_free(&bytes);
}

static void put_table(void)
{
	put_table_of(&m.original);
	w.policy->share_conninfo = strdup("host=nowhere");
}

static void list_all(const char *key)
{
	for (unsigned i = 0; i < policy_nsetting; i++)
		if (strcmp(policy_setting[i].key, key) == 0)
			(void)setting_add(&policy_setting[i], w.policy, "/var/tmp/*", NULL);
}

static void include_all(void)
{
	list_all("include");
}

/* An answer comes, as the parent would send it. */
static void answered(const struct fleet_answer *q, const char *trouble)
{
	struct wr file = { 0 };

	fleet_answer_write(q, &file);
	ask.shared = (struct msg){ .type = MSG_SHARED, .nfd = 1,
				   .fd = { io_memory_file(wr_bytes(&file), &err) } };
	ask.shared.num[MSG_SHARED_status] = trouble[0] ? ERR_SYS : ERR_NONE;
	strcpy(ask.shared.text, trouble);
	assert_true(ask.shared.fd[0] >= 0);
	work_fleet_answer(&w);
	assert_int_equal(ask.shared.type, MSG_NONE);
	wr_free(&file);
}

static struct fleet_block block[] = { { 1, 256000 }, { 2, 256000 } };
static struct fleet_edge edge[] = { { 1, 2, 500 } };
static struct fleet_call call[] = { { 1, 3, 2, 500 } };

static struct fleet_evidence fleet_of(uint32_t contributors)
{
	return (struct fleet_evidence){
		.digest = m.original, .epoch = 2969, .sequence = 1,
		.contributors = contributors, .nblock = 2, .nedge = 1, .ncall = 1,
		.block = block, .edge = edge, .call = call
	};
}

/* As work_fleet_now() leaves it, when it asks for a file. */
static void asked(const struct digest *d)
{
	free(w.fleet.wanted);
	w.fleet.wanted = calloc(1, sizeof(*w.fleet.wanted));
	w.fleet.wanted->original = *d;
	w.fleet.nwanted = 1;
	w.fleet.under_way = true;
}

static void answer_with(struct fleet_evidence *e)
{
	const struct fleet_answer q = { .nfleet = 1, .fleet = e };

	asked(&e->digest);
	answered(&q, "");
}

static uint32_t kept(void)
{
	struct store_fleet f;

	if (store_fleet_get(w.store, &m.original, 0, &f, &err) != 1)
		return 0;
	store_profile_free(&f.profile);
	return f.contributors;
}

static void what_fits_is_kept(void **state)
{
	struct fleet_evidence e = fleet_of(23);

	(void)state;
	put_table();
	answer_with(&e);
	assert_int_equal(kept(), 23);
	assert_true(w.fleet.fleet == 1 && w.fleet.left_out == 0 && !w.fleet.under_way);
	work_fleet_free(&w);
}

/* Blocks, edges and calls kept of an answer that has one place that there is not. */
#define LEFT_OUT(place, value, nb, ne, nc)				\
	do {								\
		struct fleet_evidence e_ = fleet_of(24);		\
		__typeof__(place) was_ = place;				\
									\
		place = value;						\
		answer_with(&e_);					\
		place = was_;						\
		assert_true(w.fleet.left_out == 1 && w.fleet.fleet == 1); \
		struct store_fleet f_;					\
		assert_int_equal(store_fleet_get(w.store, &m.original, 0, &f_, &err), 1); \
		assert_int_equal(f_.profile.ncount, nb);		\
		assert_int_equal(f_.profile.edges.nedge, ne);		\
		assert_int_equal(f_.profile.edges.ncall, nc);		\
		assert_int_equal(f_.contributors, 24);			\
		store_profile_free(&f_.profile);			\
	} while (0)

/* A few liars among many cannot take what the others know. */
static void places_that_there_are_not_are_left_out(void **state)
{
	struct fleet_evidence e = fleet_of(23);

	(void)state;
	put_table();
	LEFT_OUT(block[1].block, BLOCKS, 1, 1, 1);
	LEFT_OUT(block[1].block, INT32_MAX, 1, 1, 1);
	LEFT_OUT(edge[0].from, BLOCKS, 2, 0, 1);
	LEFT_OUT(edge[0].to, BLOCKS, 2, 0, 1);
	LEFT_OUT(call[0].block, BLOCKS, 2, 1, 0);
	LEFT_OUT(call[0].at, BLOCK, 2, 1, 0);
	LEFT_OUT(call[0].target, BLOCKS, 2, 1, 0);
	answer_with(&e);
	assert_int_equal(kept(), 23);
	struct fleet_block none = { BLOCKS, 5 };
	e = fleet_of(26);
	e.nblock = 1;
	e.block = &none;
	answer_with(&e);
	assert_true(w.fleet.left_out == 1 && w.fleet.fleet == 0);
	e = fleet_of(0);
	answer_with(&e);
	assert_int_equal(w.fleet.left_out, 1);
	e = fleet_of(25);
	e.digest.b[0] ^= 1;		/* a file that is not here */
	answer_with(&e);
	assert_int_equal(w.fleet.left_out, 1);
	assert_int_equal(kept(), 23);
	work_fleet_free(&w);
}

static void what_nobody_asked_for_is_nothing(void **state)
{
	struct fleet_evidence e = fleet_of(23);
	const struct fleet_answer q = { .nfleet = 1, .fleet = &e };

	(void)state;
	put_table();
	answered(&q, "");
	assert_int_equal(kept(), 0);
	work_fleet_free(&w);
}

/* A table is there of it, so it would fit: but rules may say that nothing is taken of it. */
static void what_nobody_asked_about_is_left_out(void **state)
{
	struct fleet_evidence e = fleet_of(23);
	const struct fleet_answer q = { .nfleet = 1, .fleet = &e };
	struct digest other = m.original;

	(void)state;
	put_table();
	other.b[31] ^= 1;
	asked(&other);
	answered(&q, "");
	assert_int_equal(kept(), 0);
	assert_true(w.fleet.left_out == 1 && w.fleet.fleet == 0);
	work_fleet_free(&w);
}

/* Each is held against its table, which takes time: once is what was asked for. */
static void what_comes_again_is_left_out(void **state)
{
	struct fleet_evidence e[4] = { fleet_of(23), fleet_of(24), fleet_of(25), fleet_of(26) };
	const struct fleet_answer q = { .nfleet = 4, .fleet = e };

	(void)state;
	put_table();
	e[2].kind = FLEET_EXECUTIONS;
	asked(&m.original);
	answered(&q, "");
	assert_int_equal(kept(), 23);
	assert_true(w.fleet.left_out == 2 && w.fleet.fleet == 2);
	work_fleet_free(&w);
}

static bool count_row(void *ctx, const struct store_epoch *e)
{
	(void)e;
	(*(unsigned *)ctx)++;
	return true;
}

static unsigned waiting(void)
{
	unsigned n = 0;

	assert_int_equal(store_epoch_each(w.store, count_row, &n, &err), 0);
	return n;
}

/* What was told before it failed holds; what was not waits. */
static void what_is_told_does_not_come_again(void **state)
{
	struct store_count count = { 1, 256 };
	const struct store_profile p = { .ncount = 1, .count = &count };
	struct fleet_answer_told told[] = { { 0, FLEET_TAKEN }, { 2, FLEET_REFUSED },
					    { 7, FLEET_TAKEN } };
	const struct fleet_answer q = { .ntold = 3, .told = told };
	struct store_giver g = { .class = "servers" };

	(void)state;
	for (g.epoch = 2960; g.epoch < 2963; g.epoch++)
		assert_int_equal(store_epoch_put(w.store, &g, &m.original, 0, &p, &err), 0);
	strcpy(w.fleet.class, g.class);
	w.fleet.given = calloc(3, sizeof(*w.fleet.given));
	w.fleet.ngiven = 3;
	for (uint32_t i = 0; i < 3; i++)
		w.fleet.given[i] = (struct work_fleet_given){ m.original, 0, 2960 + i, 1 };
	w.fleet.under_way = true;
	answered(&q, "the server has gone");
	assert_int_equal(waiting(), 1);
	assert_true(w.fleet.taken == 1 && w.fleet.refused == 1 && w.fleet.left_out == 1);
	assert_string_equal(w.fleet.trouble, "the server has gone");
	assert_true(w.fleet.next_ms <= w.now_ms() + 60000);
	work_fleet_free(&w);
}

static void no_answer_is_told(void **state)
{
	(void)state;
	w.fleet.under_way = true;
	ask.shared = (struct msg){ .type = MSG_SHARED, .text = "it ended by signal 9" };
	ask.shared.num[MSG_SHARED_status] = ERR_SYS;
	work_fleet_answer(&w);
	assert_string_equal(w.fleet.trouble, "it ended by signal 9");
	assert_false(w.fleet.under_way);
	work_fleet_free(&w);
}

static void put_own(uint64_t a, uint64_t b)
{
	struct store_count count[] = { { 1, a * STORE_UNIT }, { 2, b * STORE_UNIT } };
	struct store_profile p = { .ncount = 2, .count = count };
	struct store_use use = { .begun_ns = store_now_ns(), .known_ns = 1, .recent = p };

	assert_int_equal(store_profile_put(w.store, m.id, &p, 0, &err), 0);
	assert_int_equal(store_use_put(w.store, m.id, &use, &err), 0);
}

static const char *verdict(void)
{
	static char text[256];
	struct store_use use;

	assert_int_equal(store_use_get(w.store, m.id, &use, &err), 0);
	(void)snprintf(text, sizeof(text), "%s", use.verdict);
	store_profile_free(&use.recent);
	return text;
}

static uint32_t nfirst(void)
{
	int64_t *module;
	uint32_t n;

	assert_int_equal(store_fleet_first(w.store, &module, &n, &err), 0);
	free(module);
	return n;
}

static void what_has_a_layout_waits_for_its_windows(void **state)
{
	struct fleet_evidence e = fleet_of(23);

	(void)state;
	put_table();
	answer_with(&e);
	assert_int_equal(kept(), 23);
	assert_int_equal(nfirst(), 0);
	work_fleet_free(&w);
}

/* Where the own samples are of the same use, and with the fleet's they are enough. */
static void a_first_layout_need_not_wait_for_own_samples(void **state)
{
	static struct fleet_block much[] = { { 1, 600 * 256 }, { 2, 300 * 256 } };
	struct fleet_evidence e;
	enum module_look how;

	(void)state;
	w.policy->automatic = 1;
	w.policy->observe_first_h = 0;
	include_all();
	put_file(path, "another version");
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(how, MODULE_CHANGED);
	put_table();
	assert_int_equal(nfirst(), 0);
	e = fleet_of(23);
	e.block = much;
	e.nedge = e.ncall = 0;
	w.policy->min_samples = 600;
	w.policy->min_gain_ppm = 0;
	put_own(42, 20);
	assert_int_equal(work_judge(&w, &err), 0);	/* too few, and there is no fleet's */
	assert_string_equal(verdict(), "");
	answer_with(&e);
	assert_int_equal(kept(), 23);
	assert_int_equal(nfirst(), 1);
	put_own(39, 20);
	assert_int_equal(work_judge(&w, &err), 0);	/* less than a tenth */
	w.policy->min_samples = 1100;
	put_own(77, 38);
	assert_int_equal(work_judge(&w, &err), 0);	/* not enough with the fleet's, too */
	assert_string_equal(verdict(), "");
	w.policy->min_samples = 600;
	put_own(0, 62);					/* another use than the fleet's */
	assert_int_equal(work_judge(&w, &err), 0);
	assert_string_equal(verdict(), "");
	put_own(46, 23);
	w.policy->min_gain_ppm = 1000000;
	assert_int_equal(work_judge(&w, &err), 0);
	assert_non_null(strstr(verdict(), "too little to gain"));
	/* nothing has changed: it is not judged again */
	w.policy->min_gain_ppm = 0;
	assert_int_equal(work_judge(&w, &err), 0);
	put_own(50, 25);
	assert_int_equal(work_judge(&w, &err), 0);
	put_own(51, 25);
	assert_int_equal(work_judge(&w, &err), 1);
	assert_string_equal(w.again, path);
	assert_int_equal(work_judge(&w, &err), 0);
	answer_with(&e);			/* what the fleet knows is new */
	assert_int_equal(work_judge(&w, &err), 1);
	assert_true(w.again_facts.fleet > 538 && w.again_facts.inherited == 0);
	work_fleet_free(&w);
}

/* A module of the same folder. */
static void add_module(const char *name, const struct digest *original_digest)
{
	struct store_module other = m;

	other.id = 0;
	other.original = *original_digest;
	(void)snprintf(other.path, sizeof(other.path), "%.60s/%s", dir, name);
	assert_int_equal(store_module_put(w.store, &other, &err), 0);
}

/* What the parent was asked to carry; what it points to is of `a`. */
static struct fleet_request request(struct arena *a)
{
	struct msg asked_of = { 0 };
	struct fleet_request q;
	struct bytes file;

	assert_int_equal(work_fleet_now(&w, &err), 0);
	assert_true(w.fleet.under_way);
	assert_int_equal(msg_receive(parent, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &asked_of,
				     &err), 1);
	assert_int_equal(asked_of.type, MSG_SHARE);
	assert_int_equal(io_read_all(asked_of.fd[0], 1 << 20, a, &file, &err), 0);
	assert_int_equal(fleet_request_read(file, a, &q, &err), 0);
	msg_close_fds(&asked_of);
	w.fleet.under_way = false;
	return q;
}

/* What there is a table of, once where it is at two paths. */
static void each_original_is_asked_for(void **state)
{
	struct arena *a = arena_new();
	struct digest lower = m.original, unknown = m.original;

	(void)state;
	include_all();
	lower.b[0] = 0;
	unknown.b[0] = 1;
	m.original.b[0] |= 2;
	put_table();
	put_table_of(&lower);
	add_module("lower", &lower);
	add_module("twin", &m.original);
	add_module("again", &m.original);
	add_module("unknown", &unknown);
	struct fleet_request q = request(a);
	assert_int_equal(q.nwant, 2);
	assert_true(digest_equal(&q.want[0], &lower));
	assert_true(digest_equal(&q.want[1], &m.original));
	assert_true(work_fleet_wanted(&w.fleet, &lower) &&
		    work_fleet_wanted(&w.fleet, &m.original));
	assert_null(work_fleet_wanted(&w.fleet, &unknown));
	arena_free(a);
	work_fleet_free(&w);
}

static void it_is(const char *id)
{
	char file[256];

	(void)snprintf(file, sizeof(file), "%s/etc/machine-id", w.options->host);
	assert_int_equal(io_write_file(file, 0644, (struct bytes){ (const uint8_t *)id,
								   strlen(id) }, &err), 0);
}

/* As whom the parent was asked to give. */
static void number_of(uint8_t out[FLEET_MACHINE], char class[FLEET_CLASS_MAX + 1])
{
	struct arena *a = arena_new();
	struct fleet_request q = request(a);

	memcpy(out, q.machine, FLEET_MACHINE);
	if (class)
		strcpy(class, q.class);
	arena_free(a);
}

static void make_etc(void)
{
	char etc[256];

	(void)snprintf(etc, sizeof(etc), "%s/etc", w.options->host);
	(void)mkdir(etc, 0755);
}

static void a_copy_of_a_machine_is_another_one(void **state)
{
	uint8_t number[5][FLEET_MACHINE];
	static const char *const as[] = { NULL, "11112222333344445555666677778888\n", NULL,
					  "11112222333344445555666677779999\n",
					  "11112222333344445555666677778888\n" };
	struct wr of_store = { 0 };

	(void)state;
	put_table();
	make_etc();
	for (unsigned i = 0; i < 5; i++) {
		if (as[i])
			it_is(as[i]);
		number_of(number[i], NULL);
	}
	assert_int_equal(store_value_get(w.store, "machine", &of_store, &err), 1);
	assert_memory_equal(number[1], number[2], FLEET_MACHINE);
	for (unsigned i = 0; i < 5; i++)
		for (unsigned k = 0; k < i; k++)
			if (i != 2 || k != 1)
				assert_memory_not_equal(number[i], number[k], FLEET_MACHINE);
	assert_memory_not_equal(number[4], of_store.p, FLEET_MACHINE);
	wr_free(&of_store);
	work_fleet_free(&w);
}

static void who_shares_again_is_another_one(void **state)
{
	uint8_t was[FLEET_MACHINE], is[FLEET_MACHINE];

	(void)state;
	put_table();
	assert_int_equal(work_apply_fleet(&w, &err), 0);
	number_of(was, NULL);
	w.policy->share_conninfo[0] = '\0';
	assert_int_equal(work_apply_fleet(&w, &err), 0);
	w.policy->share_conninfo[0] = 'h';
	assert_int_equal(work_apply_fleet(&w, &err), 0);
	number_of(is, NULL);
	assert_memory_not_equal(is, was, FLEET_MACHINE);
	work_fleet_free(&w);
}

static void counted_once(uint32_t at)
{
	struct store_count count = { at, 256 };
	const struct store_profile p = { .ncount = 1, .count = &count };
	struct store_giver g;

	assert_int_equal(work_fleet_giver(&w, &g, &err), 0);
	assert_int_equal(store_epoch_put(w.store, &g, &m.original, FLEET_EXECUTIONS, &p, &err),
			 0);
}

/* Each is given in the class in which it was counted, the older first; what the fleet has is
 * asked for in the present one. */
static void each_class_gets_its_own(void **state)
{
	struct fleet_answer_told told = { 0, FLEET_TAKEN };
	const struct fleet_answer q = { .ntold = 1, .told = &told };
	static const char *const class[] = { "desktops", "servers" };

	(void)state;
	include_all();
	list_all("send");
	put_table();
	for (unsigned i = 0; i < 2; i++) {
		free(w.policy->share_class);
		w.policy->share_class = strdup(class[i]);
		counted_once(i + 1);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct arena *a = arena_new();
		struct fleet_request r = request(a);

		assert_string_equal(r.class, class[i]);
		assert_true(r.ngive == 1 && r.give[0].block[0].block == i + 1);
		assert_int_equal(r.nwant, i);
		w.fleet.under_way = true;
		answered(&q, "");
		assert_int_equal(waiting(), 1 - i);
		assert_true((w.fleet.next_ms <= w.now_ms() + 10000) == (i == 0));
		arena_free(a);
	}
	work_fleet_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_fits_is_kept),
		TEST(places_that_there_are_not_are_left_out),
		TEST(what_nobody_asked_for_is_nothing),
		TEST(what_nobody_asked_about_is_left_out),
		TEST(what_comes_again_is_left_out),
		TEST(what_is_told_does_not_come_again),
		TEST(no_answer_is_told),
		TEST(what_has_a_layout_waits_for_its_windows),
		TEST(a_first_layout_need_not_wait_for_own_samples),
		TEST(each_original_is_asked_for),
		TEST(a_copy_of_a_machine_is_another_one),
		TEST(who_shares_again_is_another_one),
		TEST(each_class_gets_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
