/* requests_log.c - what root's log has of swaps, restores and refusals
 *
 * Texts that others chose are made fit to show.
 *
 * Tested by tests/unit/manager/parent/test_requests.c.
 */
#include "manager/parent/requests_log.h"

#include <stdbool.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "manager/parent/install.h"
#include "manager/parent/log.h"
#include "manager/parent/printable.h"

/* Then nothing was done, nor to be done. */
static bool is_dry_run(const struct msg *m)
{
	return m->type == MSG_RESTORE && m->num[MSG_RESTORE_dry_run];
}

void requests_log_refused(const struct msg *request, const struct err *why)
{
	const struct log_event e = { NULL, "refused", request->text, 0 };
	char text[PRINTABLE_MAX];

	if (is_dry_run(request))
		return;
	printable(why->text, text);
	role_event(LEVEL_WARNING, &e, "%s refused: %s",
		   request->type == MSG_RESTORE ? "restore" :
		   request->type == MSG_INSTALL ? "swap" : "running process", text);
}

void requests_log_done(const struct msg *request, const struct install_done *done)
{
	const struct msg *m = request;
	bool restored = m->type == MSG_RESTORE;
	char path[PRINTABLE_MAX], also[1024], others[PRINTABLE_MAX], now[65], before[65];

	if (is_dry_run(m))
		return;
	printable(m->text, path);
	install_done_text(done, also, sizeof(also));
	printable(also, others);
	digest_hex(&m->digest[restored ? 1 : 2], now);
	digest_hex(&m->digest[0], before);
	const struct log_event e = { NULL, restored ? "restored" : "swapped", m->text, 0 };
	role_event(LEVEL_NOTICE, &e, "%s '%s': %.16s in the place of %.16s%s", e.name, path,
		   now, before, others);
}
