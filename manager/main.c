/* main.c - morphd: options, then the role */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager/role.h"

static const char help_text[] =
	"usage: morphd [OPTION]...\n\n"
	"  --policy FILE      what to watch and what to do, see morph.yaml(5) [/etc/morph.yaml]\n"
	"  --store DIR        profiles, spool, originals [/var/lib/morph]\n"
	"  --socket PATH      where morphctl reaches it [/run/morph/control.sock]\n"
	"  --user NAME        whom the unprivileged parts run as [morph]\n"
	"  --job-user NAME    whom the Editor runs as [morph-edit; with --user, the same]\n"
	"  --morph-edit PATH  the Editor [libexec/morph/morph-edit, or beside morphd]\n"
	"  --host DIR         where the proc, sys and run are that tell whether the machine is idle [/]\n"
	"  --foreground       stay, and log to standard error\n"
	"  --no-monitor       take no samples; works without root for programs of --user\n\n"
	"SIGHUP reads the policy anew, SIGTERM ends it.\n"
	"Exit codes: 0 ended as told, 1 failed, 2 wrong usage\n";

/* Beside morphd when run from where it was built, else where it is installed. */
static const char *default_editor(void)
{
	static char path[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;

	if (slash) {
		strcpy(slash + 1, "morph-edit");
		if (access(path, X_OK) == 0)
			return path;
		if (slash - path < PATH_MAX - 32) {
			strcpy(slash + 1, "../libexec/morph/morph-edit");
			if (access(path, X_OK) == 0)
				return path;
		}
	}
	return "/usr/libexec/morph/morph-edit";
}

static int role_number(const char *name)
{
	if (strcmp(name, "manager") == 0)
		return MSG_ROLE_MANAGER;
	if (strcmp(name, "monitor") == 0)
		return MSG_ROLE_MONITOR;
	return -1;
}

static unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);	/* only from ourselves, see role_start() */
}

/* -1: wrong usage, which was said; 1: help was asked for. */
static int parse(int argc, char **argv, struct role_options *o)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "store", required_argument, NULL, 's' },
		{ "socket", required_argument, NULL, 'S' },
		{ "user", required_argument, NULL, 'u' },
		{ "job-user", required_argument, NULL, 'j' },
		{ "morph-edit", required_argument, NULL, 'e' },
		{ "host", required_argument, NULL, 'H' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "no-monitor", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "role", required_argument, NULL, 'r' },
		{ "clock", required_argument, NULL, 'c' },
		{ "rate", required_argument, NULL, 'R' },
		{ "drain", required_argument, NULL, 'd' },
		{ "spool-max", required_argument, NULL, 'm' },
		{ "paused", required_argument, NULL, 'P' },
		{ "switched", required_argument, NULL, 'w' },
		{ "registers", required_argument, NULL, 'g' },
		{ "stack", required_argument, NULL, 'k' },
		{ 0 }
	};
	int c, role;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		switch (c) {
		case 'p':
			o->policy = optarg;
			break;
		case 's':
			o->store = optarg;
			break;
		case 'S':
			o->socket = optarg;
			break;
		case 'u':
			o->user = optarg;
			break;
		case 'j':
			o->job_user = optarg;
			break;
		case 'e':
			o->morph_edit = optarg;
			break;
		case 'H':
			o->host = optarg;
			break;
		case 'f':
			o->foreground = true;
			break;
		case 'n':
			o->no_monitor = true;
			break;
		case 'h':
			return 1;
		case 'r':
			role = role_number(optarg);
			if (role < 0)
				return -1;
			o->role = (enum msg_role)role;
			break;
		case 'c':
			o->clock = number(optarg);
			break;
		case 'R':
			o->rate_hz = number(optarg);
			break;
		case 'd':
			o->drain_s = number(optarg);
			break;
		case 'm':
			o->spool_max_mib = number(optarg);
			break;
		case 'P':
			o->paused = number(optarg) != 0;
			break;
		case 'w':
			o->switched = number(optarg) != 0;
			break;
		case 'g':
			o->registers = number(optarg) != 0;
			break;
		case 'k':
			o->stack_bytes = number(optarg);
			break;
		default:
			return -1;
		}
	return optind == argc ? 0 : -1;
}

/* Paths must mean the same whatever folder a role works in. */
static const char *absolute(const char *path)
{
	char cwd[PATH_MAX], *out;

	if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)) || asprintf(&out, "%s/%s", cwd, path) < 0)
		return path;
	return out;
}

int main(int argc, char **argv)
{
	struct role_options o = {
		.role = MSG_ROLE_PARENT, .policy = "/etc/morph.yaml", .store = "/var/lib/morph",
		.socket = "/run/morph/control.sock", .host = "",
	};

	int rc = parse(argc, argv, &o);
	if (rc) {
		(void)fputs(help_text, rc > 0 ? stdout : stderr);
		return rc > 0 ? 0 : 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	o.policy = absolute(o.policy);
	o.store = absolute(o.store);
	o.socket = absolute(o.socket);
	o.host = *o.host ? absolute(o.host) : "";
	o.morph_edit = o.morph_edit ? absolute(o.morph_edit) : default_editor();
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
