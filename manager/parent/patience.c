/* patience.c - time that is only counted while we could have seen progress; see patience.h */
#include "manager/parent/patience.h"

struct patience patience_begin(uint64_t now_ms, uint64_t ms)
{
	return (struct patience){ ms, now_ms };
}

bool patience_over(struct patience *p, uint64_t now_ms)
{
	uint64_t gap = now_ms > p->seen_ms ? now_ms - p->seen_ms : 0;

	if (gap > 2 * PATIENCE_LOOK_MS)
		gap = 2 * PATIENCE_LOOK_MS;
	p->left_ms -= gap < p->left_ms ? gap : p->left_ms;
	p->seen_ms = now_ms;
	return !p->left_ms;
}

void patience_skip(struct patience *p, uint64_t now_ms)
{
	p->seen_ms = now_ms;
}

int patience_poll(const struct patience *p)
{
	return p->left_ms < PATIENCE_LOOK_MS ? (int)p->left_ms : PATIENCE_LOOK_MS;
}

int patience_earlier(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}
