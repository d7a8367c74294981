/* untrue.h - generations that an Editor would make which does not leave alone what it must */
#ifndef TESTS_UNIT_VERIFY_UNTRUE_H
#define TESTS_UNIT_VERIFY_UNTRUE_H

#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

struct untrue {
	const char *source, *flags;	/* of the original, as asm_build() takes them */
	const char *moved;	/* a function that must stay, and is moved; or NULL */
	/* one whose pointers lead to its image, whatever is known of them; or NULL */
	const char *redirected;
	bool unaligned;		/* its image has no other alignment than any */
};

static inline struct fn *untrue_fn(struct prog *prog, const char *name)
{
	return &prog->fn[asm_fn(prog, name) - prog->fn];
}

/* All that may be moved is moved.  Returns what the Verifier returns. */
static inline int untrue_verify(const struct untrue *u, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes original = asm_build(u->source, u->flags, a);
	struct wr made = { 0 }, map = { 0 };
	struct verify_stats proof;
	struct edit_stats stats = { 0 };
	struct prog prog;

	if (edit_analyze(original, NULL, true, a, &prog, err) < 0)
		fail_msg("%s", err->text);
	prog.order = arena_array(a, prog.nfn, sizeof(*prog.order));
	if (u->moved) {
		struct fn *fn = untrue_fn(&prog, u->moved);

		if (fn->skip == SKIP_NONE)
			fail_msg("%s does not stay", u->moved);
		fn->skip = SKIP_NONE;
	}
	for (uint32_t i = 0; i < prog.nfn; i++) {
		prog.fn[i].moved = prog.fn[i].skip == SKIP_NONE;
		if (prog.fn[i].moved)
			prog.order[prog.norder++] = i;
	}
	if (u->redirected) {
		struct fn *fn = untrue_fn(&prog, u->redirected);

		fn->redirected = true;
		fn->align = u->unaligned ? 1 : fn->align;
	}
	if (infer_counts(&prog, err) < 0 ||
	    emit_generation(&prog, 1, &made, &map, &stats, err) < 0)
		fail_msg("%s", err->text);
	int rc = verify_generation(original, wr_bytes(&made), a, &proof, err);
	wr_free(&made);
	wr_free(&map);
	arena_free(a);
	return rc;
}

/* It is refused, because of `why`; accepted if that is NULL. */
static inline void untrue_expect(struct untrue u, const char *why)
{
	struct err err = { 0 };
	int rc = untrue_verify(&u, &err);

	if (why ? rc == 0 || err.kind != ERR_REFUSED || !strstr(err.text, why) : rc < 0)
		fail_msg("%s %s, %s moved, %s redirected: %s", u.source, u.flags,
			 u.moved ? u.moved : "none", u.redirected ? u.redirected : "none",
			 rc ? err.text : "accepted");
}

#endif
