/* table_code.h - block tables in few bytes, for the store
 *
 * A block table (lib/blocktable.h) has 16 bytes for each block; most of these follow from the
 * block before: it begins where that ends, in the same function, and has about an instruction
 * for each four bytes.  What does not follow is packed by columns, some 9 bits a block.
 * doc/formats.md has the form.
 */
#ifndef MANAGER_STORE_TABLE_CODE_H
#define MANAGER_STORE_TABLE_CODE_H

#include <stdbool.h>

#include "lib/blocktable.h"

struct err;

/* Appends the code; false: there is none of it, and nothing was appended. */
bool table_code_write(const struct blocktable *t, struct wr *out);
bool table_code_is(struct bytes b);
/* Checks everything that blocktable_read() does; `original` is not in the code. */
int table_code_read(struct bytes b, const struct digest *original, struct blocktable *out,
		    struct err *err);

#endif
