/* usage.c - what is wrong with the options of a command line, and what was meant; see usage.h
 *
 * Tested by tests/unit/lib/test_usage.c.
 */
#include "lib/usage.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/say.h"

enum { MAX_WORD = 32 };

/* --- what was meant --- */

unsigned usage_distance(const char *a, const char *b)
{
	unsigned row[3][MAX_WORD + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX_WORD || m > MAX_WORD)
		return UINT_MAX;
	for (size_t k = 0; k <= m; k++)
		row[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3];
		const unsigned *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			unsigned least = last[k - 1] + (a[i - 1] != b[k - 1]);

			least = last[k] + 1 < least ? last[k] + 1 : least;
			least = now[k - 1] + 1 < least ? now[k - 1] + 1 : least;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    before[k - 2] + 1 < least)
				least = before[k - 2] + 1;
			now[k] = least;
		}
	}
	return row[n % 3][m];
}

bool usage_is_nearer(struct usage_meant *m, const char *name)
{
	size_t n = strlen(m->word);
	bool begins = n >= 3 && strncmp(m->word, name, n) == 0;
	unsigned d = begins ? 1 : usage_distance(m->word, name);

	if (d > 1 + n / 4 || d >= m->best)
		return false;
	m->best = d;
	return true;
}

/* --- usage lines --- */

/* The next long option in a usage line: its name behind the "--", and how long that is; NULL:
 * there is none. */
static const char *next_option(const char *line, size_t *len)
{
	const char *at = line;

	while ((at = strstr(at, "--"))) {
		at += 2;
		*len = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
		if (*len)
			return at;
	}
	return NULL;
}

/* How the line goes on behind the option, a long or a short one; NULL: it has none such. */
static const char *find_long(const char *line, const char *name, size_t n)
{
	size_t len;

	for (const char *at = line; (at = next_option(at, &len)); at += len)
		if (len == n && strncmp(at, name, n) == 0)
			return at + len;
	return NULL;
}

static const char *find_short(const char *line, char letter)
{
	for (const char *at = line; (at = strchr(at, '-')); at++)
		if ((at == line || strchr(" [|\n", at[-1])) && at[1] == letter &&
		    !isalnum((unsigned char)at[2]) && at[2] != '-')
			return at + 2;
	return NULL;
}

/* The name of the value that an option needs, *len bytes; NULL: it needs none. */
static const char *needs(const char *behind, size_t *len)
{
	if (*behind != '=' && !(*behind == ' ' && isupper((unsigned char)behind[1])))
		return NULL;
	*len = strcspn(behind + 1, "] \n|");
	return behind + 1;
}

/* --- options --- */

static void offer_all(struct usage_meant *m, const char *line, char meant[MAX_WORD + 1])
{
	char name[MAX_WORD + 1];
	size_t len;

	for (const char *at = line; (at = next_option(at, &len)); at += len) {
		/* longer names are not near */
		(void)snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (usage_is_nearer(m, name))
			memcpy(meant, name, sizeof(name));
	}
}

static bool say_unknown(const char *who, const char *line, const char *common,
			const char *option)
{
	char word[MAX_WORD + 1], meant[MAX_WORD + 1] = "";
	struct usage_meant m = { word, UINT_MAX };

	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(option + 2, "="), option + 2);
	if (option[1] == '-') {
		offer_all(&m, line, meant);
		offer_all(&m, common ? common : "", meant);
	}
	if (*meant)
		say_line(stderr, "%s: unknown option '%s'; did you mean '--%s'?", who, option,
			 meant);
	else
		say_line(stderr, "%s: unknown option '%s'", who, option);
	return false;
}

/* Removes argv[i]. */
static void take_out(int *argc, char **argv, int i)
{
	memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
	(*argc)--;
}

static bool check_long(const char *who, const char *behind, int *argc, char **argv, int i)
{
	bool has = strchr(argv[i], '=') != NULL;
	size_t len;
	const char *value = needs(behind, &len);
	char *joined;

	if (has && !value && strncmp(behind, "[=", 2) != 0) {
		say_line(stderr, "%s: option '%.*s' has no value", who,
			 (int)strcspn(argv[i], "="), argv[i]);
		return false;
	}
	if (has || !value)
		return true;
	if (i + 1 == *argc) {
		say_line(stderr, "%s: option '%s' needs a value: %s=%.*s", who, argv[i],
			 argv[i], (int)len, value);
		return false;
	}
	if (asprintf(&joined, "%s=%s", argv[i], argv[i + 1]) < 0)
		memory_exhausted();
	argv[i] = joined;
	take_out(argc, argv, i + 1);
	return true;
}

/* Counts its value, where that is an argument of its own, as seen. */
static bool check_short(const char *who, const char *behind, int argc, char **argv, int *i)
{
	size_t len;
	const char *value = needs(behind, &len);

	if (!value || argv[*i][2])
		return true;
	if (*i + 1 == argc) {
		say_line(stderr, "%s: option '%s' needs a value: %s %.*s", who, argv[*i],
			 argv[*i], (int)len, value);
		return false;
	}
	(*i)++;
	return true;
}

bool usage_check(const char *who, const char *line, const char *common, int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		const char *arg = argv[i], *behind;
		bool is_long = strncmp(arg, "--", 2) == 0;

		if (arg[0] != '-' || !arg[1])
			continue;
		behind = is_long ? find_long(line, arg + 2, strcspn(arg + 2, "="))
				 : find_short(line, arg[1]);
		if (!behind)
			return say_unknown(who, line, common, arg);
		if (is_long ? !check_long(who, behind, argc, argv, i)
			    : !check_short(who, behind, *argc, argv, &i))
			return false;
	}
	return true;
}
