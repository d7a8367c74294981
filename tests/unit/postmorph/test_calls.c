/* test_calls.c - calls and tail jumps skip the procedure linkage table, and only the table
 *
 * tests/asm/stubs.s is a library that calls its own functions as if they were another module's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <sys/stat.h>

#include "editor/optimize.h"
#include "editor/passes/pass.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { CALL = 0xe8, JMP = 0xe9, GROUP5 = 0xff, CALL_SLOT = 0x15, JMP_SLOT = 0x25 };

struct made {
	struct arena *a;
	struct bytes original;
	struct wr generation;		/* changed by the test */
	struct image gen;
	struct prog prog;
	struct blockmap map;
};

static struct made make(const char *names, const char *flags)
{
	const struct edit_options options = { .all = true, .passes = names, .generation = 1 };
	struct made m = { .a = arena_new() };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;

	m.original = asm_build("stubs", flags, m.a);
	if (edit_optimize(m.original, NULL, &options, m.a, &m.generation, &map, &stats, &err) <
		    0 ||
	    prog_analyze(m.original, m.a, &m.prog, &err) < 0 ||
	    image_parse(wr_bytes(&m.generation), m.a, &m.gen, &err) < 0 ||
	    blockmap_read(wr_bytes(&map), &m.map, &err) < 0)
		fail_msg("%s", err.text);
	wr_free(&map);
	return m;
}

static void drop(struct made *m)
{
	blockmap_free(&m->map);
	wr_free(&m->generation);
	arena_free(m->a);
}

/* The image of the block of `fn` that holds the original's nth call or jump of a stub: the
 * instruction in the image that goes to the same function, or NULL. */
static uint8_t *image_of(struct made *m, const char *name, uint8_t nth, vaddr *slot)
{
	const struct fn *fn = asm_fn(&m->prog, name);

	for (uint32_t i = 0; i < fn->ninsn; i++) {
		const struct insn *insn = &fn->insn[i];
		vaddr at = prog_insn_addr(&m->prog, insn);

		if (!insn_is_branch(insn))
			continue;
		*slot = prog_stub_slot(&m->prog,
				       insn_target(insn, prog_insn_bytes(&m->prog, insn), at));
		if (*slot == 0 || nth-- > 0)
			continue;
		const struct blockmap_block *b = blockmap_find_orig(&m->map, at);

		assert_non_null(b);
		struct bytes code = image_at(&m->gen, m->map.gen_base + b->gen, b->gen_size);
		uint32_t off = 0;

		for (struct insn g; off < code.n; off += g.len) {
			vaddr target, addr = m->map.gen_base + b->gen + off;
			struct bytes rest = bytes_at(code, off, code.n - off);

			assert_true(insn_decode(rest, addr, &g, &target));
			if (g.field &&
			    (target == *slot || prog_stub_slot(&m->prog, target) == *slot))
				return m->generation.p + (rest.p - m->gen.file.p);
		}
		return NULL;
	}
	fail_msg("%s: not so many stubs", name);
	return NULL;
}

static void expect(struct made *m, const char *name, uint8_t nth, uint8_t first, uint8_t second)
{
	vaddr slot;
	const uint8_t *p = image_of(m, name, nth, &slot);

	assert_non_null(p);
	assert_int_equal(p[0], first);
	if (second)
		assert_int_equal(p[1], second);
}

static int verify(struct made *m, struct err *err)
{
	struct verify_stats stats;

	return verify_generation(m->original, wr_bytes(&m->generation), m->a, &stats, err);
}

static void calls_and_jumps_go_through_the_slot(void **state)
{
	struct made m = make("calls", "-shared");
	struct err err;

	(void)state;
	expect(&m, "calls", 0, GROUP5, CALL_SLOT);
	expect(&m, "calls", 1, GROUP5, CALL_SLOT);
	expect(&m, "jumps", 0, GROUP5, JMP_SLOT);
	expect(&m, "jumps", 1, GROUP5, JMP_SLOT);
	expect(&m, "decides", 0, 0x0f, 0x85);
	if (verify(&m, &err) < 0)
		fail_msg("%s", err.text);
	drop(&m);
}

static void stubs_behind_endbr64_are_skipped_too(void **state)
{
	struct made m = make("calls", "-shared -Wl,-z,ibtplt");
	struct err err;

	(void)state;
	expect(&m, "calls", 0, GROUP5, CALL_SLOT);
	expect(&m, "jumps", 0, GROUP5, JMP_SLOT);
	if (verify(&m, &err) < 0)
		fail_msg("%s", err.text);
	drop(&m);
}

static void without_the_pass_they_stay(void **state)
{
	struct made m = make("align", "-shared");

	(void)state;
	expect(&m, "calls", 0, CALL, 0);
	expect(&m, "jumps", 0, JMP, 0);
	drop(&m);
}

/* A program is too far from what it calls. */
static void only_libraries_go_through_the_slot(void **state)
{
	struct arena *a = arena_new();
	struct bytes original = asm_build("stubs", "-shared", a);

	(void)state;
	for (int executable = 0; executable < 2; executable++) {
		struct prog prog;
		struct err err;
		uint32_t direct = 0;

		if (prog_analyze(original, a, &prog, &err) < 0)
			fail_msg("%s", err.text);
		prog.order = arena_array(a, prog.nfn, sizeof(*prog.order));
		while (prog.norder < prog.nfn) {
			prog.order[prog.norder] = prog.norder;
			prog.norder++;
		}
		assert_false(prog.img.executable);
		prog.img.executable = executable;
		assert_int_equal(pass_calls(&prog, &(struct edit_options){ 0 }, &err), 0);
		for (uint32_t i = 0; i < prog.norder; i++)
			for (uint32_t k = 0; k < prog.fn[prog.order[i]].nblock; k++)
				direct += prog.fn[prog.order[i]].block[k].direct;
		assert_int_equal(direct > 0, !executable);
	}
	arena_free(a);
}

/* The generation, loaded, computes what the original does. */
static void runs(const struct made *m, int mode)
{
	char path[] = "/tmp/morph-calls.XXXXXX";
	int fd = mkstemp(path);
	struct err err;

	assert_true(fd >= 0 && fchmod(fd, 0700) == 0);
	assert_int_equal(io_write_all(fd, m->generation.p, m->generation.n, &err), 0);
	close(fd);
	void *lib = dlopen(path, mode | RTLD_LOCAL);

	unlink(path);
	if (!lib)
		fail_msg("%s", dlerror());
	long (*calls)(long), (*jumps)(long), (*decides)(long);

	*(void **)&calls = dlsym(lib, "calls");
	*(void **)&jumps = dlsym(lib, "jumps");
	*(void **)&decides = dlsym(lib, "decides");
	for (long i = 0; i < 4; i++) {
		assert_int_equal(calls(i), 5 * i);
		assert_int_equal(jumps(i), i % 2 ? 2 * (i + 1) : 3 * (i + 1));
		assert_int_equal(decides(i), i ? 2 * i : 7);
	}
	dlclose(lib);
}

static void bound_at_load_or_at_the_first_call_they_arrive(void **state)
{
	struct made lazy = make("calls", "-shared -Wl,-z,lazy"),
		    now = make("calls", "-shared -Wl,-z,now");

	(void)state;
	runs(&lazy, RTLD_LAZY);
	runs(&now, RTLD_NOW);
	drop(&lazy);
	drop(&now);
}

/* Changes the displacement of an image, or its kind, and expects a refusal. */
static void refused(const char *name, uint8_t nth, bool other_kind, int32_t by)
{
	struct made m = make("calls", "-shared");
	struct err err;
	vaddr slot;
	uint8_t *p = image_of(&m, name, nth, &slot);
	int32_t d;

	assert_non_null(p);
	if (other_kind)
		p[1] = p[1] == CALL_SLOT ? JMP_SLOT : CALL_SLOT;
	memcpy(&d, p + 2, sizeof(d));
	d += by;
	memcpy(p + 2, &d, sizeof(d));
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	drop(&m);
}

static void every_longer_call_begins_a_line_of_the_map(void **state)
{
	struct made m = make("calls", "-shared");
	const struct fn *fn = asm_fn(&m.prog, "calls");
	uint32_t called = 0, n = 0;

	(void)state;
	for (uint32_t i = 0; i < m.map.nblock; i++)
		called += m.map.block[i].called;
	assert_int_equal(called, 2);
	for (uint32_t i = 0; i < fn->ninsn; i++) {
		vaddr at = prog_insn_addr(&m.prog, &fn->insn[i]);
		const struct blockmap_block *b = blockmap_find_orig(&m.map, at);
		struct bytes g = image_rest(&m.gen, blockmap_gen_of(&m.map, b, at));
		const uint8_t *o = prog_insn_bytes(&m.prog, &fn->insn[i]);

		if (fn->insn[i].kind == INSN_CALL)
			n += g.p[0] == GROUP5 && b->called && m.map.orig_base + b->orig == at;
		else if (fn->insn[i].kind != INSN_NOP)
			assert_memory_equal(g.p, o, fn->insn[i].len);
	}
	assert_int_equal(n, 2);
	drop(&m);
}

/* Puts another map behind everything else. */
static void replace_map(struct made *m, const struct wr *map)
{
	uint32_t index = (uint32_t)(image_section(&m->gen, ".morph.map") - m->gen.sh);
	uint64_t at = m->generation.n, size = map->n;
	uint64_t header = m->gen.eh.e_shoff + index * sizeof(Elf64_Shdr);

	wr_raw(&m->generation, map->p, map->n);
	memcpy(m->generation.p + header + offsetof(Elf64_Shdr, sh_offset), &at, sizeof(at));
	memcpy(m->generation.p + header + offsetof(Elf64_Shdr, sh_size), &size, sizeof(size));
}

static void a_map_that_lies_about_it_is_refused(void **state)
{
	(void)state;
	for (uint32_t lie = 0; lie < 2; lie++) {
		struct made m = make("calls", "-shared");
		struct wr map = { 0 };
		struct err err;

		for (uint32_t i = 0; i < m.map.nblock; i++) {
			if (m.map.block[i].called == lie)
				continue;
			m.map.block[i].called ^= 1;
			break;
		}
		blockmap_write(&m.map, &map);
		replace_map(&m, &map);
		assert_int_equal(verify(&m, &err), -1);
		assert_non_null(strstr(err.text, "longer"));
		wr_free(&map);
		drop(&m);
	}
}

static void another_slot_is_refused(void **state)
{
	(void)state;
	refused("calls", 0, false, 8);
	refused("calls", 1, false, -8);
	refused("jumps", 0, false, 8);
	refused("jumps", 0, false, 1);
}

static void a_call_for_a_jump_is_refused(void **state)
{
	(void)state;
	refused("jumps", 1, true, 0);
	refused("calls", 0, true, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_jumps_go_through_the_slot),
		cmocka_unit_test(stubs_behind_endbr64_are_skipped_too),
		cmocka_unit_test(without_the_pass_they_stay),
		cmocka_unit_test(only_libraries_go_through_the_slot),
		cmocka_unit_test(bound_at_load_or_at_the_first_call_they_arrive),
		cmocka_unit_test(every_longer_call_begins_a_line_of_the_map),
		cmocka_unit_test(a_map_that_lies_about_it_is_refused),
		cmocka_unit_test(another_slot_is_refused),
		cmocka_unit_test(a_call_for_a_jump_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
