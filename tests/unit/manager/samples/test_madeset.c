/* test_madeset.c - code made at run time: who is asked, and which answers are believed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "monitor/spool.h"

enum { ANNA = 1000 };

static char asked[4096];
static const char *says;

static void made(void *ctx, const struct madeset_question *q, struct madeset_answer *a)
{
	size_t n = strlen(asked);
	struct err err;

	(void)ctx;
	for (uint32_t i = 1; i < q->n; i++)
		assert_true(q->pc[i - 1] < q->pc[i]);
	(void)snprintf(asked + n, sizeof(asked) - n, "%u %s %s %u of %u at %u\n", q->pid,
		       q->program, *q->dump ? q->dump : "-", (unsigned)q->samples, q->n,
		       (unsigned)q->first_ns);
	if (!says)
		return;
	a->known = true;
	a->uid = ANNA;
	if (madeset_read_names((struct bytes){ (const uint8_t *)says, strlen(says) }, q->n, a,
			       &err) < 0)
		assert_int_equal(a->nname, 0);
}

static const struct attribute_resolver resolver = { .made = made };

struct scene {
	struct spaces *s;
	struct madeset m;
	struct attribution out;
};

static void map(struct scene *c, uint32_t pid, uint64_t addr, uint64_t inode, const char *path)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = 4096;
	ev.mmap.inode = inode;
	ev.mmap.path = path;
	spaces_event(c->s, &ev);
}

static struct scene begin(void)
{
	struct scene c = { .s = spaces_new(NULL) };

	map(&c, 10, 0x400000, 1, "/usr/bin/node");
	map(&c, 20, 0x400000, 2, "/usr/bin/java");
	asked[0] = '\0';
	says = NULL;
	return c;
}

static uint32_t file_of(const struct scene *c, const char *path)
{
	uint32_t i = 0;

	while (strcmp(spaces_file(c->s, i)->path, path) != 0)
		i++;
	return i;
}

static void sample(struct scene *c, uint32_t pid, uint64_t pc, int n)
{
	const char *path = pid == 20 ? "/usr/bin/java" : "/usr/bin/node";
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = pid, .tid = pid };

	ev.sample.pc = pc;
	for (int i = 0; i < n; i++)
		madeset_add(&c->m, &ev, file_of(c, path), path, 7 + (uint64_t)i);
}

static void ends(struct scene *c, uint32_t pid, uint32_t tid, enum spool_kind kind)
{
	const struct spool_event ev = { .kind = kind, .pid = pid, .tid = tid };

	madeset_event(&c->m, &ev);
}

/* Program, name, user, samples: a line each. */
static void expect(struct scene *c, uint64_t all, const char *want)
{
	char got[4096] = "";

	madeset_resolve(&c->m, c->s, &resolver, all, &c->out);
	for (uint32_t i = 0; i < c->out.nmade; i++) {
		const struct attribute_made *m = &c->out.made[i];
		size_t n = strlen(got);

		(void)snprintf(got + n, sizeof(got) - n, "%s|%s|%d|%u\n", m->program, m->name,
			       (int)m->uid, (unsigned)m->samples);
	}
	assert_string_equal(got, want);
	attribution_free(&c->out);
	madeset_clear(&c->m);
	spaces_free(c->s);
}

#define FUNCTION(name) "function\t0x0\t0\t" name "\n"
#define FRAME(name) "frame\t0\t\t" name "\n"
#define PLACE(which) "place\t0x0\t0x0\t" which "\n"

static void places_have_the_names_that_are_told(void **state)
{
	struct scene c = begin();

	(void)state;
	sample(&c, 10, 0x7000, 2);
	sample(&c, 10, 0x9000, 1);
	sample(&c, 10, 0x8000, 3);
	sample(&c, 10, 0x7000, 4);
	says = FUNCTION("run") FRAME("run") PLACE("0") FRAME("run") PLACE("0") PLACE("-");
	expect(&c, 10, "/usr/bin/node|run|1000|9\n/usr/bin/node||1000|1\n");
	assert_string_equal(asked, "10 /usr/bin/node - 10 of 3 at 7\n");
}

static void who_has_most_is_asked_first(void **state)
{
	struct scene c = begin();

	(void)state;
	sample(&c, 10, 0x7000, 2);
	sample(&c, 20, 0x7000, 5);
	map(&c, 20, 0x500000, 3, "/home/anna/.debug/jit-20.dump");
	map(&c, 10, 0x500000, 4, "/home/anna/.debug/jit-20.dump.old");
	expect(&c, 9, "/usr/bin/java||-1|5\n/usr/bin/node||-1|2\n||-1|2\n");
	assert_string_equal(asked, "20 /usr/bin/java /home/anna/.debug/jit-20.dump 5 of 1 at "
			    "7\n10 /usr/bin/node - 2 of 1 at 7\n");
}

static void who_is_over_is_not_asked(void **state)
{
	struct scene c = begin();

	(void)state;
	sample(&c, 10, 0x7000, 2);
	ends(&c, 10, 11, SPOOL_EXIT);		/* a thread */
	sample(&c, 10, 0x7000, 1);
	ends(&c, 10, 10, SPOOL_EXEC);
	sample(&c, 10, 0x7000, 1);
	sample(&c, 20, 0x7000, 8);
	ends(&c, 20, 20, SPOOL_EXIT);
	says = FUNCTION("new") FRAME("new") PLACE("0");
	expect(&c, 12, "/usr/bin/java||-1|8\n/usr/bin/node||-1|3\n/usr/bin/node|new|1000|1\n");
	assert_string_equal(asked, "10 /usr/bin/node - 1 of 1 at 7\n");
}

static void an_answer_that_is_malformed_names_nothing(void **state)
{
	static const char *const bad[] = {
		"", "nonsense\n", FUNCTION("a") PLACE("0"), PLACE("0") PLACE("-"),
		FUNCTION("a") PLACE("1") PLACE("-"), FUNCTION("a") PLACE("-1") PLACE("-"),
		FUNCTION("a") PLACE("4294967295") PLACE("-"),
		FUNCTION("") PLACE("-") PLACE("-"),
		FUNCTION("a\033[31m") PLACE("0") PLACE("-"),
		FUNCTION("\xff") PLACE("0") PLACE("-"),
		PLACE("-") PLACE("-") PLACE("-"), FUNCTION("a") PLACE("0") "place\t0x0\t0x0\t-",
		FUNCTION("a") FUNCTION("b") FUNCTION("c") PLACE("0") PLACE("1"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scene c = begin();

		sample(&c, 10, 0x7000, 1);
		sample(&c, 10, 0x8000, 1);
		says = bad[i];
		expect(&c, 2, "/usr/bin/node||1000|2\n");
	}
}

static void a_name_is_cut(void **state)
{
	char longer[1024] = "function\t0x0\t0\t", *at = longer + strlen(longer);
	struct madeset_answer a = { 0 };
	struct err err;

	(void)state;
	memset(at, 'n', 600);
	strcpy(at + 600, "\n" PLACE("0"));
	assert_int_equal(madeset_read_names((struct bytes){ (const uint8_t *)longer,
							    strlen(longer) }, 1, &a, &err), 0);
	assert_int_equal(strlen(a.name[0]), 255);
	madeset_answer_free(&a);
}

static void what_has_no_room_has_no_name(void **state)
{
	struct scene c = begin();
	uint64_t unnamed = 0;

	(void)state;
	for (uint32_t pid = 100; pid < 100 + MADESET_MAKERS + 6; pid++)
		sample(&c, pid, 0x7000, 1);
	for (uint64_t pc = 0; pc < 200000; pc++)	/* more places than are kept */
		sample(&c, 100, 0x10000 + pc, 1);
	madeset_resolve(&c.m, c.s, &resolver, 200000 + MADESET_MAKERS + 6, &c.out);
	assert_int_equal(c.out.nmade, MADESET_MAKERS + 1);
	assert_int_equal(c.out.made[0].samples, 200001);
	for (uint32_t i = 0; i < c.out.nmade; i++)
		unnamed += c.out.made[i].samples;
	assert_int_equal(unnamed, 200000 + MADESET_MAKERS + 6);
	attribution_free(&c.out);
	madeset_clear(&c.m);
	spaces_free(c.s);
}

static void the_names_with_most_samples_are_kept(void **state)
{
	char text[40000] = "", line[64];
	struct scene c = begin();
	uint64_t named = 0;

	(void)state;
	for (int i = 0; i < MADESET_NAMES + 4; i++) {
		(void)snprintf(line, sizeof(line), FUNCTION("f%d") PLACE("%d"), i, i);
		strcat(text, line);
		sample(&c, 10, 0x7000 + (uint64_t)i, i < 4 ? 1 : 2);
	}
	says = text;
	madeset_resolve(&c.m, c.s, &resolver, 4 + 2 * MADESET_NAMES, &c.out);
	assert_int_equal(c.out.nmade, MADESET_NAMES + 1);
	for (uint32_t i = 0; i < MADESET_NAMES; i++)
		named += c.out.made[i].samples;
	assert_int_equal(named, 2 * MADESET_NAMES);
	assert_string_equal(c.out.made[MADESET_NAMES].name, "");
	assert_int_equal(c.out.made[MADESET_NAMES].samples, 4);
	attribution_free(&c.out);
	madeset_clear(&c.m);
	spaces_free(c.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_have_the_names_that_are_told),
		cmocka_unit_test(who_has_most_is_asked_first),
		cmocka_unit_test(who_is_over_is_not_asked),
		cmocka_unit_test(an_answer_that_is_malformed_names_nothing),
		cmocka_unit_test(a_name_is_cut),
		cmocka_unit_test(what_has_no_room_has_no_name),
		cmocka_unit_test(the_names_with_most_samples_are_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
