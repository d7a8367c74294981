/* ctl_options.c - what is wrong with a command's name or options, before anything runs, and
 * what was probably meant
 *
 * Which options a command has is what its usage line says: `--name`, `--name=VALUE`, or
 * `--name[=VALUE]`.  Values may follow as arguments of their own where one is needed, as
 * everywhere else.
 *
 * Tested by tests/unit/manager/ctl/test_options.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "manager/ctl/ctl.h"

enum { MAX_WORD = 32 };

/* The next option in a usage line: its name behind the "--", and how long that is; NULL: there
 * is none. */
static const char *next_option(const char *usage, size_t *len)
{
	const char *at = usage;

	while ((at = strstr(at, "--"))) {
		at += 2;
		*len = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
		if (*len)
			return at;
	}
	return NULL;
}

unsigned ctl_distance(const char *a, const char *b)
{
	unsigned row[3][MAX_WORD + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX_WORD || m > MAX_WORD)
		return UINT32_MAX;
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

/* Is `name` near enough to `word` to be what was meant, and nearer than *best? */
static bool is_nearer(const char *word, const char *name, unsigned *best)
{
	size_t n = strlen(word);
	unsigned d = n >= 3 && strncmp(word, name, n) == 0 ? 1 : ctl_distance(word, name);

	if (d > 1 + n / 4 || d >= *best)
		return false;
	*best = d;
	return true;
}

const char *ctl_meant(const char *word)
{
	const char *meant = NULL;
	unsigned best = UINT32_MAX;

	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		if (is_nearer(word, c->name, &best))
			meant = c->name;
	return meant;
}

static void say_unknown(const struct ctl_command *c, const char *option)
{
	char word[MAX_WORD + 1], name[MAX_WORD + 1], meant[MAX_WORD + 1] = "";
	unsigned best = UINT32_MAX;
	size_t len;

	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(option + 2, "="), option + 2);
	for (const char *at = c->args; (at = next_option(at, &len)); at += len) {
		(void)snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (is_nearer(word, name, &best))
			memcpy(meant, name, sizeof(meant));
	}
	if (*meant)
		say_line(stderr, "morphctl %s: unknown option '%s'; did you mean '--%s'?",
			 c->name, option, meant);
	else
		say_line(stderr, "morphctl %s: unknown option '%s'", c->name, option);
}

/* How the command's usage line goes on behind the option; NULL: the command has none such. */
static const char *usage_of(const struct ctl_command *c, const char *option)
{
	size_t n = strcspn(option + 2, "="), len;

	for (const char *at = c->args; (at = next_option(at, &len)); at += len)
		if (len == n && strncmp(at, option + 2, n) == 0)
			return at + len;
	return NULL;
}

static bool check_option(const struct ctl_command *c, int *argc, char **argv, int i)
{
	bool has = strchr(argv[i], '=') != NULL;
	const char *usage = usage_of(c, argv[i]);
	char *joined;

	if (!usage) {
		say_unknown(c, argv[i]);
		return false;
	}
	if (has && *usage != '=' && strncmp(usage, "[=", 2) != 0) {
		say_line(stderr, "morphctl %s: option '%.*s' has no value", c->name,
			 (int)strcspn(argv[i], "="), argv[i]);
		return false;
	}
	if (has || *usage != '=')
		return true;
	if (i + 1 == *argc) {
		say_line(stderr, "morphctl %s: option '%s' needs a value: %s=%.*s", c->name,
			 argv[i], argv[i], (int)strcspn(usage + 1, "] \n"), usage + 1);
		return false;
	}
	if (asprintf(&joined, "%s=%s", argv[i], argv[i + 1]) < 0) {
		say_line(stderr, "morphctl: out of memory");
		return false;
	}
	argv[i] = joined;
	(*argc)--;
	memmove(&argv[i + 1], &argv[i + 2], (size_t)(*argc - i) * sizeof(*argv));
	return true;
}

bool ctl_check_options(const struct ctl_command *c, int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], "--", 2) == 0 && !check_option(c, argc, argv, i))
			return false;
	return true;
}
