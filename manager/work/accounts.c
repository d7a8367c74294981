/* accounts.c - the file of accounts as two lists of numbers; see accounts.h
 *
 * Tested by tests/unit/manager/work/test_accounts.c.
 */
#include "manager/work/accounts.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/memory.h"

/* What login.defs(5) calls UID_MIN and UID_MAX, as distributions have them. */
enum { PERSON_MIN = 1000, PERSON_MAX = 60000, ACCOUNTS_MAX = 1 << 16 };

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_once(uint32_t *uid, uint32_t *n)
{
	uint32_t kept = 0;

	if (*n)
		qsort(uid, *n, sizeof(*uid), by_number);
	for (uint32_t i = 0; i < *n; i++)
		if (!kept || uid[kept - 1] != uid[i])
			uid[kept++] = uid[i];
	*n = kept;
}

void accounts_read(struct accounts *a, const char *host)
{
	char path[PATH_MAX];
	FILE *f = NULL;

	accounts_free(a);
	if (snprintf(path, sizeof(path), "%s/etc/passwd", host) < (int)sizeof(path))
		f = fopen(path, "re");
	if (!f)
		return;
	for (struct passwd *pw; a->n < ACCOUNTS_MAX && (pw = fgetpwent(f)); ) {
		a->uid = memory_grow(a->uid, a->n + 1, sizeof(*a->uid));
		a->uid[a->n++] = pw->pw_uid;
	}
	(void)fclose(f);
	sort_once(a->uid, &a->n);
	a->person = memory_grow(NULL, a->n, sizeof(*a->person));
	for (uint32_t i = 0; i < a->n; i++)
		if (a->uid[i] >= PERSON_MIN && a->uid[i] <= PERSON_MAX)
			a->person[a->nperson++] = a->uid[i];
}

bool accounts_has(const struct accounts *a, uint32_t uid)
{
	return a->n && bsearch(&uid, a->uid, a->n, sizeof(uid), by_number);
}

void accounts_free(struct accounts *a)
{
	free(a->uid);
	free(a->person);
	*a = (struct accounts){ 0 };
}
