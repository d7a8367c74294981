#include "manager/work/yield.h"

enum yield_act yield_step(struct yield *y, enum yield_kind kind, bool calm, bool urgent,
			  uint64_t now_ms)
{
	if (kind == YIELD_NEVER || y->done)
		return YIELD_NOTHING;
	if (!calm)
		y->busy_ms = now_ms;
	if (!y->stopped) {
		if (calm || urgent)
			return YIELD_NOTHING;
		y->stopped = true;
		y->stopped_ms = now_ms;
		return YIELD_STOP;
	}
	if (urgent || now_ms - y->stopped_ms >= YIELD_MOST_MS) {
		y->done = true;
		return kind == YIELD_ENDS ? YIELD_GIVE_UP : YIELD_HURRY;
	}
	if (now_ms - y->busy_ms < YIELD_CALM_MS)
		return YIELD_NOTHING;
	y->stopped = false;
	return YIELD_GO_ON;
}
