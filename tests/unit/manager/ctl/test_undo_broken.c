/* test_undo_broken.c - what is left of a generation that was destroyed, or deleted */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "lib/wr.h"
#include "manager/ctl/undo_names.h"
#include "tests/unit/manager/ctl/undoscene.h"

static void a_file_that_is_cut_off_is_broken(void **state)
{
	static const uint8_t zero[5000], script[] = "#!/bin/sh\n";
	struct digest d = { { 7 } };
	struct wr w = elf_naming(&d, 2);
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_offset = 64, .p_filesz = 100 };

	(void)state;
	assert_false(undo_is_broken(wr_bytes(&w)));
	for (uint64_t n = 0; n < w.n; n++) {
		uint8_t *cut = malloc(n + 1);

		memcpy(cut, w.p, n);
		/* a few bytes may be anybody's text */
		assert_int_equal(undo_is_broken((struct bytes){ cut, n }), !n || n >= SELFMAG);
		free(cut);
	}
	assert_true(undo_is_broken((struct bytes){ zero, sizeof(zero) }));
	assert_true(undo_is_broken((struct bytes){ zero, 1 }));
	assert_false(undo_is_broken((struct bytes){ script, sizeof(script) }));
	/* without sections all of the segments counts */
	memset(w.p + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	w.p[offsetof(Elf64_Ehdr, e_phoff)] = 64;
	w.p[offsetof(Elf64_Ehdr, e_phnum)] = 1;
	memcpy(w.p + 64, &ph, sizeof(ph));
	assert_false(undo_is_broken((struct bytes){ w.p, 164 }));
	assert_true(undo_is_broken((struct bytes){ w.p, 163 }));
	wr_free(&w);
}

static void what_is_left_of_a_destroyed_one_needs_force(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID], away[128];

	(void)state;
	enter(&p, &s, p.path, getuid());
	assert_int_equal(truncate(p.path, 150), 0);
	assert_refused(&s, p.path, "empty or cut off: neither the generation");
	assert_true(undo_file_is_broken(&s, p.path));
	/* in another folder at that path it is another one */
	(void)snprintf(away, sizeof(away), "%s/away", p.root);
	s.force = true;
	assert_int_equal(rename(p.dir, away), 0);
	assert_int_equal(mkdir(p.dir, 0755), 0);
	write_file(p.path, "", 0755);
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(rmdir(p.dir), 0);
	assert_int_equal(rename(away, p.dir), 0);
	s.dry_run = true;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_false(holds(p.path, &p.original));
	s.dry_run = false;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_true(holds(p.path, &p.original));
	assert_false(undo_file_is_broken(&s, p.path));
	/* nor is anything put over a whole file */
	write_file(p.path, "#!/bin/sh\n", 0755);
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_non_null(strstr(said, "another file is there now"));
	close(s.ledger_fd);
	place_free(&p);
}

static void another_users_broken_file_is_left_alone(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];

	(void)state;
	enter(&p, &s, p.path, getuid() + 1);
	assert_int_equal(truncate(p.path, 150), 0);
	s.force = true;
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	close(s.ledger_fd);
	place_free(&p);
}

/* Of two versions: the one whose generation was seen last. */
static void the_last_original_of_a_path_is_kept_when_it_is_gone(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char hex[65], want[65], command[160];
	struct digest first = p.original;

	(void)state;
	enter(&p, &s, p.path, getuid());
	(void)snprintf(command, sizeof(command), "touch -d @1000 '%s'/ledger/*", p.store);
	assert_int_equal(system(command), 0);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(undo_file_kept(&s, p.path, hex), 1);
	p.original.b[0] ^= 1;
	p.generation.b[0] ^= 1;
	enter(&p, &s, p.path, getuid());
	assert_int_equal(undo_file_kept(&s, p.path, hex), 0);	/* that is not there */
	digest_hex(&p.original, want);
	digest_hex(&first, hex);
	assert_int_equal(renameat(p.originals_fd, hex, p.originals_fd, want), 0);
	assert_int_equal(undo_file_kept(&s, p.path, hex), 1);
	assert_string_equal(hex, want);
	/* which was the last one is not known */
	(void)snprintf(command, sizeof(command), "touch -d @1000 '%s'/ledger/*", p.store);
	assert_int_equal(system(command), 0);
	assert_int_equal(undo_file_kept(&s, p.path, hex), 0);
	close(s.ledger_fd);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_cut_off_is_broken),
		cmocka_unit_test(what_is_left_of_a_destroyed_one_needs_force),
		cmocka_unit_test(another_users_broken_file_is_left_alone),
		cmocka_unit_test(the_last_original_of_a_path_is_kept_when_it_is_gone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
