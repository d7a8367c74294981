/* queue.c - requests that wait their turn; see queue.h
 *
 * Tested by tests/unit/manager/control/test_queue.c.
 */
#include "manager/control/queue.h"

#include <assert.h>
#include <string.h>

void queue_put(struct queue *q, const struct pending *p)
{
	assert(q->n < CONTROL_MAX_CLIENTS);
	q->at[q->n++] = *p;
}

static uint64_t last_turn(const struct queue *q, uint32_t uid)
{
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (q->served[i].turn && q->served[i].uid == uid)
			return q->served[i].turn;
	return 0;
}

/* In the place of who was served longest ago, if all are taken. */
static void note_turn(struct queue *q, uint32_t uid)
{
	int slot = 0;

	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		if (q->served[i].turn && q->served[i].uid == uid) {
			slot = i;
			break;
		}
		if (q->served[i].turn < q->served[slot].turn)
			slot = i;
	}
	q->served[slot].uid = uid;
	q->served[slot].turn = ++q->turns;
}

static int next(const struct queue *q)
{
	int best = 0;

	for (int i = 0; i < q->n; i++) {
		if (q->at[i].trusted)
			return i;
		if (last_turn(q, q->at[i].uid) < last_turn(q, q->at[best].uid))
			best = i;
	}
	return best;
}

bool queue_take(struct queue *q, struct pending *out)
{
	if (!q->n)
		return false;
	int i = next(q);
	*out = q->at[i];
	memmove(q->at + i, q->at + i + 1, sizeof(q->at[0]) * (size_t)(--q->n - i));
	if (!out->trusted)
		note_turn(q, out->uid);
	return true;
}

bool queue_has_trusted(const struct queue *q)
{
	for (int i = 0; i < q->n; i++)
		if (q->at[i].trusted)
			return true;
	return false;
}
