/* twoversions.h - the two versions of tests/asm/twoversions.s, signed */
#ifndef TESTS_UNIT_EDITOR_INHERIT_TWOVERSIONS_H
#define TESTS_UNIT_EDITOR_INHERIT_TWOVERSIONS_H

#include "editor/inherit/signature.h"
#include "tests/unit/asm.h"

struct twoversions {
	struct prog old_prog, now_prog;
	struct signature old, now;
};

static inline void twoversions_make_by(struct arena *a, const char *flags,
				       struct twoversions *t)
{
	asm_analyze("twoversions", flags, a, &t->old_prog);
	asm_analyze("twoversions", arena_printf(a, "%s -Wa,--defsym,NEW=1", flags), a,
		    &t->now_prog);
	signature_of(&t->old_prog, &t->old);
	signature_of(&t->now_prog, &t->now);
}

static inline void twoversions_make(struct arena *a, struct twoversions *t)
{
	twoversions_make_by(a, "-pie", t);
}

/* As of stripped files, of which nothing is exported. */
static inline void twoversions_strip(struct twoversions *t)
{
	for (uint32_t f = 0; f < t->old.nfn; f++)
		t->old.fn[f].name = 0;
	for (uint32_t f = 0; f < t->now.nfn; f++)
		t->now.fn[f].name = 0;
}

static inline uint32_t twoversions_fn(const struct prog *prog, const char *name)
{
	return (uint32_t)(asm_fn(prog, name) - prog->fn);
}

/* The block of the function that begins with the instruction's bytes; NONE. */
static inline uint32_t twoversions_block(const struct prog *prog, const char *name,
					 const char *bytes)
{
	const struct fn *fn = asm_fn(prog, name);

	for (uint32_t i = 0; i < fn->nblock; i++)
		if (memcmp(prog_insn_bytes(prog, &fn->insn[fn->block[i].insn]), bytes,
			   strlen(bytes)) == 0)
			return i;
	return SIGNATURE_NONE;
}

#endif
