/* main.c - morphd: its options, then the role that they name */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/say.h"
#include "lib/usage.h"
#include "manager/parent/options.h"
#include "manager/parent/program.h"
#include "manager/parent/role.h"

/* Paths must mean the same whatever folder a role works in. */
static const char *absolute(const char *path)
{
	char cwd[PATH_MAX], *out;

	if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)) ||
	    asprintf(&out, "%s/%s", cwd, path) < 0)
		return path;
	return out;
}

static const char *absolute_program(const char *given, const char *name)
{
	if (given)
		return absolute(given);
	char *path = program_of_ours(name);
	if (!path && asprintf(&path, "/usr/libexec/morph/%s", name) < 0)
		return "";
	return path;
}

int main(int argc, char **argv)
{
	struct role_options o = {
		.role = MSG_ROLE_PARENT, .policy = "/etc/morph.yaml", .store = "/var/lib/morph",
		.socket = "/run/morph/control.sock", .host = "",
		.folders = "",
	};
	char line[OPTIONS_USAGE_MAX];

	io_hold_standard();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)puts("morphd " MORPH_VERSION);
		return 0;
	}
	options_usage(line);
	int rc = usage_check("morphd", line, "[--help] [--version]", &argc, argv) ?
		 options_parse(argc, argv, &o) : -1;
	if (rc > 0)
		options_help(stdout);
	if (rc < 0 && optind < argc)
		say_line(stderr, "morphd: unexpected argument '%s'", argv[optind]);
	if (rc < 0)
		(void)fputs("usage: morphd [OPTION]...\n"
			    "'morphd --help' lists the options\n", stderr);
	if (rc)
		return rc > 0 ? 0 : 2;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGIO, SIG_IGN);		/* of a lease that somebody breaks */
	o.policy = absolute(o.policy);
	o.store = absolute(o.store);
	o.socket = absolute(o.socket);
	o.host = *o.host ? absolute(o.host) : "";
	o.morph_edit = absolute_program(o.morph_edit, "morph-edit");
	o.morph_verify = absolute_program(o.morph_verify, "morph-verify");
	o.morph_live = absolute_program(o.morph_live, "morph-live");
	o.morph_share = absolute_program(o.morph_share, "morph-share");
	if (!o.share_user)
		o.share_user = o.user ? o.user : "morph-share";
	if (!o.job_user)
		o.job_user = o.user ? o.user : "morph-edit";
	if (!o.user)
		o.user = "morph";
	role_log_open(&o);
	switch (o.role) {
	case MSG_ROLE_MANAGER:
		return role_manager(&o);
	case MSG_ROLE_MONITOR:
		return role_monitor(&o);
	default:
		return role_parent(&o);
	}
}
