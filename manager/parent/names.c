/* names.c - further names of a file; see names.h
 *
 * Tested by tests/unit/manager/parent/test_names.c.
 */
#include "manager/parent/names.h"

#include <assert.h>
#include <string.h>

int names_add(struct names *names, const char *path)
{
	size_t n = strlen(path) + 1;

	if (names_have(names, path))
		return 0;
	if (names->n + 1 >= NAMES_MOST || n > sizeof(names->text) - names->bytes)
		return -1;
	memcpy(names->text + names->bytes, path, n);
	names->bytes += (unsigned)n;
	names->n++;
	return 0;
}

const char *names_at(const struct names *names, unsigned i)
{
	const char *at = names->text;

	assert(i < names->n);
	while (i--)
		at += strlen(at) + 1;
	return at;
}

void names_lines(const struct names *names, char out[NAMES_BYTES])
{
	for (unsigned i = 0; i < names->bytes; i++)
		out[i] = names->text[i] ? names->text[i] : '\n';
	out[names->bytes < NAMES_BYTES ? names->bytes : NAMES_BYTES - 1] = '\0';
}

bool names_have(const struct names *names, const char *path)
{
	for (unsigned i = 0; names && i < names->n; i++)
		if (strcmp(names_at(names, i), path) == 0)
			return true;
	return false;
}
