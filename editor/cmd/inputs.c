/* inputs.c - the arguments that several commands take: inputs and an output alone, numbers, a
 * program, its profile (--profile) and a complete profile of some of its functions (--counted)
 *
 * Tested by tests/programs/instrument.sh (--counted, with and without --profile, and with the
 * wrong kind of profile) and by every test that gives a command a profile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "editor/cmd/cmd.h"
#include "lib/arena.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "lib/say.h"

int cmd_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	uint64_t v = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v > max) {
		say_line(stderr, "morph-edit: %s: '%s' is not a number from 0 to %" PRIu64,
			 option, text, max);
		return -1;
	}
	*out = v;
	return 0;
}

bool cmd_take_profile(struct confinedjob *job, int c)
{
	if (c == 'p')
		job->in[CMD_IN_PROFILE].arg = optarg;
	else if (c == 'c')
		job->in[CMD_IN_COUNTED].arg = optarg;
	else
		return false;
	return true;
}

int cmd_set_inputs(struct confinedjob *job, char *program)
{
	const struct confinedjob_in *in = job->in;

	if (in[CMD_IN_COUNTED].arg && !in[CMD_IN_PROFILE].arg) {
		(void)fputs("morph-edit: --counted needs --profile\n", stderr);
		return -1;
	}
	job->in[CMD_IN_PROGRAM].arg = program;
	job->nin = 1 + (in[CMD_IN_PROFILE].arg != NULL) + (in[CMD_IN_COUNTED].arg != NULL);
	return 0;
}

static struct profile *read_input(struct confinedjob *job, int i, struct err *err)
{
	struct profile *p = arena_alloc(job->arena, sizeof(*p));

	if (profile_read(job->in[i].bytes, job->arena, p, err) < 0) {
		(void)confinedjob_wrap(job, i, err);	/* always -1 */
		return NULL;
	}
	return p;
}

int cmd_read_profile(struct confinedjob *job, const struct profile **out, struct err *err)
{
	struct profile *p = NULL;

	if (job->nin > CMD_IN_PROFILE && !(p = read_input(job, CMD_IN_PROFILE, err)))
		return -1;
	if (job->nin > CMD_IN_COUNTED && !(p->counted = read_input(job, CMD_IN_COUNTED, err)))
		return -1;
	*out = p;
	return 0;
}

int cmd_refuse_setid(const struct confinedjob *job, int i, struct err *err)
{
	if (!(job->in[i].mode & (S_ISUID | S_ISGID)))
		return 0;
	err_set(err, ERR_REFUSED, "set-user-id or set-group-id file");
	return confinedjob_wrap(job, i, err);
}

int cmd_run(struct confinedjob *job, int argc, char **argv)
{
	static const struct option options[] = { { 0 } };
	int c;

	job->nout = 1;
	job->out[0].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c != 'o')
			return CMD_USAGE;
		job->out[0].arg = optarg;
	}
	if (argc - optind != job->nin || !job->out[0].arg)
		return CMD_USAGE;
	for (int i = 0; i < job->nin; i++)
		job->in[i].arg = argv[optind + i];
	return confinedjob_run(job);
}
