#include "manager/samples/topnames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"

static uint64_t sum(uint64_t x, uint64_t y)
{
	return y > UINT64_MAX - x ? UINT64_MAX : x + y;
}

static struct name *fewest(struct names *to)
{
	struct name *least = &to->at[0];

	for (uint32_t i = 1; i < to->n; i++)
		if (to->at[i].samples < least->samples)
			least = &to->at[i];
	return least;
}

void names_add(struct names *to, const char *name, uint64_t samples)
{
	struct name *at = to->at;

	while (at < to->at + to->n && strcmp(at->name, name) != 0)
		at++;
	if (at == to->at + to->n) {
		char *copy = strdup(name);

		if (!copy) {
			to->others = sum(to->others, samples);
			return;
		}
		if (to->n == NAMES_MAX) {
			at = fewest(to);
			to->others = sum(to->others, at->samples);
			free(at->name);
		} else {
			to->n++;
		}
		*at = (struct name){ copy, 0 };
	}
	at->samples = sum(at->samples, samples);
}

void names_add_all(struct names *to, const struct names *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		names_add(to, from->at[i].name, from->at[i].samples);
	to->others = sum(to->others, from->others);
}

void names_free(struct names *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->at[i].name);
	*n = (struct names){ 0 };
}

void names_write(const struct names *n, struct wr *out)
{
	wr_uleb(out, n->others);
	wr_uleb(out, n->n);
	for (uint32_t i = 0; i < n->n; i++) {
		wr_str(out, n->at[i].name);
		wr_uleb(out, n->at[i].samples);
	}
}

int names_read(struct bytes b, struct names *out, struct err *err)
{
	struct names n = { 0 };
	struct rd r = rd_of(b);
	uint64_t count;

	n.others = rd_uleb(&r);
	count = rd_uleb(&r);
	for (uint64_t i = 0; i < count && count <= NAMES_MAX && !r.bad; i++) {
		const char *name = rd_str(&r);
		uint64_t samples = rd_uleb(&r);

		if (!r.bad)
			names_add(&n, name, samples);
	}
	if (r.bad || rd_left(&r) || n.n != count) {
		names_free(&n);
		return err_set(err, ERR_INPUT, "damaged samples by name");
	}
	*out = n;
	return 0;
}
