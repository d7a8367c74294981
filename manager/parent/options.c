/* options.c - morphd's command line, read and made anew for its roles from one table
 *
 * Those without help are for the roles alone: the parent tells them by their command lines.
 */
#include "manager/parent/options.h"

#include <assert.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "manager/parent/role.h"

enum kind { TEXT, FLAG, NUMBER, ROLE };

static const struct spec {
	const char *name;
	enum kind kind;
	size_t at;			/* in struct role_options */
	const char *operand, *help;
} table[] = {
#define OPTION(name, kind, field, operand, help) \
	{ name, kind, offsetof(struct role_options, field), operand, help }
	OPTION("policy", TEXT, policy, "FILE",
	       "what to watch and what to do, see morph.yaml(5) [/etc/morph.yaml]"),
	OPTION("store", TEXT, store, "DIR", "profiles, spool, originals [/var/lib/morph]"),
	OPTION("socket", TEXT, socket, "PATH",
	       "where morphctl reaches it [/run/morph/control.sock]"),
	OPTION("user", TEXT, user, "NAME", "whom the unprivileged parts run as [morph]"),
	OPTION("job-user", TEXT, job_user, "NAME",
	       "whom Editor and Verifier run as [morph-edit; with --user, the same]"),
	OPTION("morph-edit", TEXT, morph_edit, "PATH",
	       "the Editor [libexec/morph/morph-edit, or beside morphd]"),
	OPTION("morph-verify", TEXT, morph_verify, "PATH",
	       "the Verifier [libexec/morph/morph-verify, or beside morphd]"),
	OPTION("morph-live", TEXT, morph_live, "PATH",
	       "maps generations in processes [libexec/morph/morph-live, or beside morphd]"),
	OPTION("morph-share", TEXT, morph_share, "PATH",
	       "talks with a fleet's database [libexec/morph/morph-share, or beside morphd]"),
	OPTION("share-user", TEXT, share_user, "NAME",
	       "whom that runs as [morph-share; with --user, the same]"),
	OPTION("folders", TEXT, folders, "DIR:...",
	       "more folders in which programs may be opened and replaced"),
	OPTION("host", TEXT, host, "DIR",
	       "where the proc, sys and run are that tell whether the machine is idle [/]"),
	OPTION("foreground", FLAG, foreground, "", "stay, and log to standard error"),
	OPTION("no-monitor", FLAG, no_monitor, "",
	       "take no samples; works without root for programs of --user"),
	OPTION("role", ROLE, role, NULL, NULL),
	OPTION("clock", NUMBER, clock, NULL, NULL),
	OPTION("rate", NUMBER, rate_hz, NULL, NULL),
	OPTION("drain", NUMBER, drain_s, NULL, NULL),
	OPTION("spool-max", NUMBER, spool_max_mib, NULL, NULL),
	OPTION("stack", NUMBER, stack_bytes, NULL, NULL),
	OPTION("memory", FLAG, memory, NULL, NULL),
	OPTION("branches", NUMBER, branches_hz, NULL, NULL),
	OPTION("paused", FLAG, paused, NULL, NULL),
	OPTION("switched", FLAG, switched, NULL, NULL),
	OPTION("registers", FLAG, registers, NULL, NULL),
#undef OPTION
};
enum { NOPTION = sizeof(table) / sizeof(table[0]) };
static_assert((int)OPTIONS_MAX == (int)NOPTION, "a text for each");
static_assert(OPTIONS_MAX_ARG >= 2 * NOPTION + 2,
	      "a place for each, its value, argv[0] and the end");

static const char *const role_name[] = { "parent", "manager", "monitor" };

const char *options_role_name(enum msg_role role)
{
	return role_name[role];
}

void options_help(FILE *out)
{
	(void)fputs("usage: morphd [OPTION]...\n\n", out);
	for (const struct spec *s = table; s < table + NOPTION; s++) {
		if (s->help)
			(void)fprintf(out, "  --%s %-*s %s\n", s->name,
				      18 - (int)strlen(s->name), s->operand, s->help);
	}
	(void)fputs("  --version            prints the version\n"
		    "\nSIGHUP reads the policy anew, SIGTERM ends it.\n"
		    "Exit codes: 0 ended as told, 1 failed, 2 wrong usage\n", out);
}

void options_usage(char out[OPTIONS_USAGE_MAX])
{
	size_t n = (size_t)snprintf(out, OPTIONS_USAGE_MAX, "[--help] [-h]");

	for (const struct spec *s = table; s < table + NOPTION; s++) {
		const char *value = s->kind == FLAG ? "" : s->operand ? s->operand : "VALUE";

		n += (size_t)snprintf(out + n, OPTIONS_USAGE_MAX - n, " [--%s%s%s]", s->name,
				      *value ? "=" : "", value);
		assert(n < OPTIONS_USAGE_MAX);
	}
}

static bool take_role(const char *text, enum msg_role *out)
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(text, role_name[i]) == 0) {
			*out = (enum msg_role)i;
			return true;
		}
	}
	return false;
}

static bool take(const struct spec *s, const char *text, struct role_options *o)
{
	void *field = (char *)o + s->at;

	switch (s->kind) {
	case TEXT:
		*(const char **)field = text;
		return true;
	case FLAG:
		*(bool *)field = true;
		return true;
	case NUMBER:
		*(unsigned *)field =
			(unsigned)strtoul(text, NULL, 10);	/* only from ourselves */
		return true;
	case ROLE:
		return take_role(text, field);
	}
	return false;
}

int options_parse(int argc, char **argv, struct role_options *o)
{
	struct option option[NOPTION + 2] = { [NOPTION] = { "help", no_argument, NULL, 'h' } };
	int c;

	for (int i = 0; i < NOPTION; i++)
		option[i] = (struct option){ table[i].name,
					     table[i].kind == FLAG ? no_argument
								   : required_argument,
					     NULL, 256 + i };
	while ((c = getopt_long(argc, argv, "h", option, NULL)) != -1) {
		if (c == 'h')
			return 1;
		if (c < 256 || !take(&table[c - 256], optarg, o))
			return -1;
	}
	return optind == argc ? 0 : -1;
}

void options_make(const struct role_options *o, const char *name, struct options_line *out)
{
	int n = 0;

	out->arg[n++] = name;
	for (int i = 0; i < NOPTION; i++) {
		const struct spec *s = &table[i];
		const void *field = (const char *)o + s->at;
		const char *value = NULL;

		if (s->kind == FLAG && !*(const bool *)field)
			continue;
		if (s->kind == TEXT)
			value = *(const char *const *)field;
		if (s->kind == ROLE)
			value = role_name[*(const enum msg_role *)field];
		if (s->kind == NUMBER) {
			(void)snprintf(out->number[i], sizeof(out->number[i]), "%u",
				       *(const unsigned *)field);
			value = out->number[i];
		}
		(void)snprintf(out->option[i], sizeof(out->option[i]), "--%s", s->name);
		out->arg[n++] = out->option[i];
		if (s->kind != FLAG)
			out->arg[n++] = value;
	}
	out->arg[n] = NULL;
}
