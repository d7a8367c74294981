/* test_access.c - what the commands tell a user who owns nothing: nothing of others
 *
 * Every command of the table is asked, through the Manager's own loop.  In the store, the
 * policy and the notes are programs of somebody else whose paths all hold SECRET.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/control/command.h"
#include "manager/samples/attribute.h"
#include "manager/samples/userset.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "tests/unit/daemon.h"

#define SECRET "geheim"
#define HIS "/home/bob/" SECRET "/tool"
#define NONE "/home/bob/nichts/tool"		/* as long, and not known */
#define LAST "other-" SECRET

enum { BOB = 64055 };

static const char policy[] =
	"modules:\n"
	"  include: [\"@/*\", \"/home/bob/" SECRET "/*\"]\n"
	"  exclude: [\"/home/bob/" SECRET "/.*\"]\n"
	"idle:\n  check_s: 3600\n"
	"rules:\n"
	"  - name: of " SECRET "\n"
	"    paths: [\"/home/bob/" SECRET "/*\"]\n"
	"    refuse: true\n";

/* Who asks: not root, and nobody whom the daemon trusts. */
static uid_t asker(void)
{
	return geteuid() ? geteuid() : DAEMON_NOBODY;
}

static int64_t add_module(struct daemon *d, const char *path, uint32_t owner)
{
	/* not analysed: so nothing asks for its procedures */
	struct store_module m = { .owner = owner };
	struct err err;

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	memset(m.original.b, (int)strlen(path), sizeof(m.original.b));
	memcpy(m.original.b, path + strlen(path) - 4, 4);
	m.present = m.original;
	if (store_module_put(d->m.work.store, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m.id;
}

static void add_samples(struct daemon *d, int64_t module, uint32_t samples, const char *key)
{
	struct blockcount count[] = { { 3, samples } };
	struct attribute_module m = { .module = (uint64_t)module, .samples = samples,
				      .outside = 7, .ncount = 1, .count = count };
	struct attribution a = { .nmodule = 1, .module = &m };
	struct store_fading fading = { 1, 3600, 600, 0 };
	struct err err;

	for (int i = 0; i < NCOUNTER; i++)
		a.counter[i] = samples;
	attribution_made(&a, "/home/bob/" SECRET "/jit", SECRET "_made", BOB, samples);
	attribution_made(&a, HIS, SECRET "_made", asker(), samples);
	topnames_add(&a.kernel, "read_" SECRET, samples);
	usersums_add(&a.user, BOB, samples);
	usersums_add(&a.user, USERSET_SYSTEM, samples);
	usersums_add(&a.user, USERSET_UNKNOWN, samples);
	const uint32_t hour = (uint32_t)(store_now_ns() / UINT64_C(3600000000000));
	const struct attribute_ran in_it = { hour, NULL, module, samples },
				   in_kernel = { hour, NULL, -COUNTER_KERNEL, samples };
	attribution_ran(&a, HIS, &in_it);
	attribution_ran(&a, "/usr/bin/" SECRET, &in_it);
	attribution_ran(&a, "", &in_kernel);
	if (store_add_attribution(d->m.work.store, key, &a, (struct bytes){ 0 }, &fading,
				  &err) < 0)
		fail_msg("%s", err.text);
	topnames_free(&a.kernel);
	for (uint32_t i = 0; i < a.nmade; i++) {
		free(a.made[i].program);
		free(a.made[i].name);
	}
	free(a.made);
	usersums_free(&a.user);
	for (uint32_t i = 0; i < a.nran; i++)
		free(a.ran[i].program);
	free(a.ran);
}

static int64_t his;

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
/* A process of his program, one of theirs, and what somebody has mapped by hand. */
static const char processes[] = "7000001 5 64055 " DIGEST " " DIGEST " " HIS "\n"
				"7000002 6 64055 " DIGEST "\n";

/* Somebody else's programs, busy and named wherever something can be named. */
static void others_are_busy(struct daemon *d, uint32_t samples, const char *key)
{
	struct store *s = d->m.work.store;
	struct err err;

	add_samples(d, his, samples, key);
	assert_int_equal(store_use_begin(s, his, "worth it for " SECRET, &err), 0);
	for (int i = 0; i < 1500; i++)		/* more than are shown */
		assert_int_equal(store_history_add(s, HIS, "installed", "of " SECRET, &err), 0);
	const struct store_measured speed = { his, 1, 0, STORE_BY_RUNS, 0,
					      { -0.3, -0.4, -0.2 } };
	const struct store_used used = { 1, false, STORE_KIND_OBSERVED, samples, 5, 0 },
				other = { 1, false, STORE_KIND_OTHER, samples, 5, 0 };
	assert_int_equal(store_measured_put(s, &speed, &err), 0);
	assert_int_equal(store_used_add(s, his, store_now_ns(), &used, &err), 0);
	assert_int_equal(store_used_add(s, his, store_now_ns(), &other, &err), 0);
	for (int i = 0; i < STORE_NOWN; i++)
		assert_int_equal(store_own_add(s, (enum store_own)i, store_now_ns(), samples,
					       &err), 0);
	const struct store_cost cost = { his, BOB, samples / 10.0, samples };
	assert_int_equal(store_spent_add(s, &cost, store_now_ns(), &err), 0);
	(void)snprintf(d->m.work.registers_why, sizeof(d->m.work.registers_why),
		       "on: " HIS " has %u samples", samples);
	(void)snprintf(d->m.work.policy_trouble, sizeof(d->m.work.policy_trouble),
		       "'" HIS "' is no setting");
	(void)snprintf(d->m.work.note, sizeof(d->m.work.note), "'" HIS "': %u", samples);
	d->m.ask.roles.num[MSG_ROLES_monitor_pid] = 1;
	d->m.ask.roles.num[MSG_ROLES_job_pid] = samples > 1000 ? 1 : 0;
	d->m.ask.counts.type = MSG_COUNTS;
	for (int i = 0; i < MSG_MAX_NUM; i++)
		d->m.ask.counts.num[i] = samples;
	d->m.ask.counts.num[MSG_MONITOR_COUNTS_branches_hz] = 10;	/* the machine's */
	/* none at first: a table that is there tells that there is something */
	d->live_list = samples > 1000 ? processes : NULL;
	assert_int_equal(work_live_look(&d->m.work), 0);
}

static void begin(struct daemon *d)
{
	daemon_open(d, policy);
	his = add_module(d, HIS, BOB);
	add_module(d, "/home/carol/" LAST, BOB + 1);
	others_are_busy(d, 1000, "first");
}

enum { MOST_ARGS = 4 };
#define MONTH "2592000000000000"		/* where thirty days of UTC begin */

/* At least one line for every command; a new one needs a line here, and with it a decision. */
static const char *const asked[][MOST_ARGS] = {
	{ "status" }, { "sync" }, { "list" }, { "history" }, { "history", "@" }, { "policy" },
	{ "rule", "@" }, { "reload" }, { "pause" }, { "resume" }, { "report" },
	{ "report", "[kernel]" }, { "report", "--by=user" }, { "report", "--by=machine" },
	{ "report", "--by=module" }, { "report", "--by=procedure" },
	{ "report", "--by=program" }, { "report", "@", "--by=program" },
	{ "report", "--by=module", "--since=" MONTH }, { "report", "--by=module", "--since=1" },
	{ "report", "--by=machine", "--until=" MONTH }, { "report", "--since=" MONTH },
	{ "report", "--by=program", "--since=" MONTH },
	{ "report", "@" }, { "report", "tool" },
	{ "report", "@", "--limit=9" },
	{ "annotate", "@", "main" }, { "annotate", "tool", "main" }, { "cfg", "@", "main" },
	{ "cfg", "tool", "main" }, { "explain", "@" },
	{ "explain", "tool" }, { "reoptimize", "@" }, { "reoptimize", "@", "--dry-run" },
	{ "reoptimize", "@", "--wait" }, { "keep", "@", "morph-profile 2" },
	{ "restore", "@" }, { "restore", "@", "--force" },
	{ "restore", "@", "--dry-run" }, { "restore", "--all", "--dry-run" },
	{ "restore", "--all" }, { "verify", "@" }, { "verify", "--all" }, { "verify", "tool" },
	{ "overview" }, { "saved" }, { "saved", "--since=1" }, { "checksums" }, { "look" },
	{ "share" }, { "share", "now" },
	{ "report-bug", "@" }, { "report-bug", "tool" },
};
enum { NASKED = sizeof(asked) / sizeof(asked[0]) };

/* The answer, with `path` in the place of @. */
static char *ask(struct daemon *d, int line, const char *path, int *code)
{
	const char *argv[MOST_ARGS];
	int argc = 0;

	for (; argc < MOST_ARGS && asked[line][argc]; argc++)
		argv[argc] = strcmp(asked[line][argc], "@") == 0 ? path : asked[line][argc];
	daemon_now_ms += 60000;			/* as much as he may ask */
	return daemon_ask(d, asker(), argc, argv, code);
}

static void every_command_has_been_decided_about(void **state)
{
	const struct command *c;

	(void)state;
	for (size_t i = 0; (c = command_at(i)); i++) {
		bool found = false;

		for (int k = 0; k < NASKED; k++)
			found = found || strcmp(asked[k][0], c->name) == 0;
		if (!found)
			fail_msg("%s: not asked as a user who owns nothing", c->name);
	}
}

static void no_path_of_others_is_told(void **state)
{
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NASKED; i++) {
			char *text = ask(&d, i, NONE, &code);

			if (strstr(text, SECRET) || strstr(text, "bob/" SECRET))
				fail_msg("%s %s: %.300s", asked[i][0],
					 asked[i][1] ? asked[i][1] : "", text);
			free(text);
		}
		d.sync_error = "monitor: '" HIS "' is too much";	/* once more with it */
	}
	daemon_close(&d);
}

static void nothing_changes_when_others_are_busy(void **state)
{
	char *before[NASKED];
	struct daemon d;
	int code[NASKED], again;

	(void)state;
	begin(&d);
	for (int i = 0; i < NASKED; i++)
		before[i] = ask(&d, i, NONE, &code[i]);
	others_are_busy(&d, 77777, "second");
	add_module(&d, "/home/dora/" SECRET "/tool", BOB + 2);
	for (int i = 0; i < NASKED; i++) {
		char *after = ask(&d, i, NONE, &again);

		if (strcmp(before[i], after) != 0)
			fail_msg("%s: %.300s", asked[i][0], after);
		assert_int_equal(again, code[i]);
		free(after);
		free(before[i]);
	}
	daemon_close(&d);
}

/* Known or not, and whose: the same words and the same code. */
static void what_is_known_is_answered_as_what_is_not(void **state)
{
	struct daemon d;
	int known, unknown;

	(void)state;
	begin(&d);
	for (int i = 0; i < NASKED; i++) {
		char *of_his = ask(&d, i, HIS, &known), *of_none = ask(&d, i, NONE, &unknown);
		unsigned opened = d.opened;

		for (char *at; (at = strstr(of_none, "nichts")); )
			memcpy(at, SECRET, strlen(SECRET));
		assert_string_equal(of_his, of_none);
		assert_int_equal(known, unknown);
		assert_int_equal(opened, 0);	/* nor is anything looked at for him */
		free(of_his);
		free(of_none);
	}
	daemon_close(&d);
}

static void his_own_is_told_as_if_he_were_alone(void **state)
{
	static const char *const list[] = { "list" }, *const report[] = { "report" };
	static const char *const history[] = { "history" },
				 *const named[] = { "report", "tool" };
	char own[] = "/home/asker/tool";
	struct daemon d;
	struct err err;
	int code;

	(void)state;
	begin(&d);
	int64_t id = add_module(&d, own, asker());
	add_samples(&d, id, 93, "his own");
	assert_int_equal(store_history_add(d.m.work.store, own, "installed", "old", &err), 0);
	others_are_busy(&d, 5, "third");		/* 1500 events after his */
	char *text = daemon_ask(&d, asker(), 1, list, &code);
	assert_non_null(strstr(text, own));
	assert_null(strstr(text, SECRET));
	free(text);
	daemon_now_ms += 60000;
	text = daemon_ask(&d, asker(), 1, history, &code);
	assert_non_null(strstr(text, own));	/* not pushed out by what others do */
	free(text);
	daemon_now_ms += 60000;
	text = daemon_ask(&d, asker(), 1, report, &code);
	assert_null(strstr(text, SECRET));
	assert_non_null(strstr(text, "/home/asker/tool\t100.000000\t100.000000\t"));
	free(text);
	daemon_now_ms += 60000;
	/* His is the only one of that name, to him. */
	text = daemon_ask(&d, asker(), 2, named, &code);
	assert_null(strstr(text, "several"));
	assert_null(strstr(text, "that is yours"));
	free(text);
	daemon_close(&d);
}

static void running_processes_are_told_to_whose_the_program_is(void **state)
{
	static const char *const status[] = { "status" };
	static const char own[] = "/home/asker/tool";
	char list[512];
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	add_module(&d, own, asker());
	(void)snprintf(list, sizeof(list), "%s7000003 7 64055 " DIGEST " " DIGEST " %s\n",
		       processes, own);
	d.live_list = list;
	assert_int_equal(work_live_look(&d.m.work), 0);
	char *text = daemon_ask(&d, asker(), 1, status, &code);
	assert_non_null(strstr(text, own));
	assert_null(strstr(text, SECRET));
	assert_null(strstr(text, "7000002"));
	free(text);
	d.m.work.policy->see_others = 1;
	daemon_now_ms += 60000;
	text = daemon_ask(&d, asker(), 1, status, &code);
	assert_non_null(strstr(text, HIS));
	free(text);
	daemon_close(&d);
}

static void who_may_see_others_is_told(void **state)
{
	static const char *const words[][1] = { { "status" }, { "list" }, { "history" },
						{ "policy" }, { "saved" } };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	struct policy *p = d.m.work.policy;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		daemon_now_ms += 60000;
		p->see_others = 1;
		char *text = daemon_ask(&d, asker(), 1, words[i], &code);
		assert_non_null(strstr(text, SECRET));
		free(text);
	}
	daemon_close(&d);
}

/* Row by row; NULL behind a name: the value depends on the machine or the time. */
static void status_tells_root_all(void **state)
{
	static const char *const row[][2] = {
		{ "sampling", "on" }, { "clock", "not known yet" },
		{ "branch stacks", "up to 10 a second on each CPU; 1000 so far, 1000 private" },
		{ "registers", "on: " HIS " has 1000 samples" },
		{ "spool", "0 files, 0 B" }, { "manager up", NULL }, { "policy", NULL },
		{ "WRONG POLICY", "'" HIS "' is no setting" }, { "store", NULL },
		{ "crash watch", "not known yet" }, { "job namespaces", NULL },
		{ "attributes trusted.*", NULL }, { "automatic", "no" },
		{ "spent in 24 h", "0.0 of 600 s of CPU time, 0 of 2048 MiB written" },
		{ "job", "none" }, { "last trouble", "'" HIS "': 1000" },
	};
	static const char *const status[] = { "status" };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	char *text = daemon_ask(&d, 0, 1, status, &code), *end = NULL;
	char *at = strstr(text, "table status\n");
	assert_non_null(at);
	(void)strtok_r(at, "\n", &end);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char *line = strtok_r(NULL, "\n", &end);
		size_t name = strlen(row[i][0]), value = row[i][1] ? strlen(row[i][1]) : 0;

		if (!line || strncmp(line, row[i][0], name) != 0 || line[name] != '\t')
			fail_msg("not '%s' but '%s'", row[i][0], line ? line : "nothing");
		if (row[i][1] && (strncmp(line + name + 1, row[i][1], value) != 0 ||
				  line[name + 1 + value] != '\t'))
			fail_msg("%s", line);
	}
	assert_string_equal(strtok_r(NULL, "\n", &end), "table values");
	free(text);
	daemon_close(&d);
}

/* As somebody who owns nothing and as one who may see all: the same question
 * does not need more each time; what grows now and then is a cache of the database. */
static bool is_allowed(struct daemon *d, const char *path)
{
	const char *argv[] = { "rule", path, NULL };
	int code;
	char *text = daemon_ask(d, geteuid(), 2, argv, &code);
	const char *cell = strstr(text, path);

	if (!cell)
		fail_msg("%s", text);
	bool yes = cell[strlen(path) + 1] == '1';
	free(text);
	return yes;
}

static void a_rule_allows_what_is_a_module_and_not_refused(void **state)
{
	struct daemon d;
	char path[96];

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	(void)snprintf(path, sizeof(path), "%s/program", d.dir);
	assert_true(is_allowed(&d, path));
	assert_false(is_allowed(&d, HIS));		/* by its rule */
	assert_false(is_allowed(&d, NONE));		/* no module */
	daemon_close(&d);
}

static void status_says_when_there_is_no_room(void **state)
{
	const char *argv[] = { "status" };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	char *text = daemon_ask(&d, geteuid(), 1, argv, &code);
	assert_null(strstr(text, "NO ROOM"));
	free(text);
	int spool = d.m.work.spool_dir;
	d.m.work.spool_dir = -1;		/* so it is as it was */
	(void)snprintf(d.m.work.no_room, sizeof(d.m.work.no_room), "3 MiB left");
	text = daemon_ask(&d, geteuid(), 1, argv, &code);
	assert_non_null(strstr(text, "NO ROOM"));
	assert_non_null(strstr(text, "3 MiB left"));
	free(text);
	d.m.work.spool_dir = spool;
	daemon_close(&d);
}

/* Of what went wrong, and of what is off. */
static void problems_are_told_first(void **state)
{
	static const char off[] = "warning\tsampling\toff: the daemon was started with "
				  "--no-monitor\t\n";
	static const char *const status[] = { "status" };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	char *text = daemon_ask(&d, 0, 1, status, &code);
	assert_null(strstr(text, off));
	assert_null(strstr(text, "warning\tmanager\t"));
	free(text);
	d.options.no_monitor = true;
	d.m.ask.roles.num[MSG_ROLES_manager_starts] = 3;
	text = daemon_ask(&d, 0, 1, status, &code);
	assert_non_null(strstr(text, off));
	assert_non_null(strstr(text, "warning\tmanager\tit has ended by itself 2 times since"));
	assert_true(strncmp(text, "table problems\n", 15) == 0);
	free(text);
	daemon_close(&d);
}

static void answers_leave_no_memory_behind(void **state)
{
	enum { ROUNDS = 16 };	/* a cache of eight is full by then */
	struct daemon d;
	int code;

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	for (int i = 0; i < NASKED; i++) {
		size_t used[ROUNDS];

		for (int round = 0; round < ROUNDS; round++) {
			const char *argv[MOST_ARGS];
			char *text = ask(&d, i, HIS, &code);
			int argc = 0;

			free(text);
			for (; argc < MOST_ARGS && asked[i][argc]; argc++)
				argv[argc] = strcmp(asked[i][argc], "@") == 0 ? HIS
									     : asked[i][argc];
			text = daemon_ask(&d, 0, argc, argv, &code);
			free(text);
			used[round] = mallinfo2().uordblks;
		}
		const size_t *last = &used[ROUNDS - 1];
		if (last[0] > last[-1] && last[-1] > last[-2] && last[-2] > last[-3])
			fail_msg("%s: %zu bytes more each time", asked[i][0],
				 last[0] - last[-1]);
	}
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_has_been_decided_about),
		cmocka_unit_test(no_path_of_others_is_told),
		cmocka_unit_test(nothing_changes_when_others_are_busy),
		cmocka_unit_test(running_processes_are_told_to_whose_the_program_is),
		cmocka_unit_test(what_is_known_is_answered_as_what_is_not),
		cmocka_unit_test(his_own_is_told_as_if_he_were_alone),
		cmocka_unit_test(who_may_see_others_is_told),
		cmocka_unit_test(status_tells_root_all),
		cmocka_unit_test(a_rule_allows_what_is_a_module_and_not_refused),
		cmocka_unit_test(status_says_when_there_is_no_room),
		cmocka_unit_test(problems_are_told_first),
		cmocka_unit_test(answers_leave_no_memory_behind),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
