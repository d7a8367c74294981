/* logind.h - asks systemd-logind whether the users are idle
 *
 * Logind's property IdleHint is the one place that knows: desktops tell it, terminals count as
 * idle five minutes after their last input, and programs that play a film inhibit it.  It is
 * published over D-Bus only; three messages are all of D-Bus that is needed.
 */
#ifndef POLICY_LOGIND_H
#define POLICY_LOGIND_H

#include <stdint.h>

struct logind_hint {
	int idle;		/* 1; 0: somebody is active; -1: nobody can tell */
	uint64_t since_us;	/* CLOCK_REALTIME; 0: not known */
};

/* Through the bus whose socket is at `path`; does not wait longer than timeout_ms in all. */
struct logind_hint logind_ask(const char *path, int timeout_ms);

#endif
