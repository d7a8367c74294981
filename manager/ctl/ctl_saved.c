/* ctl_saved.c - morphctl saved: CPU time that was saved, since some time */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/when.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/ctl_evidence.h"

int ctl_saved(const struct ctl *ctl, int argc, char **argv)
{
	static const char option[] = "--since=";
	const char *request[2] = { "saved" };
	const char *given = ctl_evidence_find(argc, argv, option);
	char since[48];
	uint64_t ns;

	if (!given)
		return ctl_talk(ctl, 1, request);
	given += strlen(option);
	if (!when_parse(given, when_now_ns(), &ns)) {
		say_line(stderr, "morphctl saved: --since: '%s' is no time until now: %s",
			 given, WHEN_FORMS);
		return 2;
	}
	(void)snprintf(since, sizeof(since), "--since=%" PRIu64, ns);	/* fits */
	request[1] = since;
	return ctl_talk(ctl, 2, request);
}
