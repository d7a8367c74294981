/* bfdfile.h - libbfd on the bytes of a file
 *
 * BFD reads from memory, because a job may open nothing; and it is kept from asking for other
 * files: a link to an alternative debug file is hidden, and only a file with debug information
 * may be asked for lines (bfdfile_has_lines()).  What BFD says of damaged files goes nowhere.
 */
#ifndef EDITOR_EXCHANGE_BFDFILE_H
#define EDITOR_EXCHANGE_BFDFILE_H

#include <stdbool.h>

#include "lib/rd.h"

struct bfd;
struct bfd_symbol;
struct err;

/* NULL when it is no x86-64 ELF object.  `b` must live as long as the file; the name is only
 * for messages.  Every file that was opened is closed by bfdfile_close(). */
struct bfd *bfdfile_open(struct bytes *b, const char *name, struct err *err);
void bfdfile_close(struct bfd *abfd);		/* NULL is allowed */

/* Malloc-backed, ending with NULL, the caller's; NULL: there are none.  What they point to
 * lives as long as the file. */
struct bfd_symbol **bfdfile_symbols(struct bfd *abfd, bool dynamic, long *n);

/* Does the file have debug information? */
bool bfdfile_has_lines(struct bfd *abfd);

#endif
