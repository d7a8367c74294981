/* ctl_try.c - morphctl try: is a command, or a process, faster with new layouts? */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/pid.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/ctl_page.h"
#include "manager/ctl/screen.h"
#include "manager/parent/program.h"
#include "manager/try/keeper.h"
#include "manager/try/try.h"

enum { BURST_S = 2, DEFAULT_TIME_S = 60, MOST_S = 86400 };

/* What is said of a command, and what of a process. */
struct wanted {
	struct try_options command;
	struct try_process_options process;
	bool of_command, of_process;	/* options that are for one of them alone */
	const char *html;		/* a page is written to it; NULL: none */
};

static int show_page(void *ctx, const struct try_shown *shown)
{
	const struct wanted *w = ctx;
	const char *command = strrchr(w->command.argv[0], '/');

	return ctl_page_trial(command ? command + 1 : w->command.argv[0], shown, w->html)
		       ? -1 : 0;
}

static int run(struct wanted *w)
{
	char *edit = program_of_ours("morph-edit"), *verify = program_of_ours("morph-verify"),
	     *live = program_of_ours("morph-live");
	int code = 1;

	w->command.morph_edit = w->process.morph_edit = edit;
	w->command.morph_verify = w->process.morph_verify = verify;
	w->process.morph_live = live;
	bool allowed = !w->process.pid || geteuid() == 0;
	if (!allowed)
		say_line(stderr, "morphctl: only root may change running processes");
	else if (!edit || !verify || (w->process.pid && !live))
		say_line(stderr, "morphctl: morph-edit, morph-verify and morph-live are not "
			 "beside morphctl");
	else
		code = w->process.pid ? try_process(&w->process) : try_run(&w->command);
	free(edit);
	free(verify);
	free(live);
	return allowed ? code : 3;
}

static bool take_seconds(const char *option, const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end != text && !*end && *out > 0 && *out <= MOST_S)
		return true;
	say_line(stderr, "morphctl try: %s: '%s' is no time in seconds of at most %d", option,
		 text, MOST_S);
	return false;
}

static bool take_option(struct wanted *w, int c, const char *output[KEEPER_OUTPUTS])
{
	struct try_options *o = &w->command;

	switch (c) {
	case 't':
		return take_seconds("--time", optarg, &o->time_s);
	case 'p':
		o->prepare = optarg;
		break;
	case 'o':
		if (o->noutput == KEEPER_OUTPUTS)
			return false;
		output[o->noutput++] = optarg;
		break;
	case 'r':
		o->repeatable = true;
		break;
	case 's':
		o->save = optarg;
		break;
	case 'H':
		w->html = optarg;
		o->show = show_page;
		o->ctx = w;
		break;
	default:
		return false;
	}
	w->of_command |= c != 't';
	return true;
}

static bool take_process_option(struct wanted *w, int c)
{
	struct try_process_options *o = &w->process;

	w->of_process = true;
	switch (c) {
	case 'P':
		o->pid = pid_read(optarg);
		if (!o->pid)
			say_line(stderr, "morphctl: '%s' is not the number of a process",
				 optarg);
		return o->pid != 0;
	case 'c':
		o->count = optarg;
		break;
	case 'T':
		return take_seconds("--turn", optarg, &o->turn_s);
	case 'b':
		return strcmp(optarg, "0") == 0 ? (o->burst_s = 0, true) :
						  take_seconds("--burst", optarg, &o->burst_s);
	case 'k':
		o->keep = true;
		break;
	default:
		o->store = optarg;
		break;
	}
	return true;
}

int ctl_try(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "time", required_argument, NULL, 't' },
		{ "prepare", required_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "repeatable", no_argument, NULL, 'r' },
		{ "save", required_argument, NULL, 's' },
		{ "html", required_argument, NULL, 'H' },
		{ "pid", required_argument, NULL, 'P' },
		{ "count", required_argument, NULL, 'c' },
		{ "turn", required_argument, NULL, 'T' },
		{ "burst", required_argument, NULL, 'b' },
		{ "keep", no_argument, NULL, 'k' },
		{ "store", required_argument, NULL, 'S' },
		{ 0 }
	};
	const char *output[KEEPER_OUTPUTS];
	struct wanted w = {
		.command = { .time_s = DEFAULT_TIME_S, .output = output,
			     .look = screen_look(ctl, stdout) },
		.process = { .store = "/var/lib/morph", .burst_s = BURST_S,
			     .look = screen_look(ctl, stdout) },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		bool process = c && strchr("PcTbkS", c);

		if (!(process ? take_process_option(&w, c) : take_option(&w, c, output)))
			return ctl_usage(ctl);
	}
	/* a command, or a process, and what is for that one */
	if (w.process.pid ? optind < argc || w.of_command : optind >= argc || w.of_process)
		return ctl_usage(ctl);
	struct err err = { 0 };
	if (w.html && io_output_check(w.html, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	w.process.time_s = w.command.time_s;
	w.command.argv = argv + optind;
	return run(&w);
}
