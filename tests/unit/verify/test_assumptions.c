/* test_assumptions.c - what the Editor and the Verifier share (head of verify/verify.c), broken
 * in one of the two
 *
 * Functions that answer for an assumption are built into this program with a switch each
 * (struct wrong).  The Editor runs in a process with one of them on, and the Verifier in
 * another one: it refuses what came out, or finds it right all the same.  The other way round a
 * Verifier that is wrong gets what is right: it refuses that, or has answers of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "binary/decode_form.h"
#include "binary/loadtables.h"
#include "binary/buildid.h"
#include "editor/optimize.h"
#include "lib/blockmap.h"
#include "postmorph/ir/plt.h"
#include "postmorph/tables/absint.h"
#include "postmorph/tables/tablescan.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

struct wrong {
	bool short_jumps;	/* jcc with 8 bits is no branch */
	bool fields;		/* no operand is relative to rip */
	bool lengths;		/* mov of a constant to eax is one byte shorter */
	bool remembered;	/* a mark: test, not and neg have one form */
	bool rooms;		/* loads may get prefixes */
	bool breaks;		/* int3 is a return */
	bool writable;		/* .data is constant */
	bool dynamic;		/* DT_RELASZ is 0 */
	bool tables;		/* sections are what the loader reads */
	bool maps;		/* the block map names other blocks */
	bool ids;		/* what a generation's build-id is */
	bool names;		/* a function that comes back does not */
	bool arguments;		/* callees look at no argument */
};
static struct wrong wrong;

/* --- the shared functions, each with its switch --- */

bool real_form_read(struct bytes code, struct insn_form *out);
uint32_t real_front_room(const struct insn *insn, const uint8_t *code);
#define insn_form_read real_form_read
#define insn_front_room real_front_room
#include "binary/decode.c"
#undef insn_form_read
#undef insn_front_room

bool insn_form_read(struct bytes code, struct insn_form *out)
{
	enum { MOV_EAX = 0xb8, INT3 = 0xcc };

	if (!real_form_read(code, out))
		return false;
	if (wrong.short_jumps && out->insn.kind == INSN_JCC && out->insn.field_size == 1) {
		out->insn.kind = INSN_PLAIN;
		out->insn.field = out->insn.field_size = 0;
	}
	if (wrong.fields && out->insn.field && !insn_is_branch(&out->insn))
		out->insn.field = out->insn.field_size = 0;
	if (wrong.lengths && *code.p == MOV_EAX)
		out->insn.len--;
	if (wrong.breaks && *code.p == INT3)
		out->insn.kind = INSN_RET;
	return true;
}

uint32_t insn_front_room(const struct insn *insn, const uint8_t *code)
{
	enum { REX_W = 0x48, LOAD = 0x8b };

	if (wrong.rooms && insn->kind == INSN_PLAIN && code[0] == REX_W && code[1] == LOAD)
		return INSN_FRONT_MAX;
	return real_front_room(insn, code);
}

#include "binary/decode_memo.c"

int real_loadtables_check(const struct image *img, struct err *err);
#define loadtables_check real_loadtables_check
#include "binary/loadtables.c"
#undef loadtables_check

int loadtables_check(const struct image *img, struct err *err)
{
	return wrong.tables ? 0 : real_loadtables_check(img, err);
}

bool real_is_writable(const struct image *img, vaddr addr);
bool real_dynamic(const struct image *img, int64_t tag, uint64_t *value);
#define image_is_writable real_is_writable
#define image_dynamic real_dynamic
#include "binary/image.c"
#undef image_is_writable
#undef image_dynamic

bool image_dynamic(const struct image *img, int64_t tag, uint64_t *value)
{
	bool is_there = real_dynamic(img, tag, value);

	if (is_there && wrong.dynamic && tag == DT_RELASZ)
		*value = 0;
	return is_there;
}

bool image_is_writable(const struct image *img, vaddr addr)
{
	const struct section *s = wrong.writable ? image_section(img, ".data") : NULL;

	return real_is_writable(img, addr) && !(s && addr - s->h.sh_addr < s->h.sh_size);
}

void real_map_write(const struct blockmap *map, struct wr *out);
int real_map_read(struct bytes b, struct blockmap *out, struct err *err);
#define blockmap_write real_map_write
#define blockmap_read real_map_read
#include "lib/blockmap.c"
#undef blockmap_write
#undef blockmap_read

static void swap_blocks(const struct blockmap *map)
{
	struct blockmap_block *b = map->block;

	for (uint32_t i = 1; wrong.maps && i < map->nblock; i += 2) {
		uint32_t orig = b[i].orig, size = b[i].orig_size;

		b[i].orig = b[i - 1].orig;
		b[i].orig_size = b[i - 1].orig_size;
		b[i - 1].orig = orig;
		b[i - 1].orig_size = size;
	}
}

void blockmap_write(const struct blockmap *map, struct wr *out)
{
	swap_blocks(map);
	real_map_write(map, out);
}

int blockmap_read(struct bytes b, struct blockmap *out, struct err *err)
{
	int rc = real_map_read(b, out, err);

	if (rc == 0)
		swap_blocks(out);
	return rc;
}
void real_derive(struct bytes original, struct bytes map, uint8_t *out);
#define buildid_derive real_derive
#include "binary/buildid.c"
#undef buildid_derive

void buildid_derive(struct bytes original, struct bytes map, uint8_t *out)
{
	real_derive(original, map, out);
	out[0] ^= wrong.ids;
}

bool real_noreturn(const struct plt *plt, vaddr slot);
#define plt_noreturn real_noreturn
#include "postmorph/ir/plt.c"
#undef plt_noreturn

bool plt_noreturn(const struct plt *plt, vaddr slot)
{
	const char *name = plt_name(plt, slot);

	return real_noreturn(plt, slot) ||
	       (wrong.names && name && strcmp(name, "comes_back") == 0);
}

void real_pass(struct absint *ai, const struct abs_state *s);
#define absint_pass real_pass
#include "postmorph/tables/absint.c"
#undef absint_pass

void absint_pass(struct absint *ai, const struct abs_state *s)
{
	if (!wrong.arguments)
		real_pass(ai, s);
}

/* --- runs --- */

enum { SPACE = 1 << 22, SEEDS = 32 };

struct shared {			/* with a child */
	int rc;
	uint64_t n;
	char text[240];
	uint8_t p[];
};

static void be_wrong(struct wrong w)
{
	enum { TEST_NOT_NEG = 0xf7 };

	wrong = w;
	if (w.remembered)
		one_byte[TEST_NOT_NEG] = ANY_REGISTER;
}

/* In a process of its own, for what is decoded is remembered. */
static void edit(struct bytes original, struct wrong w, uint64_t seed, struct shared *out)
{
	struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					.generation = 1 };
	struct arena *a = arena_new();
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct err err = { 0 };

	be_wrong(w);
	out->rc = edit_optimize(original, NULL, &options, a, &made, &map, &stats, &err);
	(void)snprintf(out->text, sizeof(out->text), "%.200s", err.text);
	out->n = made.n;
	if (out->rc == 0 && made.n < SPACE - sizeof(*out))
		memcpy(out->p, made.p, made.n);
	_exit(0);
}

static void verify(struct bytes original, struct wrong w, struct shared *out)
{
	struct arena *a = arena_new();
	struct verify_stats stats;
	struct err err = { 0 };

	be_wrong(w);
	out->rc = verify_generation(original, (struct bytes){ out->p, out->n }, a, &stats,
				    &err);
	(void)snprintf(out->text, sizeof(out->text), "%.200s", err.text);
	_exit(0);
}

static void wait_for(pid_t child)
{
	int status = -1;

	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct shared *share(void)
{
	void *p = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

enum outcome { LEFT_ALONE, REFUSED, ACCEPTED };

/* What becomes of it; the reason is in out->text. */
static enum outcome run(struct bytes original, struct wrong editor, struct wrong verifier,
			uint64_t seed, struct shared *out)
{
	pid_t child = fork();

	if (child == 0)
		edit(original, editor, seed, out);
	wait_for(child);
	if (out->rc < 0)
		return LEFT_ALONE;
	child = fork();
	if (child == 0)
		verify(original, verifier, out);
	wait_for(child);
	return out->rc < 0 ? REFUSED : ACCEPTED;
}

/* The strings that the loader reads are more than dynamic entries say. */
static void shorten_strings(struct bytes original)
{
	uint8_t *p = (uint8_t *)(uintptr_t)original.p;
	struct arena *a = arena_new();
	const uint64_t size = 1;
	struct image img;
	struct err err;

	assert_int_equal(image_parse(original, a, &img, &err), 0);
	const Elf64_Phdr *ph = image_phdr(&img, PT_DYNAMIC);
	for (uint64_t off = 0; off < ph->p_filesz; off += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		memcpy(&d, p + ph->p_offset + off, sizeof(d));
		if (d.d_tag == DT_STRSZ)
			memcpy(p + ph->p_offset + off + offsetof(Elf64_Dyn, d_un), &size,
			       sizeof(size));
	}
	arena_free(a);
}

static const struct row {
	const char *name;
	struct wrong wrong;
	const char *why;	/* the Verifier refuses what a wrong Editor makes */
	/* what a wrong Verifier does with what a right Editor makes */
	enum outcome other;
	const char *flags;
	void (*spoil)(struct bytes original);
} rows[] = {
	{ "S1, kind", { .short_jumps = true }, "its image", REFUSED, NULL, NULL },
	{ "S1, field", { .fields = true }, "operand is at another address", REFUSED, NULL,
	  NULL },
	{ "S1, length", { .lengths = true }, "image at", REFUSED, NULL, NULL },
	{ "S1, memory", { .remembered = true }, "it does not decode", REFUSED, NULL, NULL },
	{ "S2", { .rooms = true }, "the bytes differ", ACCEPTED, NULL, NULL },
	{ "S3", { .writable = true }, "is not constant", ACCEPTED, NULL, NULL },
	{ "S3, dynamic section", { .dynamic = true }, "inside an entry jump", ACCEPTED,
	  "-shared -Wa,--defsym,POINTER=1", NULL },
	{ "S4", { .tables = true }, "original: the section with the strings", LEFT_ALONE, NULL,
	  shorten_strings },
	{ "S5", { .maps = true }, "no image of", REFUSED, NULL, NULL },
	{ "S6", { .ids = true }, "build-id", REFUSED, "-shared -Wl,--build-id", NULL },
	{ "A2", { .names = true }, "uses no more than 4 entries", ACCEPTED, NULL, NULL },
	{ "A3", { .breaks = true }, "goes on to", REFUSED, NULL, NULL },
	{ "A8", { .arguments = true }, "comes from the address of a replaced jump table",
	  ACCEPTED, NULL, NULL },
};

static const struct wrong right;

static struct bytes build(const struct row *r, struct arena *a)
{
	struct bytes original = asm_build("assume", r->flags ? r->flags : "-shared", a);

	if (r->spoil)
		r->spoil(original);
	return original;
}

static void who_is_right_agrees(void **state)
{
	struct shared *out = share();
	struct arena *a = arena_new();
	struct bytes original = asm_build("assume", "-shared", a);

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		if (run(original, right, right, seed, out) != ACCEPTED)
			fail_msg("seed %u: %s", (unsigned)seed, out->text);
	arena_free(a);
}

static void what_a_wrong_editor_makes_is_refused(void **state)
{
	struct shared *out = share();

	(void)state;
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++) {
		struct arena *a = arena_new();
		struct bytes original = build(r, a);
		uint32_t refused = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			enum outcome o = run(original, r->wrong, right, seed, out);
			refused += o == REFUSED;
			if (o == LEFT_ALONE || (o == REFUSED && !strstr(out->text, r->why)))
				fail_msg("%s, seed %u: %s", r->name, (unsigned)seed, out->text);
		}
		if (!refused)
			fail_msg("%s: nobody notices", r->name);
		arena_free(a);
	}
}

static void what_a_wrong_verifier_does_is_known(void **state)
{
	struct shared *out = share();

	(void)state;
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++) {
		struct arena *a = arena_new();
		struct bytes original = build(r, a);

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			enum outcome o = run(original, right, r->wrong, seed, out);
			if (o != r->other)
				fail_msg("%s, seed %u: %s", r->name, (unsigned)seed, out->text);
		}
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_right_agrees),
		cmocka_unit_test(what_a_wrong_editor_makes_is_refused),
		cmocka_unit_test(what_a_wrong_verifier_does_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
