/* ctl_import.c - morphctl import: recordings of perf and profiles of llvm-bolt become block
 * profiles, without a daemon */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/profile_bolt.h"
#include "manager/ctl/profile_log.h"
#include "manager/parent/program.h"
#include "manager/report/modulefile.h"

static int import(const struct profile_log_import *what, const char *dir,
		  const struct modulefile_places *places)
{
	struct err err = { 0 };

	int rc = modulefile_check(what->binary, what->nbinary, &err);

	if (rc == 0)
		rc = profile_bolt_is(what->recording[0])
			     ? profile_bolt_import(what, dir, places, stdout, &err)
			     : profile_log_import(what, dir, places, stdout, &err);
	if (rc == 0)
		return 0;
	say_line(stderr, "morphctl: %s", err.text);
	return err_exit_code(&err);
}

int ctl_import(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "binary", required_argument, NULL, 'b' },
		{ "store", required_argument, NULL, 's' },
		{ 0 }
	};
	char *edit = program_of_ours("morph-edit");
	struct modulefile_places places = { edit, "/var/lib/morph" };
	const char **binary = memory_new((size_t)argc, sizeof(*binary));
	struct profile_log_import what = { .binary = binary };
	const char *dir = NULL;
	int c, code;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			dir = optarg;
		else if (c == 'b')
			binary[what.nbinary++] = optarg;
		else if (c == 's')
			places.store = optarg;
		else
			break;
	}
	what.recording = (const char *const *)argv + optind;
	what.nrecording = (uint32_t)(argc - optind);
	if (c != -1 || !dir || optind >= argc)
		code = ctl_usage(ctl);
	else if (!places.morph_edit)
		code = ctl_without_edit();
	else
		code = import(&what, dir, &places);
	free(binary);
	free(edit);
	return code;
}
