/* intern.c - gives equal keys equal numbers
 *
 * Tested by tests/unit/manager/report/test_intern.c.
 */
#include "manager/report/intern.h"

#include <string.h>

#include "lib/hash.h"

static uint32_t find_slot(const struct intern *t, const void *key, size_t n)
{
	uint64_t h = hash_bytes(HASH_START, key, n);
	uint32_t at = (uint32_t)(h ^ h >> 32) & (t->nslot - 1);

	while (t->slot[at]) {
		const struct bytes *k = &t->key.v[t->slot[at] - 1];

		if (k->n == n && (n == 0 || memcmp(k->p, key, n) == 0))
			break;
		at = (at + 1) & (t->nslot - 1);
	}
	return at;
}

static void grow(struct intern *t)
{
	t->nslot = t->nslot ? 2 * t->nslot : 64;
	t->slot = arena_array(t->arena, t->nslot, sizeof(*t->slot));
	for (uint32_t i = 0; i < t->key.n; i++)
		t->slot[find_slot(t, t->key.v[i].p, t->key.v[i].n)] = i + 1;
}

uint32_t intern_key(struct intern *t, const void *key, size_t n)
{
	if (2 * t->key.n >= t->nslot)
		grow(t);
	uint32_t at = find_slot(t, key, n);
	if (!t->slot[at]) {
		uint8_t *copy = arena_alloc(t->arena, n + 1);

		if (n)				/* of nothing it may be NULL */
			memcpy(copy, key, n);
		vec_push(t->arena, &t->key, ((struct bytes){ copy, n }));
		t->slot[at] = t->key.n;
	}
	return t->slot[at] - 1;
}

uint32_t intern_text(struct intern *t, const char *text)
{
	return intern_key(t, text, strlen(text));
}
