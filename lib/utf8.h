/* utf8.h - text of others, made fit for terminals, logs and JSON
 *
 * A path is bytes that somebody else chose, and so are the names of symbols and what comes over
 * a socket.  All that Morph shows of them goes through here.  What could steer a terminal,
 * change the direction of the text around it, or not be seen at all is shown as an escape:
 *
 *	\xNN		a byte that is no UTF-8, or a control character below 0x20, or 0x7f
 *	\uNNNN \UNNNNNNNN	any other character that is not shown as it is
 *	\\		a backslash
 *
 * So two texts that are shown alike are alike.  Control characters of C1, marks of direction,
 * separators of lines and paragraphs, invisible characters and noncharacters are escaped.
 */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at `s`, which ends with NUL: its length in bytes and itself in *c.  0: the
 * byte there begins none (it is no UTF-8, or the NUL). */
unsigned utf8_next(const char *s, uint32_t *c);
bool utf8_valid(const char *s);
/* Is it shown as it is, or all of a text? */
bool utf8_is_shown(uint32_t c);
bool utf8_all_shown(const char *s);

/* Most bytes that one byte of a text becomes. */
enum { UTF8_GROWTH = 4 };

/* Writes the text with its escapes, at most `n` bytes with the NUL; no character and no escape
 * is cut in two.  n > 0. */
void utf8_escape(const char *s, char *out, size_t n);
/* The same as a string of its own, which is the caller's; never NULL. */
char *utf8_escaped(const char *s);
/* The way back, in place: what is no escape stays as it is. */
void utf8_unescape(char *s);
/* Characters of an escaped text: columns, as far as each takes one. */
size_t utf8_length(const char *escaped);

#endif
