/* boltnames.h - the names by which llvm-bolt knows pieces of code
 *
 * A global symbol is its name.  Of local symbols of one name each gets a number, from 1 on in
 * the order of addresses: "name/1".  A piece of code without a symbol that an FDE describes is
 * named by its address, in a stripped file, whatever its dynamic symbols are called.
 */
#ifndef EDITOR_EXCHANGE_BOLTNAMES_H
#define EDITOR_EXCHANGE_BOLTNAMES_H

#include <stdint.h>

#include "lib/addr.h"
#include "lib/rd.h"

struct arena;
struct err;

struct boltnames {
	struct boltname {
		const char *name;
		vaddr addr;
	} *by_addr, *by_name;	/* [n] */
	uint32_t n;
	struct arena *arena;
};

int boltnames_read(struct bytes *file, struct arena *a, struct boltnames *out,
		   struct err *err);
/* Of the piece of code that begins there. */
const char *boltnames_plain(const struct boltnames *b, vaddr addr);
/* The same; blanks and backslashes in it are escaped, as fdata has them. */
const char *boltnames_at(const struct boltnames *b, vaddr addr);
/* The address of such a name, with escapes removed; false: the file has none. */
bool boltnames_find(const struct boltnames *b, const char *name, vaddr *out);

#endif
