/* test_redirected.c - pointers to functions lead to images all together or not at all
 *
 * A generation without redirected pointers is made of tests/asm/pointed.s, for labels of
 * threaded.s; the tests change pointers in it by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "tests/unit/spoil.h"
#include "verify/verify.h"

struct made {
	struct arena *a;
	struct bytes original;
	struct wr generation;		/* changed by the test */
	struct image orig, gen;
	struct blockmap map;
};

static struct made make_by(const char *name, const char *flags, uint64_t seed)
{
	const struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					      .generation = 1, .keep_pointers = true };
	struct made m = { .a = arena_new() };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;

	m.original = asm_build(name, flags, m.a);
	if (edit_optimize(m.original, NULL, &options, m.a, &m.generation, &map, &stats, &err) <
		    0 ||
	    image_parse(m.original, m.a, &m.orig, &err) < 0 ||
	    image_parse(wr_bytes(&m.generation), m.a, &m.gen, &err) < 0 ||
	    blockmap_read(wr_bytes(&map), &m.map, &err) < 0)
		fail_msg("%s", err.text);
	wr_free(&map);
	return m;
}

/* With this seed all that is asked for is copied, and aligned as its original. */
static struct made make_of(const char *name, const char *flags)
{
	return make_by(name, flags, 4);
}

static struct made make(const char *flags)
{
	return make_of("pointed", flags);
}

static void drop(struct made *m)
{
	blockmap_free(&m->map);
	wr_free(&m->generation);
	arena_free(m->a);
}

static vaddr address(const struct made *m, const char *name)
{
	const struct section *symbols = image_section(&m->orig, ".symtab");
	const struct section *names = image_section(&m->orig, ".strtab");
	struct rd r = rd_of(bytes_at(m->original, symbols->h.sh_offset, symbols->h.sh_size));

	while (rd_left(&r)) {
		uint32_t at = rd_u32(&r);
		(void)rd_u32(&r);
		vaddr value = rd_u64(&r);
		(void)rd_u64(&r);
		struct rd s = rd_of(bytes_at(m->original, names->h.sh_offset + at,
					     names->h.sh_size - at));
		if (strcmp(rd_str(&s), name) == 0)
			return value;
	}
	fail_msg("no symbol %s", name);
	return 0;
}

static new_vaddr image_of(const struct made *m, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&m->map, addr);

	assert_non_null(b);
	return m->map.gen_base + b->gen + (addr - m->map.orig_base - b->orig);
}

static uint8_t *bytes_of(struct made *m, vaddr addr)
{
	struct bytes b = image_rest(&m->gen, addr);

	assert_non_null(b.p);
	return m->generation.p + (b.p - m->gen.file.p);
}

static void set(struct made *m, vaddr at, uint64_t value)
{
	memcpy(bytes_of(m, at), &value, sizeof(value));
}

/* Pointers kept as data: the first `n` relocations, or words of RELR, with the value `from`. */
static unsigned redirect_data(struct made *m, vaddr from, new_vaddr to, unsigned n)
{
	const struct section *rela = image_section(&m->gen, ".rela.dyn");
	const struct section *data = image_section(&m->gen, ".data");
	bool relr = image_section(&m->gen, ".relr.dyn");
	vaddr at = relr ? data->h.sh_addr : rela->h.sh_addr + 16;
	vaddr end = relr ? at + data->h.sh_size : at + rela->h.sh_size;
	unsigned done = 0;

	for (; at < end && done < n; at += relr ? 8 : 24) {
		uint64_t now;

		memcpy(&now, bytes_of(m, at), sizeof(now));
		if (now == from) {
			set(m, at, to);
			done++;
		}
	}
	return done;
}

/* The `lea` with which use_NAME begins, or which is `skip` bytes behind its start. */
static void redirect_lea(struct made *m, const char *user, unsigned skip, new_vaddr to)
{
	new_vaddr lea = image_of(m, address(m, user) + skip);
	uint8_t *p = bytes_of(m, lea);
	int32_t distance = (int32_t)(to - (lea + 7));

	assert_int_equal(p[1], 0x8d);
	memcpy(p + 3, &distance, sizeof(distance));
}

static void redirect_symbol(struct made *m, vaddr from, new_vaddr to, uint64_t size)
{
	const struct section *s = image_section(&m->gen, ".dynsym");
	uint16_t text = 0;

	while (!(m->gen.sh[text].h.sh_addr <= to &&
		 to - m->gen.sh[text].h.sh_addr < m->gen.sh[text].h.sh_size))
		text++;
	for (vaddr at = s->h.sh_addr; at < s->h.sh_addr + s->h.sh_size; at += 24) {
		uint64_t now;

		memcpy(&now, bytes_of(m, at + 8), sizeof(now));
		if (now != from)
			continue;
		memcpy(bytes_of(m, at + 6), &text, sizeof(text));
		set(m, at + 8, to);
		set(m, at + 16, size);
	}
}

/* Accepted, or refused with that in the sentence. */
static void expect(struct made *m, const char *why)
{
	struct arena *a = arena_new();
	struct verify_stats stats;
	struct err err;
	int rc = verify_generation(m->original, wr_bytes(&m->generation), a, &stats, &err);

	arena_free(a);
	if (!why && rc < 0)
		fail_msg("refused: %s", err.text);
	if (why && rc == 0)
		fail_msg("accepted");
	if (why && !strstr(err.text, why))
		fail_msg("refused for another reason: %s", err.text);
	drop(m);
}

static struct made all_of_as(const char *flags, const char *name, unsigned skip, bool lea)
{
	struct made m = make(flags);
	char user[64];
	vaddr x = address(&m, name);

	assert_true(redirect_data(&m, x, image_of(&m, x), UINT32_MAX) > 0);
	if (lea) {
		(void)snprintf(user, sizeof(user), "use_%s", name);
		redirect_lea(&m, user, skip, image_of(&m, x));
	}
	return m;
}

static struct made all_of(const char *name, unsigned skip, bool lea)
{
	return all_of_as("-shared", name, skip, lea);
}

static void data_is_redirected_as_a_whole(void **state)
{
	struct made m = all_of("held", 0, false);

	(void)state;
	expect(&m, NULL);
	m = make("-shared");
	redirect_data(&m, address(&m, "held"), image_of(&m, address(&m, "held")), 1);
	expect(&m, "other pointers");
	m = make("-shared -Wl,-z,pack-relative-relocs");
	assert_int_equal(redirect_data(&m, address(&m, "held"),
				       image_of(&m, address(&m, "held")), UINT32_MAX),
			 2);
	expect(&m, NULL);
	m = make("-shared -Wl,-z,pack-relative-relocs");
	redirect_data(&m, address(&m, "held"), image_of(&m, address(&m, "held")), 1);
	expect(&m, "other pointers");
}

static void only_the_image_of_the_function_will_do(void **state)
{
	struct made m = make("-shared");

	(void)state;
	redirect_data(&m, address(&m, "held"), image_of(&m, address(&m, "formed")), 2);
	expect(&m, "no image");
	m = make("-shared");
	redirect_data(&m, address(&m, "held"), image_of(&m, address(&m, "held")) + 4, 2);
	expect(&m, "no image");
	m = make("-shared");
	redirect_data(&m, address(&m, "held"), address(&m, "thunk"), 2);
	expect(&m, "no image");
	m = make("-shared");
	redirect_data(&m, address(&m, "in_the_middle"),
		      image_of(&m, address(&m, "in_the_middle")), 1);
	expect(&m, "may calculate its target");
}

/* An image ends where that of the function begins. */
static bool is_right_behind(const struct made *m, vaddr addr)
{
	uint64_t at = image_of(m, addr) - m->map.gen_base;

	for (uint32_t i = 0; i < m->map.nblock; i++)
		if (m->map.block[i].gen_size &&
		    m->map.block[i].gen + m->map.block[i].gen_size == at)
			return true;
	return false;
}

/* In front of the original there is padding, and in no order may there be a function. */
static void in_front_of_an_image_is_no_function(void **state)
{
	unsigned behind = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct made m = make_by("pointed", "-shared", seed);
		vaddr held = address(&m, "held");

		if (is_right_behind(&m, held)) {
			redirect_data(&m, held, image_of(&m, held), UINT32_MAX);
			expect(&m, "right behind another function");
			behind++;
		} else {
			drop(&m);
		}
	}
	assert_true(behind > 0);
}

static void different_functions_stay_different(void **state)
{
	struct made m = all_of("held", 0, false);

	(void)state;
	redirect_data(&m, address(&m, "thunk"), image_of(&m, address(&m, "held")), 1);
	expect(&m, "different places");
}

static void code_and_data_go_together(void **state)
{
	struct made m = all_of("formed", 0, true);

	(void)state;
	expect(&m, NULL);
	m = all_of("formed", 0, false);
	expect(&m, "other pointers");
	m = make("-shared");
	redirect_lea(&m, "use_formed", 0, image_of(&m, address(&m, "formed")));
	expect(&m, "other pointers");
	m = all_of("formed", 0, true);
	redirect_lea(&m, "use_formed", 0, image_of(&m, address(&m, "held")));
	expect(&m, "another address");
}

static void code_that_may_still_run_in_place_is_a_doubt(void **state)
{
	struct made m = all_of("inside", 0, true);

	(void)state;
	expect(&m, "may still run");
	m = all_of("unproven", 1, true);
	expect(&m, "may still run");
	m = all_of("tail", 0, true);
	expect(&m, NULL);
	m = all_of("branched", 5, true);	/* the intruder's image leads there */
	expect(&m, "may still run");
	m = all_of("entered", 5, true);		/* and this one's original */
	expect(&m, "may still run");
}

static void the_first_function_may_form_an_address_too(void **state)
{
	struct made m = make_of("firstuser", "-shared");

	(void)state;
	redirect_lea(&m, "use_second", 0, image_of(&m, address(&m, "second")));
	expect(&m, NULL);
}

static void other_ways_to_name_a_function_are_doubts(void **state)
{
	struct made m = all_of("compared", 0, false);

	(void)state;
	expect(&m, "the instruction at");
	m = all_of("outside", 0, false);
	expect(&m, "the instruction at");
	m = all_of_as("-shared -Wa,--defsym,PLT=1", "gotoff", 0, false);
	expect(&m, "the instruction at");
	m = all_of_as("-shared -Wa,--defsym,GOT=1", "gotoff", 0, false);
	expect(&m, "the instruction at");
	m = all_of("distant", 0, false);
	expect(&m, "the distance at");
	m = all_of("distant_typed", 0, false);
	expect(&m, "the distance at");
	m = all_of("distant_between", 0, false);
	expect(&m, "the distance at");
	m = all_of("listed", 0, false);
	expect(&m, "the distance at");
}

static void symbols_go_together_with_data(void **state)
{
	struct made m = all_of("exported", 0, false);
	vaddr x;

	(void)state;
	expect(&m, "dynamic symbol");
	m = all_of("exported", 0, false);
	x = address(&m, "exported");
	redirect_symbol(&m, x, image_of(&m, x), 5);
	expect(&m, NULL);
	m = all_of("exported", 0, false);
	redirect_symbol(&m, x, image_of(&m, x), 0x100);	/* other functions, too */
	expect(&m, "dynamic symbol");
	m = all_of("exported", 0, false);
	redirect_symbol(&m, x, image_of(&m, x), 4);	/* into the last instruction */
	expect(&m, "dynamic symbol");
	m = all_of("exported", 0, false);
	redirect_symbol(&m, x, image_of(&m, x), 6);	/* and padding */
	expect(&m, "dynamic symbol");
	m = make("-shared");
	redirect_symbol(&m, x, image_of(&m, x), 5);
	expect(&m, "other pointers");
}

static void what_is_added_to_a_symbol_is_a_doubt(void **state)
{
	struct made m = make("-shared");
	vaddr x = address(&m, "summed");

	(void)state;
	redirect_symbol(&m, x, image_of(&m, x), 5);
	expect(&m, "other pointers");
}

/* Instead of the sum of a symbol and something else, the loader calculates what this type of
 * relocation says of a symbol of that type at `value`; if it is a function's, it leads to
 * its image in the generation. */
/* What the generation has added to .dynsym by that name becomes a name of the original's. */
static void change_added(struct spoil *m, const Elf64_Sym *like)
{
	const struct section *o = image_section(&m->orig, ".dynsym");
	const Elf64_Shdr *g = &m->gen.sh[o - m->orig.sh].h;

	for (uint64_t at = o->h.sh_size; at < g->sh_size; at += sizeof(*like)) {
		Elf64_Sym *added = (Elf64_Sym *)(void *)(m->generation.p + g->sh_offset + at);

		if (added->st_name == like->st_name)
			*added = *like;
	}
}

static void change_sum(struct spoil *m, uint32_t type, uint8_t symbol_type, vaddr value)
{
	const struct section *rela = image_section(&m->orig, ".rela.dyn");
	const struct section *symbols = image_section(&m->orig, ".dynsym");
	bool found = false;

	for (uint64_t i = 0; i < rela->h.sh_size / sizeof(Elf64_Rela); i++) {
		vaddr at[] = { rela->h.sh_addr, m->gen.sh[rela - m->orig.sh].h.sh_addr };
		Elf64_Rela r;

		memcpy(&r, spoil_original(m, at[0]) + i * sizeof(r), sizeof(r));
		if (ELF64_R_TYPE(r.r_info) != R_X86_64_64 || r.r_addend != 16)
			continue;
		uint64_t n = ELF64_R_SYM(r.r_info) * sizeof(Elf64_Sym);
		Elf64_Sym s;

		r.r_info = ELF64_R_INFO(ELF64_R_SYM(r.r_info), type);
		r.r_addend = 0;
		memcpy(spoil_original(m, at[0]) + i * sizeof(r), &r, sizeof(r));
		memcpy(spoil_generation(m, at[1]) + i * sizeof(r), &r, sizeof(r));
		memcpy(&s, spoil_original(m, symbols->h.sh_addr) + n, sizeof(s));
		s.st_info = ELF64_ST_INFO(STB_GLOBAL, symbol_type);
		s.st_value = value;
		memcpy(spoil_original(m, symbols->h.sh_addr) + n, &s, sizeof(s));
		change_added(m, &s);
		if (symbol_type == STT_FUNC) {
			s.st_value = spoil_image(m, value);
			s.st_shndx =
				(uint16_t)(image_section_at(&m->gen, s.st_value) - m->gen.sh);
		}
		memcpy(spoil_generation(m, m->gen.sh[symbols - m->orig.sh].h.sh_addr) + n, &s,
		       sizeof(s));
		found = true;
	}
	assert_true(found);
}

static void redirect_both(struct spoil *m, vaddr from)
{
	const struct section *rela = image_section(&m->gen, ".rela.dyn");
	new_vaddr to = spoil_image(m, from);

	for (uint64_t i = 0; i < rela->h.sh_size / sizeof(Elf64_Rela); i++) {
		uint8_t *addend = spoil_generation(m, rela->h.sh_addr) +
				  i * sizeof(Elf64_Rela) + offsetof(Elf64_Rela, r_addend);

		if (memcmp(addend, &from, sizeof(from)) == 0)
			memcpy(addend, &to, sizeof(to));
	}
}

/* Symbols of other types lead where they led; other relocations yield something else than an
 * address. */
static void only_pointers_follow_the_symbol(void **state)
{
	static const struct {
		uint32_t type;
		uint8_t symbol_type;
		const char *why;
	} what[] = {
		{ R_X86_64_64, STT_FUNC, NULL },
		{ R_X86_64_PC64, STT_FUNC, "other pointers" },
		{ R_X86_64_64, STT_SECTION, "other pointers" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct spoil m = spoil_make("pointed", 4);
		vaddr held = spoil_address(&m, "held");

		change_sum(&m, what[i].type, what[i].symbol_type, held);
		redirect_both(&m, held);
		spoil_expect(&m, what[i].why);
	}
}

/* Pointers to these labels lead to their images. */
static struct made labels(const char *const *name)
{
	struct made m = make_by("threaded", "-shared", 1);

	for (; *name; name++)
		assert_true(redirect_data(&m, address(&m, *name),
					  image_of(&m, address(&m, *name)), UINT32_MAX) > 0);
	return m;
}

#define LABELS(...) labels((const char *const[]){ __VA_ARGS__, NULL })
#define FOUR_OPS "op_add", "op_double", "op_skip", "op_next"

static void all_pointers_to_a_label_go_together(void **state)
{
	struct made m = LABELS(FOUR_OPS, "op_halt");
	vaddr halt = address(&m, "op_halt");

	(void)state;
	expect(&m, NULL);
	m = LABELS("op_both", "op_other");
	expect(&m, NULL);
	m = LABELS(FOUR_OPS);		/* op_halt stays */
	expect(&m, NULL);
	m = LABELS("op_one");
	expect(&m, NULL);
	m = LABELS("op_one", "op_stop");
	expect(&m, "the instruction at");
	m = LABELS("op_first", "op_last");
	expect(&m, NULL);
	m = LABELS("op_nop");
	expect(&m, NULL);
	m = LABELS(FOUR_OPS);
	assert_int_equal(redirect_data(&m, halt, image_of(&m, halt), 1), 1);
	expect(&m, "other pointers");
}

static void only_the_image_of_the_label_will_do(void **state)
{
	struct made m = LABELS(FOUR_OPS);
	vaddr halt = address(&m, "op_halt");

	(void)state;
	redirect_data(&m, halt, image_of(&m, address(&m, "op_add")), 2);
	expect(&m, "no image");
	m = LABELS(FOUR_OPS);
	redirect_data(&m, halt, image_of(&m, halt) + 4, 2);
	expect(&m, "no image");
}

static void labels_that_code_forms_or_calculates_are_doubts(void **state)
{
	struct made m = LABELS("op_left");

	(void)state;
	expect(&m, "the instruction at");
	m = LABELS("op_index");
	expect(&m, "inside a function whose pointers to labels were changed");
	m = LABELS("op_five");
	expect(&m, "inside a function whose pointers to labels were changed");
	m = LABELS("op_other_sum");
	expect(&m, "inside a function whose pointers to labels were changed");
	m = LABELS("op_landed", "op_gone");
	expect(&m, "may calculate its target");
	m = LABELS("op_kept");
	expect(&m, "nothing leads to");
	m = LABELS("op_kin");
	expect(&m, "may calculate its target");
	m = LABELS("op_plain_kin");
	expect(&m, NULL);
	m = LABELS("op_loop");
	expect(&m, "nothing leads to");
	m = LABELS("op_padded");
	expect(&m, NULL);
	m = LABELS("op_near");
	expect(&m, "may calculate its target");
	m = LABELS("op_apart");
	expect(&m, "may calculate its target");
	m = LABELS("op_framed");
	expect(&m, "may calculate its target");
	m = LABELS("op_by_frame");
	expect(&m, "may calculate its target");
	m = LABELS("op_below");
	expect(&m, "may calculate its target");
	m = LABELS("op_above");
	expect(&m, NULL);
}

/* The line of the map that begins at `addr` is `size` bytes long, and the next one, which
 * stands behind it in both texts, begins there. */
static bool move_border(struct made *m, vaddr addr, uint32_t size)
{
	const struct section *at = image_section(&m->gen, ".morph.map");
	struct blockmap_block *a = NULL, *end = m->map.block + m->map.nblock;
	struct wr map = { 0 };

	for (struct blockmap_block *b = m->map.block; b + 1 < end; b++)
		if (m->map.orig_base + b->orig == addr)
			a = b;
	if (!a || a[1].orig != a->orig + a->orig_size || a[1].gen != a->gen + a->gen_size ||
	    a->orig_size != a->gen_size)
		return false;
	uint32_t more = a->orig_size - size;
	a->orig_size = a->gen_size = size;
	a[1].orig -= more;
	a[1].gen -= more;
	a[1].orig_size += more;
	a[1].gen_size += more;
	blockmap_write(&m->map, &map);
	assert_int_equal(map.n, at->h.sh_size);
	assert_true(renewed_fits(m->original, m->generation.p, m->generation.n));
	memcpy(m->generation.p + at->h.sh_offset, map.p, map.n);
	renewed_set(m->original, m->generation.p, m->generation.n);
	wr_free(&map);
	return true;
}

/* Where the table is not replaced, only the original's code tells that it leads there. */
static void tables_that_stay_lead_to_blocks(void **state)
{
	int tries = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 128; seed++) {
		struct made m = make_by("labelmet", "-shared", seed);
		vaddr met = address(&m, "op_met");
		const struct blockmap_block *b = blockmap_find_orig(&m.map, met);

		if (b && m.map.orig_base + b->orig == met) {
			assert_int_equal(redirect_data(&m, met, image_of(&m, met), 2), 2);
			tries++;
			expect(&m, "may calculate its target");
		} else {
			drop(&m);
		}
	}
	assert_true(tries > 0);
}

/* Such a block may begin within a line of the map: what the line has made of registers up to
 * there says nothing of who comes by the table. */
static void a_line_may_have_two_blocks(void **state)
{
	enum { MOV_LEA = 9 };
	int tries = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 128; seed++) {
		struct made m = make_by("labelmet", "-shared", seed);
		vaddr met = address(&m, "op_met");
		const struct blockmap_block *b = blockmap_find_orig(&m.map, met);

		if (b && m.map.orig_base + b->orig == met &&
		    redirect_data(&m, met, image_of(&m, met), 2) == 2 &&
		    move_border(&m, address(&m, "op_into"), MOV_LEA)) {
			tries++;
			expect(&m, "may calculate its target");
		} else {
			drop(&m);
		}
	}
	assert_true(tries > 0);
}

static void programs_at_fixed_addresses_keep_their_pointers(void **state)
{
	struct made m = make("-static -no-pie -Wl,--eh-frame-hdr,-e,exported");
	const struct section *data = image_section(&m.gen, ".data");

	(void)state;
	set(&m, data->h.sh_addr, image_of(&m, address(&m, "held")));
	expect(&m, "was changed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_redirected_as_a_whole),
		cmocka_unit_test(only_the_image_of_the_function_will_do),
		cmocka_unit_test(in_front_of_an_image_is_no_function),
		cmocka_unit_test(different_functions_stay_different),
		cmocka_unit_test(code_and_data_go_together),
		cmocka_unit_test(code_that_may_still_run_in_place_is_a_doubt),
		cmocka_unit_test(the_first_function_may_form_an_address_too),
		cmocka_unit_test(other_ways_to_name_a_function_are_doubts),
		cmocka_unit_test(symbols_go_together_with_data),
		cmocka_unit_test(what_is_added_to_a_symbol_is_a_doubt),
		cmocka_unit_test(only_pointers_follow_the_symbol),
		cmocka_unit_test(all_pointers_to_a_label_go_together),
		cmocka_unit_test(only_the_image_of_the_label_will_do),
		cmocka_unit_test(labels_that_code_forms_or_calculates_are_doubts),
		cmocka_unit_test(tables_that_stay_lead_to_blocks),
		cmocka_unit_test(a_line_may_have_two_blocks),
		cmocka_unit_test(programs_at_fixed_addresses_keep_their_pointers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
