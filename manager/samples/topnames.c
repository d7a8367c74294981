/* topnames.c - counts samples by name, with room for the most frequent names only */
#include "manager/samples/topnames.h"

#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"

static uint64_t sum(uint64_t x, uint64_t y)
{
	return y > UINT64_MAX - x ? UINT64_MAX : x + y;
}

static struct topname *fewest(struct topnames *to)
{
	struct topname *least = &to->at[0];

	for (uint32_t i = 1; i < to->n; i++)
		if (to->at[i].samples < least->samples)
			least = &to->at[i];
	return least;
}

void topnames_add(struct topnames *to, const char *name, uint64_t samples)
{
	struct topname *at = to->at;

	while (at < to->at + to->n && strcmp(at->name, name) != 0)
		at++;
	if (at == to->at + to->n) {
		char *copy = memory_need(strdup(name));

		if (to->n == TOPNAMES_MAX) {
			at = fewest(to);
			to->others = sum(to->others, at->samples);
			free(at->name);
		} else {
			to->n++;
		}
		*at = (struct topname){ copy, 0 };
	}
	at->samples = sum(at->samples, samples);
}

void topnames_add_all(struct topnames *to, const struct topnames *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		topnames_add(to, from->at[i].name, from->at[i].samples);
	to->others = sum(to->others, from->others);
}

void topnames_free(struct topnames *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->at[i].name);
	*n = (struct topnames){ 0 };
}

void topnames_write(const struct topnames *n, struct wr *out)
{
	wr_uleb(out, n->others);
	wr_uleb(out, n->n);
	for (uint32_t i = 0; i < n->n; i++) {
		wr_str(out, n->at[i].name);
		wr_uleb(out, n->at[i].samples);
	}
}

int topnames_read(struct bytes b, struct topnames *out, struct err *err)
{
	struct topnames n = { 0 };
	struct rd r = rd_of(b);
	uint64_t count;

	n.others = rd_uleb(&r);
	count = rd_uleb(&r);
	for (uint64_t i = 0; i < count && count <= TOPNAMES_MAX && !r.bad; i++) {
		const char *name = rd_str(&r);
		uint64_t samples = rd_uleb(&r);

		if (!r.bad)
			topnames_add(&n, name, samples);
	}
	if (r.bad || rd_left(&r) || n.n != count) {
		topnames_free(&n);
		return err_set(err, ERR_INPUT, "damaged samples by name");
	}
	*out = n;
	return 0;
}
