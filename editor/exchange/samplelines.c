/* samplelines.c - places of a program as lines of text, with or without counts
 *
 * Tested by tests/fuzz/fuzz_annotate.c and tests/e2e/annotate.sh.
 */
#include "editor/exchange/samplelines.h"

#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"

enum { COUNT_DIGITS = 15 };	/* a double holds them exactly */

static const char *parse_address(const char *s, const char *end, uint64_t *out)
{
	const char *start;

	if (end - s < 3 || s[0] != '0' || s[1] != 'x')
		return NULL;
	*out = 0;
	for (start = s += 2; s < end && *s != ' '; s++) {
		const char *digits = "0123456789abcdef", *d = memchr(digits, *s, 16);

		if (!d || s - start == 16)
			return NULL;
		*out = *out << 4 | (uint64_t)(d - digits);
	}
	return s == start ? NULL : s;
}

static bool parse_count(const char *s, const char *end, double *out)
{
	*out = 0;
	if (s == end || end - s > COUNT_DIGITS)
		return false;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9')
			return false;
		*out = 10 * *out + (*s - '0');
	}
	return true;
}

static vaddr of_offset(const struct image *img, file_off off)
{
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *p = &img->ph[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && off >= p->p_offset &&
		    off - p->p_offset < p->p_filesz)
			return p->p_vaddr + (off - p->p_offset);
	}
	return 0;
}

static bool parse_line(const char *s, const char *end, const struct image *img,
		       struct sampleline *out)
{
	bool offset = s < end && *s == '+';
	uint64_t v;

	s = parse_address(s + offset, end, &v);
	if (!s)
		return false;
	out->addr = offset ? of_offset(img, v) : v;
	out->count = 1;
	return s == end || parse_count(s + 1, end, &out->count);
}

int samplelines_read(struct bytes text, const struct image *img, struct arena *a,
		     struct samplelines *out, struct err *err)
{
	VEC(struct sampleline) at = { 0 };

	const char *end = (const char *)text.p + text.n;

	for (const char *p = (const char *)text.p, *nl; p < end; p = nl + 1) {
		struct sampleline line;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl || !parse_line(p, nl, img, &line) || at.n == UINT32_MAX / 32)
			return err_set(err, ERR_INPUT, "line %u of the places is malformed",
				       at.n + 1);
		vec_push(a, &at, line);
	}
	*out = (struct samplelines){ at.v, at.n };
	return 0;
}
