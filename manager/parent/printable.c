/* printable.c - texts for the log whose parts others have chosen; see printable.h
 *
 * Tested by tests/unit/manager/parent/test_requests.c.
 */
#include "manager/parent/printable.h"

#include <stdio.h>
#include <string.h>

void printable(const char *text, char out[PRINTABLE_MAX])
{
	size_t n = 0;

	for (; *text && n + 8 < PRINTABLE_MAX; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c < 0x7f)
			out[n++] = (char)c;
		else
			n += (size_t)snprintf(out + n, 5, "\\x%02x", c);
	}
	strcpy(out + n, *text ? "..." : "");	/* there is room for it */
}
