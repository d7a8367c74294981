/* ctl_saved.c - morphctl saved: CPU time that was saved, since some time */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/when.h"
#include "manager/ctl/ctl.h"

int ctl_saved(const struct ctl *ctl, int argc, char **argv)
{
	static const char option[] = "--since=";
	const char *request[2] = { "saved" };
	char since[48];
	uint64_t ns;

	if (argc == 1)
		return ctl_talk(ctl, 1, request);
	if (argc > 2 || strncmp(argv[1], option, strlen(option)) != 0)
		return ctl_ask_alone(ctl, argc, argv);
	if (!when_parse(argv[1] + strlen(option), when_now_ns(), &ns)) {
		say_line(stderr, "morphctl saved: --since: '%s' is no time until now: %s",
			 argv[1] + strlen(option), WHEN_FORMS);
		return 2;
	}
	(void)snprintf(since, sizeof(since), "--since=%" PRIu64, ns);	/* fits */
	request[1] = since;
	return ctl_talk(ctl, 2, request);
}
