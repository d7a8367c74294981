/* test_share.c - a module is laid out for what many do, and not for what one does; whose
 * processes are, as /proc tells it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/blocktable.h"
#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/samples/userset.h"
#include "policy/policy.h"
#include "policy/share.h"
#include "tests/unit/daemon.h"

enum { ANNA = 50001, BEN, CARA };

#define MODULES \
	"modules:\n  include: [\"@/*\"]\nidle:\n  check_s: 3600\n" \
	"optimize:\n  min_samples: 1\n"
static const char alone[] = MODULES;
static const char three[] = MODULES "users:\n  share_layouts: 3\n";
static const char agreed[] = MODULES "users:\n  share_layouts: 3\n  agreed: [\"50001\"]\n";
static const char given[] = MODULES
	"users:\n  share_layouts: 3\n  agreed: [\"50001\"]\n"
	"share:\n  conninfo: host=nowhere\n  send: [\"@/*\"]\n";
static const char by_rule[] = MODULES
	"rules:\n  - name: shared tools\n    paths: [\"@/shared*\"]\n    share_layouts: 3\n";

static uid_t asker(void)
{
	return geteuid() ? geteuid() : DAEMON_NOBODY;
}

/* A module of the asker, analysed. */
static struct store_module add_tool(struct daemon *d, const char *name)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, 0x1000 };
	static struct blocktable_fn fn = { 0x401000, 0x20, 0 };
	static struct blocktable_block block[] = { { 0, 16, 4, 0 }, { 16, 16, 4, 0 } };
	struct blocktable t = { .base = 0x401000, .text_size = 1 << 20, .nseg = 1, .nfn = 1,
				.nblock = 2, .seg = &seg, .fn = &fn, .block = block };
	struct store_module m = { 0 };
	struct wr table = { 0 };
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/%s", d->dir, name);
	daemon_write(path, "\177ELF");
	if (geteuid() == 0)
		assert_int_equal(chown(path, asker(), (gid_t)-1), 0);
	work_look(&d->m.work, path);
	assert_int_equal(store_module_by_path(d->m.work.store, path, &m, NULL), 1);
	t.original = m.original;
	blocktable_write(&t, &table);
	assert_int_equal(store_table_put(d->m.work.store, &m.original, wr_bytes(&table), NULL),
			 0);
	wr_free(&table);
	m.text_bytes = 1 << 20;
	assert_int_equal(store_module_put(d->m.work.store, &m, NULL), 0);
	return m;
}

/* Samples of that user, or (told: false) of whom nobody was asked about. */
static void ran(struct daemon *d, const struct store_module *m, uint32_t uid, uint32_t samples,
		bool told)
{
	static int serial;
	struct blockcount count[] = { { 1, samples } };
	struct attribute_module am = { .module = (uint64_t)m->id, .samples = samples,
				       .ncount = 1, .count = count };
	struct attribute_whose whose = { (uint64_t)m->id, uid, samples };
	struct attribution a = { .nmodule = 1, .module = &am, .nwhose = told, .whose = &whose };
	struct store_fading fading = { 1, 1e12, 600, 0 };
	char key[32];

	(void)snprintf(key, sizeof(key), "file %d", ++serial);
	assert_int_equal(store_add_attribution(d->m.work.store, key, &a, (struct bytes){ 0 },
					       &fading, NULL), 0);
}

/* What becomes of a request to lay it out: it comes as far as the job, or not. */
static bool is_laid_out(struct daemon *d, const struct store_module *m)
{
	const char *argv[] = { "reoptimize", m->path, "--dry-run" };
	int code;

	daemon_now_ms += 600000;
	char *text = daemon_ask(d, asker(), 3, argv, &code);
	bool yes = strstr(text, DAEMON_NO_JOB) != NULL;
	bool no = code == 3 && strstr(text, "users.share_layouts") != NULL;
	if (yes == no)
		fail_msg("%d: %.300s", code, text);
	free(text);
	return yes;
}

static void who_is_alone_is_not_asked(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, alone);
	struct store_module m = add_tool(&d, "tool");
	ran(&d, &m, ANNA, 1000, false);
	assert_true(is_laid_out(&d, &m));
	assert_false(d.m.work.asks_whose);
	daemon_close(&d);
}

static void the_use_of_one_does_not_show(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, three);
	assert_true(d.m.work.asks_whose);
	struct store_module m = add_tool(&d, "tool");
	ran(&d, &m, asker(), 100, true);
	assert_true(is_laid_out(&d, &m));	/* his own file, and only he runs it */
	ran(&d, &m, ANNA, 100, true);
	assert_false(is_laid_out(&d, &m));
	ran(&d, &m, BEN, 100, true);
	assert_true(is_laid_out(&d, &m));
	ran(&d, &m, USERSET_SYSTEM, 100000, true);
	assert_true(is_laid_out(&d, &m));
	ran(&d, &m, CARA, 5000, true);		/* now it is hers */
	assert_false(is_laid_out(&d, &m));
	daemon_close(&d);
}

static void who_has_agreed_may_show(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, agreed);
	struct store_module m = add_tool(&d, "tool");
	ran(&d, &m, ANNA, 1000, true);
	assert_true(is_laid_out(&d, &m));
	ran(&d, &m, BEN, 100, true);		/* he has not */
	assert_false(is_laid_out(&d, &m));
	daemon_close(&d);
}

/* What came before it was asked is of nobody who is known. */
static void what_came_before_is_of_nobody_who_is_known(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, three);
	struct store_module m = add_tool(&d, "tool");
	ran(&d, &m, ANNA, 10000, false);
	assert_false(is_laid_out(&d, &m));
	ran(&d, &m, ANNA, 300, true);
	ran(&d, &m, BEN, 300, true);
	ran(&d, &m, CARA, 300, true);
	assert_false(is_laid_out(&d, &m));
	for (int i = 0; i < 5; i++)		/* it fades */
		assert_int_equal(store_profile_fade(d.m.work.store, m.id, 0.5, NULL, NULL), 0);
	ran(&d, &m, ANNA, 300, true);
	ran(&d, &m, BEN, 300, true);
	ran(&d, &m, CARA, 300, true);
	assert_true(is_laid_out(&d, &m));
	daemon_close(&d);
}

static bool add_samples(void *ctx, const struct store_epoch *e)
{
	*(double *)ctx += store_profile_samples(&e->profile);
	return true;
}

/* Of so many samples more; how many wait for the fleet then. */
static double to_be_given(struct daemon *d, const struct store_module *m, uint32_t samples)
{
	struct blockcount count[] = { { 1, samples } };
	struct attribute_module am = { .module = (uint64_t)m->id, .samples = samples,
				       .ncount = 1, .count = count };
	struct attribution a = { .nmodule = 1, .module = &am };
	double sum = 0;

	work_fleet_seen(&d->m.work, &a);
	assert_int_equal(store_epoch_each(d->m.work.store, add_samples, &sum, NULL), 0);
	return sum;
}

/* It changes with who runs it, also when that has been asked before. */
static void a_fleet_is_not_told_either(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, given);
	struct store_module m = add_tool(&d, "tool");
	ran(&d, &m, ANNA, 100, true);
	assert_true(to_be_given(&d, &m, 100) == 0);
	ran(&d, &m, BEN, 100, true);
	ran(&d, &m, asker(), 100, true);
	assert_true(to_be_given(&d, &m, 30) == 30);
	ran(&d, &m, CARA, 5000, true);
	assert_true(to_be_given(&d, &m, 5000) == 30);
	daemon_close(&d);
}

static void a_rule_may_ask_for_more(void **state)
{
	struct daemon d;

	(void)state;
	daemon_open(&d, by_rule);
	assert_true(d.m.work.asks_whose);
	struct store_module m = add_tool(&d, "tool"), shared = add_tool(&d, "shared");
	ran(&d, &m, ANNA, 1000, true);
	ran(&d, &shared, ANNA, 1000, true);
	assert_true(is_laid_out(&d, &m));
	assert_false(is_laid_out(&d, &shared));
	daemon_close(&d);
}

/* Nor without being asked. */
static void the_daemon_does_not_either(void **state)
{
	struct daemon d;
	struct err err;
	struct store_use h;

	(void)state;
	daemon_open(&d, three);
	struct store_module m = add_tool(&d, "tool");
	struct policy *p = d.m.work.policy;
	p->automatic = 1;
	p->observe_first_h = p->min_gain_ppm = p->cool_down_h = 0;
	p->max_unseen_pct = 100;
	ran(&d, &m, ANNA, 1000000, true);
	assert_int_equal(work_judge(&d.m.work, &err), 0);
	assert_int_equal(store_use_get(d.m.work.store, m.id, &h, NULL), 0);
	assert_non_null(strstr(h.verdict, "too few people"));
	store_profile_free(&h.recent);
	p->share_layouts = 1;
	ran(&d, &m, ANNA, 1000000, true);
	assert_int_equal(work_judge(&d.m.work, &err), 1);
	daemon_close(&d);
}

/* --- whose a process is --- */

static void put_process(struct daemon *d, uint32_t pid, uint64_t began_ticks, uint32_t uid)
{
	char path[128], text[256];

	(void)snprintf(path, sizeof(path), "%s/nothing/proc/%u", d->dir, pid);
	(void)mkdir(d->nothing, 0755);
	(void)snprintf(text, sizeof(text), "%s/nothing/proc", d->dir);
	(void)mkdir(text, 0755);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/nothing/proc/%u/stat", d->dir, pid);
	(void)snprintf(text, sizeof(text), "%u (a) 1 (b) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 "
		       "20 0 1 0 %llu 1 1\n", pid, (unsigned long long)began_ticks);
	daemon_write(path, text);
	(void)snprintf(path, sizeof(path), "%s/nothing/proc/%u/status", d->dir, pid);
	(void)snprintf(text, sizeof(text), "Name:\ta\nUid:\t%u\t0\t0\t0\nGid:\t0\n", uid);
	daemon_write(path, text);
}

static uint64_t slept_ns(void)
{
	struct timespec boot, mono;

	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	(void)clock_gettime(CLOCK_MONOTONIC, &mono);
	return (uint64_t)(boot.tv_sec - mono.tv_sec) * 1000000000;
}

static void proc_tells_whose_a_process_is(void **state)
{
	const uint64_t second = 1000000000, hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t at = (100 + slept_ns() / second) * hz;
	struct daemon d;
	uint32_t uid = 7;

	(void)state;
	daemon_open(&d, three);
	put_process(&d, 10, at, 0);
	put_process(&d, 11, at, 33);
	put_process(&d, 12, at, 65534);
	put_process(&d, 13, at, 777777777);	/* has no account */
	for (uint32_t pid = 10; pid <= 12; pid++) {
		assert_int_equal(work_whose(&d.m.work, pid, 200 * second, &uid), 1);
		assert_int_equal(uid, USERSET_SYSTEM);
	}
	assert_int_equal(work_whose(&d.m.work, 13, 200 * second, &uid), 0);
	assert_int_equal(work_whose(&d.m.work, 14, 200 * second, &uid), -1);
	/* One that began after what was seen of it is another one. */
	assert_int_equal(work_whose(&d.m.work, 10, 50 * second, &uid), -1);
	/* A person: the first account that is one, if the machine has any. */
	setpwent();
	for (const struct passwd *pw; (pw = getpwent()); )
		if (pw->pw_uid >= 1000 && pw->pw_uid != 65534) {
			put_process(&d, 15, at, pw->pw_uid);
			uint32_t expected = pw->pw_uid;

			assert_int_equal(work_whose(&d.m.work, 15, 200 * second, &uid), 1);
			assert_int_equal(uid, expected);
			break;
		}
	endpwent();
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_alone_is_not_asked),
		cmocka_unit_test(who_has_agreed_may_show),
		cmocka_unit_test(the_use_of_one_does_not_show),
		cmocka_unit_test(what_came_before_is_of_nobody_who_is_known),
		cmocka_unit_test(a_fleet_is_not_told_either),
		cmocka_unit_test(a_rule_may_ask_for_more),
		cmocka_unit_test(the_daemon_does_not_either),
		cmocka_unit_test(proc_tells_whose_a_process_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
