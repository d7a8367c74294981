/* say.c - a line for people; see say.h
 *
 * The whole line is escaped, so nobody can forget an argument of it.
 */
#include "lib/say.h"

#include <stdarg.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/utf8.h"

void say_line(FILE *to, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		memory_exhausted();
	char *safe = utf8_escaped(text);
	(void)fprintf(to, "%s\n", safe);	/* nowhere else to say it */
	free(safe);
	free(text);
}
