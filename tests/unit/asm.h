/* asm.h - test inputs made with the assembler: tests/asm/NAME.s, linked, analysed */
#ifndef TESTS_UNIT_ASM_H
#define TESTS_UNIT_ASM_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/dynamic.h"
#include "lib/err.h"
#include "lib/io.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

/* What was built stays for who asks again: tests ask for each seed. */
struct asm_built {
	struct asm_built *next;
	struct arena *arena;		/* it is in, for ever */
	char *command;
	struct bytes file;
};

static inline struct bytes asm_link(const char *command, const char *out, struct arena *a)
{
	struct bytes file = { 0 };
	struct err err;

	if (system(command) != 0)
		fail_msg("%s failed", command);
	int fd = open(out, O_RDONLY);
	if (fd < 0 || io_read_all(fd, 1 << 24, a, &file, &err) < 0)
		fail_msg("%s: cannot be read back", out);
	(void)close(fd);
	return file;
}

/* The linked file as bytes, the caller's to change.  `flags` go to gcc, -nostdlib is given. */
static inline struct bytes asm_build(const char *name, const char *flags, struct arena *a)
{
	static struct asm_built *all;
	char out[] = "/tmp/morph-asm.XXXXXX";
	const char *what = arena_printf(a, "gcc -nostdlib %s tests/asm/%s.s -o", flags, name);
	struct asm_built *b = all;

	while (b && strcmp(b->command, what) != 0)
		b = b->next;
	if (!b) {
		struct arena *for_ever = arena_new();
		int fd = mkstemp(out);

		assert_true(fd >= 0);
		(void)close(fd);
		b = arena_array(for_ever, 1, sizeof(*b));
		b->arena = for_ever;
		b->command = arena_printf(for_ever, "%s", what);
		b->file = asm_link(arena_printf(a, "%s %s", what, out), out, for_ever);
		(void)unlink(out);
		b->next = all;
		all = b;
	}

	uint8_t *copy = arena_array(a, b->file.n, 1);

	memcpy(copy, b->file.p, b->file.n);
	return (struct bytes){ copy, b->file.n };
}

static inline void asm_analyze(const char *name, const char *flags, struct arena *a,
			       struct prog *prog)
{
	struct err err;

	if (prog_analyze(asm_build(name, flags, a), a, prog, &err) < 0 ||
	    ir_check(prog, &err) < 0)
		fail_msg("%s: %s", name, err.text);
}

static inline const struct fn *asm_fn(const struct prog *prog, const char *name)
{
	for (uint32_t i = 0; i < prog->nfn; i++)
		if (prog->fn[i].name && strcmp(prog->fn[i].name, name) == 0)
			return &prog->fn[i];
	fail_msg("no function %s", name);
	return NULL;
}

struct asm_find {
	const char *name;
	vaddr value;
};

static inline void asm_take(void *ctx, uint32_t index, const struct symbol *s)
{
	struct asm_find *f = ctx;

	(void)index;
	if (strcmp(s->name, f->name) == 0)
		f->value = s->value;
}

/* The value of a symbol, which is not 0. */
static inline vaddr asm_symbol(const struct image *img, const char *name)
{
	struct asm_find f = { .name = name };

	symbols_each(img, SHT_SYMTAB, asm_take, &f);
	if (!f.value)
		fail_msg("no symbol %s", name);
	return f.value;
}

static const uint8_t asm_nop7[] = { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 };

/* Where the NOP of seven bytes is in the function. */
static inline vaddr asm_place(const struct prog *prog, const char *name)
{
	const struct fn *fn = asm_fn(prog, name);

	for (uint32_t i = 0; i < fn->ninsn; i++) {
		const struct insn *in = &fn->insn[i];

		if (in->len == sizeof(asm_nop7) &&
		    memcmp(prog_insn_bytes(prog, in), asm_nop7, sizeof(asm_nop7)) == 0)
			return prog_insn_addr(prog, in);
	}
	fail_msg("%s has no place", name);
	return 0;
}

#endif
