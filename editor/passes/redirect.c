/* redirect.c - selects the functions to which all pointers are changed to lead to images
 *
 * A pointer to a moved function costs an entry jump, and a page of original text, each time
 * that it is called.  It can lead to the image instead when all pointers to the function do:
 * programs compare them.  That is so when every place they come from is known
 * (postmorph/refs/references.c) and holds the new address whenever the program could look:
 *
 *   data, symbols   they are there only once; rewritten, they are right everywhere
 *   lea             the image of the instruction forms the new address, but its original stays
 *                   and forms the old one.  So the function that the instruction is in must be
 *                   moved and sealed, which keeps its original from running, and no block of it
 *                   may stay in the original text
 *
 * All references to a function are redirected or none; all to the labels of a function or none.
 */
#include "editor/passes/redirect.h"

void redirect_select(struct prog *prog)
{
	for (uint32_t i = 0; i < prog->nfn; i++) {
		struct fn *fn = &prog->fn[i];

		fn->redirected = fn->moved && fn->pointers == POINTERS_KNOWN;
		fn->threaded = fn->moved && fn->labels == POINTERS_KNOWN;
	}
	for (uint32_t i = 0; i < prog->nref; i++) {
		const struct reference *r = &prog->ref[i];
		const struct fn *user = &prog->fn[r->user];

		if (r->kind == REFERENCE_LEA && r->to == prog->fn[r->fn].entry &&
		    !(user->moved && user->sealed && !user->leaves))
			prog->fn[r->fn].redirected = false;
	}
}
