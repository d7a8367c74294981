/* say.h - a line for people, in which no text of others can do harm (lib/utf8.h)
 *
 * Programs print through here all lines that hold more than what they say of themselves;
 * tests/lint/sources.sh holds them to it.
 */
#ifndef LIB_SAY_H
#define LIB_SAY_H

#include <stdio.h>

/* The line, with its end. */
void say_line(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
