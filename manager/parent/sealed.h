/* sealed.h - small text files of root's own, whose last line is a checksum of those before it
 *
 * Journals and entries of the ledger have this form: lines "KEY VALUE", then
 *
 *   sum <64 hex digits>
 *
 * A file is written under another name, synced and renamed: a kill leaves the whole of it or
 * nothing.  Who reads one formats again what he has read and compares (sealed_same), so there
 * is one way only to write a thing.
 */
#ifndef MANAGER_PARENT_SEALED_H
#define MANAGER_PARENT_SEALED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

enum { SEALED_MAX = PATH_MAX + 1024 };

struct sealed {
	char text[SEALED_MAX + 1];	/* ends in NUL */
	size_t n;
};

/* Appends to the text as printf does; what does not fit is an assertion: keys and numbers
 * are short, paths are shorter than PATH_MAX. */
void sealed_add(struct sealed *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the line of the checksum: the text is complete. */
void sealed_close(struct sealed *s);
bool sealed_same(const struct sealed *x, const struct sealed *y);

/* Durable when it returns: dir/name, by way of dir/temporary. */
int sealed_write(int dir, const char *name, const char *temporary, const struct sealed *s,
		 struct err *err);
/* 1 read, its checksum right; 0 there is none; -1: ERR_INPUT when it is damaged. */
int sealed_read(int dir, const char *name, struct sealed *out, struct err *err);
/* The rest of the line that begins with `key` at *at; its line break becomes an end.  NULL:
 * another line is there. */
char *sealed_line(char **at, const char *key);

#endif
