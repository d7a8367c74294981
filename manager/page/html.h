/* html.h - the markup of a page
 *
 * Markup is only what stands in a format; everything that is put into it is text.  So names of
 * files, symbols and users, whoever chose them, stay text:
 *
 *	html_put(w, "<td title=\"%s\">%s</td>", path, name);
 *
 * What stands for itself in markup is written as a character reference, and what could change
 * the text around it or not be seen as an escape of lib/utf8.h; a backslash stays one.  Values
 * of attributes are in double quotes.  A page is well-formed XML as well.
 */
#ifndef MANAGER_PAGE_HTML_H
#define MANAGER_PAGE_HTML_H

#include "lib/wr.h"

/* Appends the format.  Conversions are those of printf for strings, for int, unsigned, long
 * and their like, and for double, without a width from the arguments. */
void html_put(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends a text alone. */
void html_text(struct wr *w, const char *text);

#endif
