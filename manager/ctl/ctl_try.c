/* ctl_try.c - morphctl try: is a command faster with new layouts? */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/parent/program.h"
#include "manager/try/keeper.h"
#include "manager/try/try.h"

enum { DEFAULT_TIME_S = 60 };

static int run(struct try_options *o)
{
	char *edit = program_of_ours("morph-edit"), *verify = program_of_ours("morph-verify");
	int code = 1;

	o->morph_edit = edit;
	o->morph_verify = verify;
	if (edit && verify)
		code = try_run(o);
	else
		say_line(stderr, "morphctl: morph-edit and morph-verify are not beside "
			 "morphctl");
	free(edit);
	free(verify);
	return code;
}

int ctl_try(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "time", required_argument, NULL, 't' },
		{ "prepare", required_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "repeatable", no_argument, NULL, 'r' },
		{ "save", required_argument, NULL, 's' },
		{ 0 }
	};
	const char *output[KEEPER_OUTPUTS];
	struct try_options o = { .time_s = DEFAULT_TIME_S, .output = output,
				 .json = ctl->json };
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 't') {
			o.time_s = strtod(optarg, &end);
			if (end == optarg || *end || !(o.time_s > 0 && o.time_s <= 86400))
				return ctl_usage(ctl);
		} else if (c == 'p') {
			o.prepare = optarg;
		} else if (c == 'o' && o.noutput < KEEPER_OUTPUTS) {
			output[o.noutput++] = optarg;
		} else if (c == 'r') {
			o.repeatable = true;
		} else if (c == 's') {
			o.save = optarg;
		} else {
			return ctl_usage(ctl);
		}
	}
	if (optind >= argc)
		return ctl_usage(ctl);
	o.argv = argv + optind;
	return run(&o);
}
