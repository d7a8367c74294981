/* upkeep.c - interrupted swaps and old originals, seen to now and then; see upkeep.h
 *
 * Tested by tests/unit/manager/parent/test_upkeep.c, tests/e2e/hostile/journals.sh.
 */
#include "manager/parent/upkeep.h"

#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "manager/parent/originals.h"
#include "manager/parent/printable.h"
#include "manager/parent/role.h"

enum {
	FIRST_MS = 60000, MOST_MS = 3600000,	/* until a stuck one is tried again */
	SWEEP_FIRST_MS = 600000, SWEEP_MS = 86400000,
};

static void told(void *ctx, const struct install_recovered *r)
{
	static const char *const outcome[] = {
		"nothing", "undone", "finished", "overtaken: somebody's newer file is there",
		"its journal was damaged, and is kept in originals", "stuck",
	};
	struct upkeep *u = ctx;
	char text[PRINTABLE_MAX];

	if (r->outcome == INSTALL_STUCK) {
		printable(r->reason, text);
		role_error("an interrupted swap is not cleaned up yet, and holds its own path "
			 "up: %s",
			 text);
		if (u->stuck)
			return;		/* the manager knows */
	} else {
		printable(r->path, text);
		role_warn("interrupted swap of '%s': %s", text, outcome[r->outcome]);
	}
	if (u->nrecovered < UPKEEP_MOST_TOLD)
		u->recovered[u->nrecovered++] = *r;
}

static void recover(struct upkeep *u)
{
	struct err err = { 0 };
	int stuck = install_recover(u->originals_fd, told, u, &err);

	if (stuck < 0)
		role_error("interrupted swaps: %s", err.text);
	u->stuck = stuck;
	u->wait_ms = !stuck || !u->wait_ms ? FIRST_MS
		     : u->wait_ms * 2 > MOST_MS ? MOST_MS : u->wait_ms * 2;
	u->recover_ms = stuck ? role_now_ms() + u->wait_ms : UINT64_MAX;
}

static void sweep(struct upkeep *u)
{
	struct originals_swept swept;
	struct err err = { 0 };
	char text[PRINTABLE_MAX];

	u->sweep_ms = role_now_ms() + SWEEP_MS;
	if (originals_sweep(u->originals_fd, u->ledger_fd, time(NULL), &swept, &err) < 0) {
		printable(err.text, text);
		role_warn("no originals are removed: %s", text);
	} else if (swept.entries || swept.originals) {
		role_log("removed %u originals, %llu KiB, and %u entries of the ledger: their "
			 "generations have not been at their paths for %d days",
			 swept.originals, (unsigned long long)(swept.bytes >> 10),
			 swept.entries, ORIGINALS_KEPT_DAYS);
	}
}

/* Of a ledger that was lost, as a rule: nothing here may be removed, and their generations have
 * to be looked for. */
static void tell_unnamed(const struct upkeep *u)
{
	unsigned n = 0;

	/* as far as it can be read; the sweep tells what cannot */
	(void)originals_unnamed(u->originals_fd, u->ledger_fd, &n, NULL);
	if (n)
		role_warn("%u original%s kept that the ledger does not name: `morphctl undo "
			  "--all --search` finds generations of %s", n,
			  n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
}

static void set_next(struct upkeep *u)
{
	u->next_ms = u->recover_ms < u->sweep_ms ? u->recover_ms : u->sweep_ms;
}

void upkeep_begin(struct upkeep *u, int originals_fd, int ledger_fd)
{
	*u = (struct upkeep){ .originals_fd = originals_fd, .ledger_fd = ledger_fd };
	recover(u);
	tell_unnamed(u);
	u->sweep_ms = role_now_ms() + SWEEP_FIRST_MS;
	set_next(u);
}

void upkeep_soon(struct upkeep *u)
{
	uint64_t soon = role_now_ms() + FIRST_MS;

	if (u->recover_ms > soon)
		u->recover_ms = soon;
	set_next(u);
}

int upkeep_poll(const struct upkeep *u, bool may)
{
	uint64_t now = role_now_ms(), left = u->next_ms > now ? u->next_ms - now : 0;

	return !may ? -1 : left < SWEEP_MS ? (int)left : SWEEP_MS;
}

bool upkeep_step(struct upkeep *u)
{
	uint64_t now = role_now_ms();
	int before = u->nrecovered;

	if (now >= u->recover_ms)
		recover(u);
	if (now >= u->sweep_ms)
		sweep(u);
	set_next(u);
	return u->nrecovered > before;
}
