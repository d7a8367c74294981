/* asm.h - test inputs made with the assembler: tests/asm/NAME.s, linked, analysed */
#ifndef TESTS_UNIT_ASM_H
#define TESTS_UNIT_ASM_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

/* The linked file as bytes.  `flags` go to gcc, -nostdlib is given. */
static inline struct bytes asm_build(const char *name, const char *flags, struct arena *a)
{
	char out[] = "/tmp/morph-asm.XXXXXX";
	int fd = mkstemp(out);
	char *command =
		arena_printf(a, "gcc -nostdlib %s -o %s tests/asm/%s.s", flags, out, name);
	struct bytes file = { 0 };
	struct err err;

	assert_true(fd >= 0);
	if (system(command) != 0)
		fail_msg("%s failed", command);
	(void)close(fd);
	fd = open(out, O_RDONLY);
	if (fd < 0 || io_read_all(fd, 1 << 24, a, &file, &err) < 0)
		fail_msg("%s: cannot be read back", out);
	(void)close(fd);
	(void)unlink(out);
	return file;
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

#endif
