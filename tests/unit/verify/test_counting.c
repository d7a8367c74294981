/* test_counting.c - a counting generation that does anything but count besides is refused
 *
 * tests/asm/counting.s has places at which flags are live, or are not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/instrument/instrument.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"
#include "verify/parts.h"

#define PROGRAM "-static -no-pie -Wl,-e,begin"
static const char program[] = PROGRAM;
static const char library[] = "-shared -Wl,-init,begin";
enum { START_SIZE = 85, COUNTER_SIZE = 7 };

struct made {
	struct arena *a;
	struct bytes original;
	struct wr generation, counts;
	struct image img;		/* of the generation */
	struct blockmap map;
	const Elf64_Phdr *counters;
};

static struct made make_at(const char *flags, uint64_t text_at)
{
	struct instrument_options o = { .original = "/o", .counts = "", .is_private = true,
					.text_at = text_at };
	struct made m = { .a = arena_new() };
	struct instrument_stats stats;
	struct err err;

	m.original = asm_build("counting", flags, m.a);
	if (edit_instrument(m.original, &o, m.a, &m.generation, &m.counts, &stats, &err) < 0 ||
	    image_parse(wr_bytes(&m.generation), m.a, &m.img, &err) < 0)
		fail_msg("%s", err.text);
	const struct section *s = image_section(&m.img, ".morph.map");
	struct bytes map = bytes_at(m.img.file, s->h.sh_offset, s->h.sh_size);
	if (blockmap_read(map, &m.map, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < m.img.nph; i++)
		if (m.img.ph[i].p_type == PT_LOAD && m.img.ph[i].p_filesz == 0)
			m.counters = &m.img.ph[i];
	assert_non_null(m.counters);
	return m;
}

static struct made make(const char *flags)
{
	return make_at(flags, 0);
}

static void done(struct made *m)
{
	blockmap_free(&m->map);
	wr_free(&m->generation);
	wr_free(&m->counts);
	arena_free(m->a);
}

/* NULL when it is accepted, else the refusal, until the next call. */
static const char *refusal(struct made *m)
{
	static struct err err;
	struct verify_stats stats;
	struct arena *a = arena_new();
	int rc = verify_counting_generation(m->original, wr_bytes(&m->generation), a, &stats,
					    &err);

	arena_free(a);
	return rc < 0 ? err.text : NULL;
}

static void expect(struct made *m, const char *why)
{
	const char *got = refusal(m);

	if (!why && got)
		fail_msg("refused: %s", got);
	if (why && (!got || !strstr(got, why)))
		fail_msg("not refused because '%s': %s", why, got ? got : "accepted");
}

static uint8_t *at(struct made *m, new_vaddr addr)
{
	struct bytes b = image_rest(&m->img, addr);

	assert_non_null(b.p);
	return m->generation.p + (b.p - m->img.file.p);
}

static void right_ones_are_accepted(void **state)
{
	const char *const flags[] = { program, library, "-static-pie -Wl,-e,begin" };
	struct verify_stats stats;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct made m = make(flags[i]);

		expect(&m, NULL);
		assert_int_equal(verify_generation(m.original, wr_bytes(&m.generation), m.a,
						   &stats, &err), -1);
		assert_non_null(strstr(err.text, "it counts what it does besides"));
		done(&m);
	}
}

/* Its counters come first of what is new. */
static void one_for_running_processes_is_asked_for(void **state)
{
	enum { AT = 0x4000000 };
	struct made m = make_at(PROGRAM " -Wl,-z,separate-code", AT);
	struct bytes g = wr_bytes(&m.generation);
	struct verify_stats s = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(verify_live_generation(m.original, g, m.a, &s, &err), -1);
	assert_non_null(strstr(err.text, "it counts what it does besides"));
	assert_int_equal(verify_counting_generation(m.original, g, m.a, &s, &err), -1);
	assert_non_null(strstr(err.text, "may find no room"));
	if (verify_live_counting_generation(m.original, g, m.a, &s, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.nfresh, 3);
	assert_true(s.fresh[0].counters && !s.fresh[0].exec && s.fresh[0].addr == AT);
	assert_int_equal(s.fresh[0].size, m.counters->p_memsz);
	assert_true(s.fresh[1].exec && !s.fresh[1].counters && !s.fresh[2].counters);
	done(&m);
}

static new_vaddr start_of(struct made *m, bool is_library)
{
	uint64_t start = m->img.eh.e_entry;

	assert_true(!is_library || image_dynamic(&m->img, DT_INIT, &start));
	return start;
}

/* Each bit of the code that runs first. */
static void the_start_does_nothing_else(void **state)
{
	(void)state;
	for (int lib = 0; lib < 2; lib++) {
		struct made m = make(lib ? library : program);
		uint8_t *p = at(&m, start_of(&m, lib));

		for (int i = 0; i < START_SIZE; i++) {
			for (int bit = 0; bit < 8; bit++) {
				p[i] ^= (uint8_t)(1 << bit);
				expect(&m, "what runs first");
				p[i] ^= (uint8_t)(1 << bit);
			}
		}
		expect(&m, NULL);
		done(&m);
	}
}

static void it_is_where_the_program_begins(void **state)
{
	struct made m = make(program);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)m.generation.p;

	(void)state;
	eh->e_entry--;
	expect(&m, "what runs first");
	memcpy(&eh->e_entry, m.original.p + offsetof(Elf64_Ehdr, e_entry), 8);
	expect(&m, "does not begin in new text");
	done(&m);
	/* a library's entry point is nobody's matter, but it stays */
	m = make(library);
	eh = (Elf64_Ehdr *)m.generation.p;
	eh->e_entry += 1;
	expect(&m, "changed");
	done(&m);
}

static void counters_have_a_segment_of_their_own(void **state)
{
	static const struct {
		uint32_t field, value;
		const char *why;
	} wrong[] = {
		{ offsetof(Elf64_Phdr, p_flags), PF_R | PF_W | PF_X, "has flags 0x7" },
		{ offsetof(Elf64_Phdr, p_flags), PF_R, "not all file bytes" },
		{ offsetof(Elf64_Phdr, p_filesz), 4096, "has flags 0x6" },
		{ offsetof(Elf64_Phdr, p_memsz), 8192, "overlap" },
		{ offsetof(Elf64_Phdr, p_memsz), 100, "has flags 0x6" },
		{ offsetof(Elf64_Phdr, p_paddr), 0, "has flags 0x6" },
	};
	struct made m = make(program);
	uint8_t *ph = m.generation.p + m.img.eh.e_phoff +
		      (size_t)(m.counters - m.img.ph) * sizeof(Elf64_Phdr);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint32_t was;

		memcpy(&was, ph + wrong[i].field, sizeof(was));
		memcpy(ph + wrong[i].field, &wrong[i].value, sizeof(was));
		expect(&m, wrong[i].why);
		memcpy(ph + wrong[i].field, &was, sizeof(was));
	}
	expect(&m, NULL);
	done(&m);
}

static bool is_counter(const struct made *m, const uint8_t *code, new_vaddr addr)
{
	static const uint8_t incq[] = { 0x48, 0xff, 0x05 };
	int32_t d;

	memcpy(&d, code + sizeof(incq), sizeof(d));
	uint64_t off = addr + COUNTER_SIZE + (uint64_t)(int64_t)d - m->counters->p_vaddr;
	return memcmp(code, incq, sizeof(incq)) == 0 && off < m->counters->p_memsz &&
	       off % 8 == 0;
}

/* Each bit of each counter: what is still one counts wrongly, and harms nobody. */
static void counters_change_counters_only(void **state)
{
	struct made m = make(program);
	uint64_t size = (uint64_t)m.map.hot_size + m.map.fluff_size;
	uint32_t ncounter = 0;

	(void)state;
	for (uint64_t off = 0; off + COUNTER_SIZE <= size; off++) {
		uint8_t *p = at(&m, m.map.gen_base + off);

		if (!is_counter(&m, p, m.map.gen_base + off))
			continue;
		ncounter++;
		for (int i = 0; i < 8 * COUNTER_SIZE; i++) {
			p[i / 8] ^= (uint8_t)(1 << i % 8);
			bool harmless = is_counter(&m, p, m.map.gen_base + off);
			const char *why = refusal(&m);

			if (harmless != !why)
				fail_msg("counter at %#llx, bit %d: %s",
					 (unsigned long long)(m.map.gen_base + off), i,
					 why ? why : "accepted");
			p[i / 8] ^= (uint8_t)(1 << i % 8);
		}
	}
	assert_in_range(ncounter, 20, 200);
	done(&m);
}

/* In front of a jump behind a counter: the ways of branches that are counted. */
static uint32_t spoil_ways(struct made *m)
{
	enum { NEAR = 0xe9, SHORT = 0xeb };
	uint64_t size = (uint64_t)m->map.hot_size + m->map.fluff_size;
	uint32_t nway = 0;

	expect(m, NULL);
	for (uint64_t off = 0; off + COUNTER_SIZE + 2 <= size; off++) {
		uint8_t *p = at(m, m->map.gen_base + off), *jmp = p + COUNTER_SIZE;

		if (!is_counter(m, p, m->map.gen_base + off) ||
		    (*jmp != NEAR && *jmp != SHORT))
			continue;
		nway++;
		jmp[1] ^= 1;
		expect(m, "");		/* it leads to the byte beside */
		jmp[1] ^= 1;
		*jmp ^= 1;		/* jmp *, or a call */
		expect(m, "");
		*jmp ^= 1;
		p[2] ^= 0x08;		/* dec */
		expect(m, "");
		p[2] ^= 0x08;
	}
	expect(m, NULL);
	return nway;
}

static void counted_ways_lead_where_the_original_does(void **state)
{
	struct made m = make(program);

	(void)state;
	assert_in_range(spoil_ways(&m), 1, 200);
	done(&m);
}

/* The image of the NOP of seven bytes in the function. */
static uint8_t *find_place(struct made *m, vaddr place, new_vaddr *addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&m->map, place);

	if (!b)
		return NULL;
	for (uint32_t i = 0; i + sizeof(asm_nop7) <= b->gen_size; i++) {
		*addr = m->map.gen_base + b->gen + i;
		uint8_t *p = at(m, *addr);

		if (memcmp(p, asm_nop7, sizeof(asm_nop7)) == 0)
			return p;
	}
	return NULL;
}

/* A counter instead of the NOP: where flags are dead, that the NOP is missing is the doubt. */
static void check_place(struct made *m, const struct prog *prog, const char *name, bool live)
{
	uint8_t was[COUNTER_SIZE];
	new_vaddr addr;
	uint8_t *p = find_place(m, asm_place(prog, name), &addr);

	if (!p)
		fail_msg("%s has no image", name);
	int32_t d = (int32_t)(m->counters->p_vaddr - (addr + COUNTER_SIZE));
	memcpy(was, p, sizeof(was));
	memcpy(p, "\x48\xff\x05", 3);
	memcpy(p + 3, &d, sizeof(d));
	const char *why = refusal(m);
	if (!why || (strstr(why, "changes flags that are read") != NULL) != live)
		fail_msg("%s: %s", name, why ? why : "accepted");
	memcpy(p, was, sizeof(was));
}

/* Of the program that is built so, flags are live at this place, and not at all. */
static void is_live(const char *flags, const char *name)
{
	struct made m = make(flags);
	struct prog prog;
	struct err err;

	if (prog_analyze(m.original, m.a, &prog, &err) < 0)
		fail_msg("%s", err.text);
	check_place(&m, &prog, name, true);
	check_place(&m, &prog, "dead_write", false);
	expect(&m, NULL);
	done(&m);
}

static void counters_leave_flags_alone_that_come_back(void **state)
{
	static const char *const flags[] = {
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,CALLED=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,JUMPED=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,HIDDEN=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,FAR=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,UNTOLD=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		is_live(flags[i], "dead_return");
}

static void counters_leave_flags_alone_that_are_read(void **state)
{
	static const char *const live[] = {
		"live_branch", "live_set", "live_jump", "live_taken", "live_pushed",
		"live_shift", "live_rotation", "live_system", "live_callee", "live_return",
		"live_prefixed", "live_tail", "live_carry_only", "live_label",
		"live_run_into", "live_again", "live_framed",
		"live_half_known", "live_half_decoded", "live_distances",
		"live_label_variable", "live_loop", "live_any_label",
		"live_sum", "live_brought_sum", "live_called_inside",
		"live_behind_call", "live_kept_in_frame", "live_trap" };
	static const char *const dead[] = {
		"dead_write", "dead_carry", "dead_ways", "dead_return", "dead_narrow",
		"dead_rotation",
		"dead_slot", "dead_tail", "dead_trap",
		"dead_framed", "dead_dispatched", "dead_fetched",
		"dead_fetched_by_others", "dead_backwards", "dead_cold", "dead_copied" };
	enum { NLIVE = sizeof(live) / sizeof(live[0]), NDEAD = sizeof(dead) / sizeof(dead[0]) };
	struct made m = make(program);
	struct prog prog;
	struct err err;

	(void)state;
	if (prog_analyze(m.original, m.a, &prog, &err) < 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < NLIVE + NDEAD; i++)
		check_place(&m, &prog, i < NLIVE ? live[i] : dead[i - NLIVE], i < NLIVE);
	expect(&m, NULL);
	done(&m);
}

/* f's table, which is proven, leads into another function. */
static void ways_by_a_table_may_lead_elsewhere(void **state)
{
	struct made m = make("-static -no-pie -Wl,-e,begin -Wa,--defsym,ELSEWHERE=1");
	struct prog prog;
	struct err err;

	(void)state;
	if (prog_analyze(m.original, m.a, &prog, &err) < 0)
		fail_msg("%s", err.text);
	check_place(&m, &prog, "live_elsewhere", true);
	check_place(&m, &prog, "live_shared", true);
	check_place(&m, &prog, "live_thunk", true);
	check_place(&m, &prog, "live_narrow_labels", true);
	check_place(&m, &prog, "live_sum_by_thunk", true);
	check_place(&m, &prog, "dead_write", false);
	done(&m);
}

/* No function does, so computed jumps may lead to labels that look like one. */
static void who_begins_by_reading_flags_is_a_label(void **state)
{
	(void)state;
	is_live("-static -no-pie -Wl,-e,begin -Wa,--defsym,ODD=1", "dead_tail");
	is_live("-static -no-pie -Wl,-e,begin -Wa,--defsym,ODD=2", "dead_tail");
}

static void what_a_constant_pointer_leads_to_is_known(void **state)
{
	struct made m = make("-pie -Wl,-e,begin,-z,relro,-z,now -Wa,--defsym,CONSTANT=1");
	struct prog prog;
	struct err err;

	(void)state;
	if (prog_analyze(m.original, m.a, &prog, &err) < 0)
		fail_msg("%s", err.text);
	check_place(&m, &prog, "live_constant", true);
	check_place(&m, &prog, "live_constant_label", true);
	check_place(&m, &prog, "dead_return", false);
	done(&m);
}

static void counters_are_asked_for_only_where_something_counts(void **state)
{
	struct err err = { 0 };
	struct verify v = { .err = &err };

	(void)state;
	assert_int_equal(verify_counting(&v), 0);
	v.counting.wanted = true;
	assert_int_equal(verify_counting(&v), -1);
	assert_non_null(strstr(err.text, "no segment of counters"));
}

static void there_are_not_counters_without_end(void **state)
{
	enum { MOST = 1 << 30 };
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_memsz = MOST + 1ull };
	struct err err = { 0 };
	struct verify v = { .err = &err,
			    .counting = { .wanted = true, .segment = &segment } };

	(void)state;
	assert_int_equal(verify_counting(&v), -1);
	assert_non_null(strstr(err.text, "counters of 0x40000001 bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones_are_accepted),
		cmocka_unit_test(one_for_running_processes_is_asked_for),
		cmocka_unit_test(the_start_does_nothing_else),
		cmocka_unit_test(it_is_where_the_program_begins),
		cmocka_unit_test(counters_are_asked_for_only_where_something_counts),
		cmocka_unit_test(there_are_not_counters_without_end),
		cmocka_unit_test(counters_have_a_segment_of_their_own),
		cmocka_unit_test(counters_change_counters_only),
		cmocka_unit_test(counted_ways_lead_where_the_original_does),
		cmocka_unit_test(counters_leave_flags_alone_that_are_read),
		cmocka_unit_test(counters_leave_flags_alone_that_come_back),
		cmocka_unit_test(ways_by_a_table_may_lead_elsewhere),
		cmocka_unit_test(who_begins_by_reading_flags_is_a_label),
		cmocka_unit_test(what_a_constant_pointer_leads_to_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
