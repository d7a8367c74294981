/* when.c - times before now, and dates; see when.h
 *
 * Tested by tests/unit/lib/test_when.c.
 */
#include "lib/when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t second_ns = 1000000000;

/* Digits alone; the rest of the text is *end. */
static bool read_number(const char *text, uint64_t *out, char **end)
{
	errno = 0;
	*out = strtoull(text, end, 10);
	return *text >= '0' && *text <= '9' && !errno;
}

static bool parse_age(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	char *end;
	uint64_t n;

	if (!read_number(text, &n, &end) || !*end || end[1])
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t unit_ns = units[i].seconds * second_ns;

		if (units[i].unit != *end)
			continue;
		*out_ns = n > now_ns / unit_ns ? 0 : now_ns - n * unit_ns;
		return true;
	}
	return false;
}

static bool parse_date(const char *text, uint64_t *out_ns)
{
	static const char *const form[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
					    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S" };

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, form[i], &tm);

		if (!end || *end)
			continue;
		int day = tm.tm_mday;
		time_t t = mktime(&tm);
		*out_ns = t > 0 ? (uint64_t)t * second_ns : 0;
		return t >= 0 && tm.tm_mday == day;	/* else a day that no month has */
	}
	return false;
}

bool when_parse(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	uint64_t ns, s;
	char *end;

	if (*text == '@') {
		if (!read_number(text + 1, &s, &end) || *end || s > UINT64_MAX / second_ns)
			return false;
		ns = s * second_ns;
	} else if (!parse_age(text, now_ns, &ns) && !parse_date(text, &ns)) {
		return false;
	}
	if (ns > now_ns)
		return false;
	*out_ns = ns;
	return true;
}

uint64_t when_full(const char *text, uint64_t ns)
{
	size_t digits = strspn(text, "0123456789");
	char unit = digits && text[digits] && !text[digits + 1] ? text[digits] : '\0';
	uint64_t full_s = unit == 'h' ? 3600 : unit == 'd' || unit == 'w' ? 86400 : 0;

	return full_s ? ns - ns % (full_s * second_ns) : ns;
}

uint64_t when_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);	/* cannot fail for this clock */
	return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}
