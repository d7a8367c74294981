/* test_order.c - which files a swap opens, writes, syncs and renames, in which order
 *
 * What makes a swap durable cannot be seen without a power cut, but in the order of its system
 * calls: content is synced before it gets its name, a name before what relies on it.  And no
 * link is followed where somebody could have put one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/parent/install_back.h"
#include "manager/parent/originals.h"
#include "tests/unit/calls.h"
#include "tests/unit/place.h"

/* As long after as it takes for everything to go. */
static int do_sweep(void *ctx)
{
	const struct place *p = ctx;
	struct originals_swept swept;

	return originals_sweep(p->originals_fd, p->ledger_fd, (time_t)1 << 40, &swept, NULL);
}

static int do_open(void *ctx)
{
	const struct place *p = ctx;
	int originals = install_open_originals(p->store, NULL);
	int ledger = ledger_open(p->store, NULL);

	return originals >= 0 && ledger >= 0 ? 0 : -1;
}

/* Those lines of the text that change something, or all with `opens`. */
static void lines(const char *text, bool opens, char *out)
{
	for (const char *at = text; *at; ) {
		size_t n = strcspn(at, "\n") + 1;
		bool changes = strncmp(at, "open ", 5) != 0 ||
			       memmem(at, n, " create ", 8) != NULL;

		if (changes || opens) {
			memcpy(out, at, n);
			out += n;
		}
		at += n;
	}
	*out = '\0';
}

static void same(const struct calls *c, const char *want)
{
	static char got[sizeof(c->text)];

	lines(c->text, false, got);
	if (strcmp(got, want) != 0)
		fail_msg("\n--- is\n%s--- is to be\n%s", got, want);
}

/* What is opened by name is not led elsewhere, and not inherited by jobs. */
static void no_link_is_followed(const struct calls *c)
{
	static char text[sizeof(c->text)];

	lines(c->text, true, text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, "open ", 5) != 0)
			continue;
		/* "." and ".." cannot be links */
		char *path_end = strchr(line + 5, ' ');
		bool dots = path_end && path_end[-1] == '.';

		if (!dots && !strstr(line, "nofollow"))
			fail_msg("'%s' follows links", line);
		if (!strstr(line, "cloexec"))
			fail_msg("'%s' is inherited", line);
	}
}

#define JOURNAL								\
	"open store/originals/journal.new write create empty nofollow cloexec\n"	\
	"write store/originals/journal.new\n"				\
	"fsync store/originals/journal.new\n"				\
	"rename store/originals/journal.new store/originals/journal-?\n" \
	"fsync store/originals\n"

#define TEMPORARY							\
	"open bin/.morph-? write create new nofollow cloexec\n"		\
	"write bin/.morph-?\n"						\
	"chown bin/.morph-?\n"						\
	"chmod bin/.morph-?\n"						\
	"times bin/.morph-?\n"						\
	"fsync bin/.morph-?\n"

#define EXCHANGE							\
	"exchange bin/.morph-? bin/prog\n"				\
	"fsync bin\n"							\
	"unlink bin/.morph-?\n"						\
	"fsync bin\n"							\
	"unlink store/originals/journal-?\n"				\
	"fsync store/originals\n"

static void an_install_is_durable_at_every_step(void **state)
{
	static const char want[] =
		"unlink store/originals/original.new\n"
		"open store/originals/original.new write create new nofollow cloexec\n"
		"write store/originals/original.new\n"
		"fsync store/originals/original.new\n"
		"rename store/originals/original.new store/originals/DIGEST\n"
		"fsync store/originals\n"
		JOURNAL TEMPORARY
		"open store/ledger/entry.new write create empty nofollow cloexec\n"
		"write store/ledger/entry.new\n"
		"fsync store/ledger/entry.new\n"
		"rename store/ledger/entry.new store/ledger/DIGEST\n"
		"fsync store/ledger\n"
		EXCHANGE;
	static struct calls c;
	struct place p = place_new();

	(void)state;
	c.root = p.root;
	calls_record(&c, do_install, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, want);
	no_link_is_followed(&c);
	place_free(&p);
}

static void a_restore_is_durable_at_every_step(void **state)
{
	static struct calls c;
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	c.root = p.root;
	calls_record(&c, do_restore, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "times store/ledger\n" JOURNAL TEMPORARY EXCHANGE);
	no_link_is_followed(&c);
	place_free(&p);
}

/* All names are exchanged, and that is durable, before the old file loses one. */
static void several_names_are_durable_at_every_step(void **state)
{
	static struct calls c;
	struct place p = place_with_names();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	c.root = p.root;
	calls_record(&c, do_restore, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "times store/ledger\n" JOURNAL TEMPORARY
	     "link bin/.morph-? other/.morph-?\n"
	     "link bin/.morph-? bin/.morph-?\n"
	     "exchange bin/.morph-? bin/prog\n"
	     "exchange other/.morph-? other/third\n"
	     "exchange bin/.morph-? bin/twin\n"
	     "fsync bin\n"
	     "fsync other\n"
	     "unlink bin/.morph-?\n"
	     "unlink other/.morph-?\n"
	     "unlink bin/.morph-?\n"
	     "fsync bin\n"
	     "fsync other\n"
	     "unlink store/originals/journal-?\n"
	     "fsync store/originals\n");
	no_link_is_followed(&c);
	place_free(&p);
}

/* As the recovery leaves them: half of the names were exchanged. */
static void taking_back_is_durable_before_anything_goes(void **state)
{
	static struct calls c;
	struct place p = place_with_names();
	unsigned n = 0;
	struct injected i;

	(void)state;
	do		/* killed right after the first exchange */
		i = inject(FAULT_KILL_AFTER, ++n, do_install, &p);
	while (i.call != SYS_renameat2 && do_recover(&p) == 0);
	c.root = p.root;
	calls_record(&c, do_recover, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "exchange bin/.morph-? bin/prog\n"
		 "fsync bin\n"
		 "fsync other\n"
		 "fsync bin\n"
		 "unlink bin/.morph-?\n"
		 "unlink other/.morph-?\n"
		 "unlink bin/.morph-?\n"
		 "fsync bin\n"
		 "fsync other\n"
		 "fsync bin\n"
		 "unlink store/originals/journal-?\n"
		 "fsync store/originals\n");
	no_link_is_followed(&c);
	place_free(&p);
}

static int do_back(void *ctx)
{
	const struct place *p = ctx;
	struct back_request r = {
		.path = p->path, .expected = p->generation, .original = p->original,
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd,
	};
	enum back_how how;

	return install_back(&r, &how, NULL);
}

/* Without a journal: the temporary's name is known without. */
static void an_undo_is_durable_at_every_step(void **state)
{
	static struct calls c;
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	c.root = p.root;
	calls_record(&c, do_back, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, TEMPORARY
	     "exchange bin/.morph-? bin/prog\n"
	     "fsync bin\n"
	     "unlink bin/.morph-?\n"
	     "fsync bin\n");
	no_link_is_followed(&c);
	place_free(&p);
}

static void a_recovery_is_durable_at_every_step(void **state)
{
	static struct calls c;
	struct place p = place_new();
	unsigned n = 0;
	struct injected i;

	(void)state;
	do		/* killed right after the exchange */
		i = inject(FAULT_KILL_AFTER, ++n, do_install, &p);
	while (i.call != SYS_renameat2 && do_recover(&p) == 0);
	c.root = p.root;
	calls_record(&c, do_recover, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "unlink bin/.morph-?\n"
		 "fsync bin\n"
		 "unlink store/originals/journal-?\n"
		 "fsync store/originals\n");
	no_link_is_followed(&c);
	place_free(&p);
}

static void entries_go_before_originals(void **state)
{
	static struct calls c;
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	c.root = p.root;
	calls_record(&c, do_sweep, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "unlink store/ledger/DIGEST\n"
		 "fsync store/ledger\n"
		 "unlink store/originals/DIGEST\n"
		 "fsync store/originals\n");
	no_link_is_followed(&c);
	place_free(&p);
}

static void new_folders_are_durable(void **state)
{
	static struct calls c;
	struct place p = place_new();
	char command[256];

	(void)state;
	(void)snprintf(command, sizeof(command), "rmdir '%s/originals' '%s/ledger'", p.store,
		       p.store);
	assert_int_equal(system(command), 0);
	c.root = p.root;
	calls_record(&c, do_open, &p);
	assert_int_equal(c.exit_code, 0);
	same(&c, "fsync store\nfsync store\n");
	calls_record(&c, do_open, &p);
	same(&c, "");
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_install_is_durable_at_every_step),
		cmocka_unit_test(a_restore_is_durable_at_every_step),
		cmocka_unit_test(several_names_are_durable_at_every_step),
		cmocka_unit_test(taking_back_is_durable_before_anything_goes),
		cmocka_unit_test(an_undo_is_durable_at_every_step),
		cmocka_unit_test(a_recovery_is_durable_at_every_step),
		cmocka_unit_test(entries_go_before_originals),
		cmocka_unit_test(new_folders_are_durable),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
