/* err.c - builds the sentence about a failure; one that is too long is cut at its end
 *
 * Tested by tests/unit/lib/test_err.c.
 */
#include "lib/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->kind = kind;
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);	/* a cut sentence still tells */
	va_end(ap);
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 3 >= sizeof(err->text))
		return -1;
	size_t room = sizeof(err->text) - (size_t)n - 3, len = strlen(old);
	if (len > room)
		len = room;
	memcpy(err->text + n, ": ", 2);
	memcpy(err->text + n + 2, old, len);
	err->text[(size_t)n + 2 + len] = '\0';
	return -1;
}

int err_exit_code(const struct err *err)
{
	switch (err->kind) {
	case ERR_USAGE:
		return 2;
	case ERR_REFUSED:
		return 3;
	default:
		return 1;
	}
}
