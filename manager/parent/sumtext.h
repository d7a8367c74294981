/* sumtext.h - small text files of root's own, whose last line is a checksum of those before it
 *
 * Journals and entries of the ledger have this form: lines "KEY VALUE", then
 *
 *   sum <64 hex digits>
 *
 * A file is written under another name, synced and renamed: a kill leaves the whole of it or
 * nothing.  Who reads one formats again what he has read and compares (sumtext_same), so there
 * is one way only to write a thing.
 */
#ifndef MANAGER_PARENT_SUMTEXT_H
#define MANAGER_PARENT_SUMTEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "manager/parent/names.h"

struct err;

/* A path, further names, and keys and numbers for each. */
enum { SUMTEXT_MAX = PATH_MAX + NAMES_BYTES + 2048 };

struct sumtext {
	char text[SUMTEXT_MAX + 1];	/* ends in NUL */
	size_t n;
};

/* Appends to the text as printf does; what does not fit is an assertion: keys and numbers
 * are short, paths and names bounded. */
void sumtext_add(struct sumtext *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the line of the checksum: the text is complete. */
void sumtext_close(struct sumtext *s);
bool sumtext_same(const struct sumtext *x, const struct sumtext *y);

/* Durable when it returns: dir/name, by way of dir/temporary. */
int sumtext_write(int dir, const char *name, const char *temporary, const struct sumtext *s,
		 struct err *err);
/* 1 read, its checksum right; 0 there is none; -1: ERR_INPUT when it is damaged. */
int sumtext_read(int dir, const char *name, struct sumtext *out, struct err *err);
/* The rest of the line that begins with `key` at *at; its line break becomes an end.  NULL:
 * another line is there. */
char *sumtext_line(char **at, const char *key);

#endif
