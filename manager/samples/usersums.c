/* usersums.c - samples by user, of all programs together
 *
 * Tested by tests/unit/manager/samples/test_usersums.c.
 */
#include "manager/samples/usersums.h"

#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "manager/samples/userset.h"

void usersums_add(struct usersums *to, uint32_t uid, uint64_t samples)
{
	uint32_t i = search_first(k, 0, to->n, to->at[k].uid < uid);

	if (i == to->n || to->at[i].uid != uid) {
		/* one place is left for those of whom nothing is known */
		if (to->n >= USERSUMS_MAX - 1 && uid != USERSET_UNKNOWN) {
			usersums_add(to, USERSET_UNKNOWN, samples);
			return;
		}
		to->at = memory_grow(to->at, to->n + (size_t)1, sizeof(*to->at));
		memmove(&to->at[i + 1], &to->at[i], (to->n - i) * sizeof(*to->at));
		to->at[i] = (struct usersum){ uid, 0 };
		to->n++;
	}
	uint64_t *sum = &to->at[i].samples;
	*sum = samples > UINT64_MAX - *sum ? UINT64_MAX : *sum + samples;
}

void usersums_add_all(struct usersums *to, const struct usersums *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		usersums_add(to, from->at[i].uid, from->at[i].samples);
}

void usersums_free(struct usersums *s)
{
	free(s->at);
	*s = (struct usersums){ 0 };
}

void usersums_write(const struct usersums *s, struct wr *out)
{
	wr_uleb(out, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		wr_uleb(out, s->at[i].uid);
		wr_uleb(out, s->at[i].samples);
	}
}

int usersums_read(struct bytes b, struct usersums *out, struct err *err)
{
	struct usersums s = { 0 };
	struct rd r = rd_of(b);
	uint64_t n = rd_uleb(&r);

	for (uint64_t i = 0; i < n && n <= USERSUMS_MAX && !r.bad; i++) {
		uint64_t uid = rd_uleb(&r), samples = rd_uleb(&r);

		if (!r.bad && uid <= UINT32_MAX)
			usersums_add(&s, (uint32_t)uid, samples);
	}
	if (r.bad || rd_left(&r) || s.n != n) {
		usersums_free(&s);
		return err_set(err, ERR_INPUT, "damaged samples by user");
	}
	*out = s;
	return 0;
}
