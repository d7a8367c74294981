/* placed.c - where blocks of an original lie in a generation; see placed.h
 *
 * Tested by tests/unit/lib/test_placed.c.
 */
#include "lib/placed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4 };

/* The words of the next line, separated by tabs; the last one has what is left. */
static int next_words(char **rest, char *word[WORDS])
{
	char *line = *rest, *end = strchr(line, '\n');
	int n = 0;

	if (!end)
		return -1;
	*end = '\0';
	*rest = end + 1;
	for (char *s = line; s; ) {
		char *tab = n < WORDS - 1 ? strchr(s, '\t') : NULL;

		if (tab)
			*tab++ = '\0';
		word[n++] = s;
		s = tab;
	}
	return n;
}

static bool number(const char *s, int base, uint64_t max, uint64_t *out)
{
	char *end;

	if (base == 16 && (s[0] != '0' || s[1] != 'x'))
		return false;
	s += base == 16 ? 2 : 0;
	if (!strchr(base == 16 ? "0123456789abcdef" : "0123456789", *s) || !*s)
		return false;
	errno = 0;
	*out = strtoull(s, &end, base);
	return !errno && !*end && *out <= max;
}

uint32_t placed_generation(char **rest)
{
	static const char head[] = "generation ";
	char *word[WORDS];
	uint64_t n;

	if (next_words(rest, word) != 1 || strncmp(word[0], head, sizeof(head) - 1) != 0 ||
	    !number(word[0] + sizeof(head) - 1, 10, UINT32_MAX, &n))
		return 0;
	return (uint32_t)n;
}

static bool take_block(char *const *word, struct placed_line *out)
{
	uint64_t size;

	*out = (struct placed_line){ .text = "" };
	if (strcmp(word[0], "block") != 0 || !number(word[1], 16, UINT64_MAX, &out->addr) ||
	    !number(word[2], 10, UINT32_MAX, &size) ||
	    !number(word[3], 16, UINT64_MAX, &out->original))
		return false;
	out->size = (uint32_t)size;
	return true;
}

static bool take_insn(char *const *word, struct placed_line *out)
{
	*out = (struct placed_line){ .insn = true, .text = word[3] };
	return strcmp(word[0], "insn") == 0 && number(word[1], 16, UINT64_MAX, &out->addr) &&
	       (strcmp(word[2], "-") == 0 || number(word[2], 16, UINT64_MAX, &out->original));
}

bool placed_next(char **rest, struct placed_line *out)
{
	char *word[WORDS];

	for (int n; (n = next_words(rest, word)) >= 0; )
		if (n == WORDS && (take_block(word, out) || take_insn(word, out)))
			return true;
	return false;
}
