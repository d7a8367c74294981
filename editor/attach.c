/* attach.c - samples of a profile onto the blocks of the program that they were taken from */
#include "editor/editor.h"

#include "lib/err.h"

/* The block of fn that begins at addr; NO_BLOCK if none does. */
static uint32_t block_at(const struct fn *fn, vaddr addr)
{
	uint32_t b = fn_find_block(fn, addr);

	return b != NO_BLOCK && fn->block[b].addr == addr ? b : NO_BLOCK;
}

int profile_attach(struct prog *prog, const struct profile *profile, struct err *err)
{
	char want[65], got[65];

	if (!digest_equal(&profile->original, &prog->digest)) {
		digest_hex(&profile->original, want);
		digest_hex(&prog->digest, got);
		return err_set(err, ERR_INPUT, "profile is of another file: SHA-256 %.12s..., "
			       "this is %.12s...", want, got);
	}
	for (uint32_t i = 0; i < profile->nblock; i++) {
		vaddr addr = profile->block[i].addr;
		uint32_t f = prog_find_fn(prog, addr);
		uint32_t b = f == NO_FN ? NO_BLOCK : block_at(&prog->fn[f], addr);

		/* A function that stays as it is may not be cut into blocks. */
		if (f == NO_FN || (b == NO_BLOCK && prog->fn[f].skip == SKIP_NONE))
			return err_set(err, ERR_INPUT, "profile: no block begins at %#llx; it "
				       "was made with another analysis", (unsigned long long)addr);
	}
	for (uint32_t i = 0; i < profile->nblock; i++) {
		struct fn *fn = &prog->fn[prog_find_fn(prog, profile->block[i].addr)];
		uint32_t b = block_at(fn, profile->block[i].addr);

		fn->samples += profile->block[i].samples;
		if (b != NO_BLOCK)
			fn->block[b].samples += profile->block[i].samples;
		fn->moved = fn->skip == SKIP_NONE && fn->samples > 0;
	}
	return 0;
}
