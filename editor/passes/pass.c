/* pass.c - the table of passes and their runner
 *
 * Two passes that other optimizers have are missing, because they would gain next to nothing:
 *
 * - Jump threading: a branch to a lone jmp would go straight to the jmp's target.  Compilers
 *   leave few such branches: in the bench programs they are up to 0.4 % of the taken branches
 *   of a new layout, 0.1 % in the mean (`morph-edit report`, "to a jmp alone").  And the target
 *   of a branch would no longer be the image of the original's target, which is what the
 *   Verifier shows, and by which seen edges of a generation are taken back to the original.
 * - Direct calls, instead of calls through the linkage table, of the module's own functions
 * that
 *   cannot be interposed.  The link editor makes no slots for these: among 1,350 programs and
 *   libraries of a distribution only libraries have a slot for a function of their own, and
 *   that function can be interposed.
 *
 * Tested by tests/unit/editor/passes/test_passes.c.
 */
#include "editor/passes/pass.h"

#include <stdio.h>
#include <string.h>

#include "editor/passes/ir_print.h"
#include "lib/err.h"

const struct pass passes[] = {	/* in running order */
	{ "fluff", "move blocks that do not run to the fluff text", true, pass_fluff, false },
	{ "leave", "copy no block that can as well run where it was", true, pass_leave, false },
	{ "lines", NULL, true, pass_lines_choose, true },
	{ "layout", NULL, true, pass_layout_choose, true },
	{ "align", "lay the likely successor of a block behind it", true, pass_align, false },
	{ "layout", "lay functions that call each other close together", true, pass_layout,
	  true },
	{ "calls", "libraries call others without the linkage table", true, pass_calls, true },
	{ "lines", "code that often runs lies across few lines of the processor's", true,
	  pass_lines, true },
	{ "shuffle", "any valid layout, by chance (for tests)", false, pass_shuffle, false },
	{ NULL, NULL, false, NULL, false }
};

static const struct pass *find_pass(const char *name, size_t n)
{
	for (const struct pass *p = passes; p->name; p++) {
		if (p->help && strlen(p->name) == n && memcmp(p->name, name, n) == 0)
			return p;
	}
	return NULL;
}

static int unknown_pass(const char *name, size_t n, struct err *err)
{
	char known[256] = "";

	for (const struct pass *p = passes; p->name; p++) {
		size_t len = strlen(known);

		if (p->help)
			(void)snprintf(known + len, sizeof(known) - len, "%s%s",
				       len ? ", " : "", p->name);
	}
	return err_set(err, ERR_USAGE, "no pass is called '%.*s'; there are %s",
		       n > 40 ? 40 : (int)n, name, known);
}

/* Sets selected[i]: is passes[i] to run?  A list of names with a minus says which are not. */
static int select_passes(const struct edit_options *options, bool *selected, struct err *err)
{
	bool without = options->passes && *options->passes == '-';

	for (const struct pass *p = passes; p->name; p++) {
		bool wanted = (!options->passes || without) && p->by_default;

		selected[p - passes] = options->shuffle ? p->run == pass_shuffle : wanted;
	}
	if (options->print_after &&
	    !find_pass(options->print_after, strlen(options->print_after)))
		return unknown_pass(options->print_after, strlen(options->print_after), err);
	for (const char *s = options->passes; s && *s; ) {
		if (without && *s++ != '-')
			return err_set(err, ERR_USAGE, "'%s': not all of these have a minus",
				       options->passes);
		size_t n = strcspn(s, ",");
		const struct pass *named = find_pass(s, n);

		if (!named)
			return unknown_pass(s, n, err);
		for (const struct pass *p = passes; p->name && !options->shuffle; p++)
			if (strcmp(p->name, named->name) == 0)
				selected[p - passes] = !without;
		s += n;
		s += *s == ',';
	}
	return 0;
}

int passes_run(struct prog *prog, const struct edit_options *options, struct err *err)
{
	bool selected[sizeof(passes) / sizeof(passes[0])] = { false };

	if (select_passes(options, selected, err) < 0)
		return -1;
	for (const struct pass *p = passes; p->name; p++) {
		if (!selected[p - passes])
			continue;
		if (p->run(prog, options, err) < 0)
			return err_wrap(err, "pass %s", p->name);
		if ((p->keeps_blocks ? ir_check_layout(prog, err) : ir_check_order(prog, err)) <
		    0)
			return err_wrap(err, "after pass %s", p->name);
		if (p->help && options->print_after &&
		    strcmp(options->print_after, p->name) == 0)
			ir_print(prog, stderr);
	}
	return ir_check(prog, err) < 0 ? err_wrap(err, "after all passes") : 0;
}
