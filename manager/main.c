/* main.c - morphd: options, then the role */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager/options.h"
#include "manager/role.h"

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

/* Paths must mean the same whatever folder a role works in. */
static const char *absolute(const char *path)
{
	char cwd[PATH_MAX], *out;

	if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)) ||
	    asprintf(&out, "%s/%s", cwd, path) < 0)
		return path;
	return out;
}

int main(int argc, char **argv)
{
	struct role_options o = {
		.role = MSG_ROLE_PARENT, .policy = "/etc/morph.yaml", .store = "/var/lib/morph",
		.socket = "/run/morph/control.sock", .host = "",
	};

	int rc = options_parse(argc, argv, &o);
	if (rc) {
		options_help(rc > 0 ? stdout : stderr);
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
