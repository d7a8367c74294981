/* layouts.c - from modules that run to generations of them that are proven
 *
 * A copy of each module counts what it does (`morph-edit instrument`), into a file in the
 * trial's folder; one run of the command with these in the places of the originals gives
 * profiles that are complete.  Where a module cannot count, or its run went wrong, the samples
 * of the first run are its profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/memory.h"
#include "manager/try/folder.h"
#include "manager/try/layouts.h"
#include "manager/try/tools.h"
#include "manager/try/interrupt.h"
#include "manager/try/trial.h"

/* A counting run takes up to 1.65 times the time (bench/results/instrument.md). */
enum { COUNTING_TIMES = 6, COUNTING_MORE_S = 10 };
static const double least_share = 0.01;	/* chosen */

static char *file_of(const struct trial *t, const struct trial_module *m, const char *kind)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%d.%s", (int)(m - t->module), kind);
	return folder_path(t->folder, name);
}

static void name_files(const struct trial *t, struct trial_module *m)
{
	m->copy = file_of(t, m, "counting");
	m->counts = file_of(t, m, "counts");
	m->profile = file_of(t, m, "profile");
	m->generation = file_of(t, m, "generation");
	m->stats = file_of(t, m, "stats");
	m->report = file_of(t, m, "report");
}

/* Runs the tools of all modules that are still to be laid out; a failure is the module's. */
static int run_for_all(struct trial *t, struct tool tool[TRIAL_MODULES], struct err *err)
{
	for (unsigned i = 0; i < t->nmodule; i++)
		if (t->module[i].why.kind != ERR_NONE)
			tool[i].argv[0] = NULL;
	return tools_run(tool, t->nmodule, err);
}

static int make_counting(struct trial *t, struct err *err)
{
	struct tool tool[TRIAL_MODULES] = { 0 };

	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		name_files(t, m);
		tool[i] = (struct tool){ .argv = { t->o->morph_edit, "instrument", m->path,
						   "-o", m->copy, "--counts", m->counts } };
	}
	if (run_for_all(t, tool, err) < 0)
		return -1;
	for (unsigned i = 0; i < t->nmodule; i++) {
		if (t->module[i].why.kind != ERR_NONE)
			continue;
		t->module[i].counting = tool[i].err.kind == ERR_NONE;
		t->module[i].uncounted = tool[i].err;
		/* what cannot be moved to count cannot be moved otherwise */
		if (tool[i].err.kind == ERR_REFUSED)
			t->module[i].why = tool[i].err;
	}
	return 0;
}

static int count(struct trial *t, struct err *err)
{
	double limit = COUNTING_TIMES * t->reference.result->wall_s + COUNTING_MORE_S;
	struct world_image image[TRIAL_MODULES];
	struct keeper k;
	char how[128];
	size_t n = 0;

	for (unsigned i = 0; i < t->nmodule; i++)
		if (t->module[i].counting && t->module[i].why.kind == ERR_NONE)
			image[n++] = (struct world_image){ t->module[i].path,
							   t->module[i].copy };
	if (!n)
		return 0;
	progress_say(t->begun_s, "counting what it executes: about %.1f s",
		  1.5 * t->reference.result->wall_s);
	int rc = trial_run(t, image, n, NULL, limit, &k, err);
	if (rc == 0 && !trial_did_same(t, &k, how))
		progress_say(t->begun_s, "the run that counted was different: %s", how);
	if (rc < 0 && interrupt_signal() == 0) {
		progress_say(t->begun_s, "not counted: %s", err->text);
		for (unsigned i = 0; i < t->nmodule; i++) {
			if (t->module[i].counting)
				t->module[i].uncounted = *err;
			t->module[i].counting = false;
		}
		rc = 0;
	}
	keeper_free(&k);
	return rc;
}

static int take_counts(struct trial *t, struct err *err)
{
	struct tool tool[TRIAL_MODULES] = { 0 };

	for (unsigned i = 0; i < t->nmodule; i++) {
		const struct trial_module *m = &t->module[i];

		if (m->counting)
			tool[i] = (struct tool){ .argv = { t->o->morph_edit, "counts", m->path,
							   m->counts, "-o", m->profile } };
	}
	if (run_for_all(t, tool, err) < 0)
		return -1;
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		m->counted = m->counting && tool[i].err.kind == ERR_NONE;
		if (m->counting)
			m->uncounted = tool[i].err;
		if (!m->counted && m->counting && t->kind == WORLD_NONE &&
		    m->why.kind == ERR_NONE)
			err_set(&m->why, ERR_REFUSED, "it cannot be replaced here: the loader "
				"does not find it by path");
	}
	return 0;
}

char *layouts_profile_name(const char *module, struct err *err)
{
	const char *slash = strrchr(module, '/');
	char hex[65], *name = NULL;
	struct digest digest;
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err_set(err, ERR_SYS, "'%s': %s", module, strerror(errno));
		return NULL;
	}
	if (digest_fd(fd, &digest, err) == 0) {
		digest_hex(&digest, hex);
		if (asprintf(&name, "%s.%.12s.profile", slash ? slash + 1 : module, hex) < 0)
			memory_exhausted();
	}
	close(fd);
	return name;
}

/* The profile that `morphctl profile` made of the samples, if it did. */
static void find_sampled(const struct trial *t, struct trial_module *m, const char *dir)
{
	const struct keeper_result *r = t->reference.result;
	char *name = layouts_profile_name(m->path, &m->why);

	if (!name)
		return;
	free(m->profile);
	m->profile = folder_path(dir, name);
	free(name);
	if (access(m->profile, R_OK) < 0)
		err_set(&m->why, ERR_SYS, "neither counts nor samples of it could be used: "
			"counts: %s; samples: %s",
			m->uncounted.kind == ERR_NONE ? "not known" : m->uncounted.text,
			r->watched ? r->unsampled : "there are too few");
}

static int use_samples(struct trial *t, struct err *err)
{
	char *dir = folder_path(t->folder, "sampled");
	struct tool tool = { .argv = { "/proc/self/exe", "profile", t->log, "-o", dir } };
	bool wanted = false;
	int rc = 0;

	for (unsigned i = 0; i < t->nmodule; i++)
		wanted |= t->module[i].why.kind == ERR_NONE && !t->module[i].counted;
	if (wanted) {
		(void)mkdir(dir, 0700);	/* else no profile is found */
		rc = tools_run(&tool, 1, err);
	}
	for (unsigned i = 0; rc == 0 && i < t->nmodule; i++)
		if (t->module[i].why.kind == ERR_NONE && !t->module[i].counted)
			find_sampled(t, &t->module[i], dir);
	free(dir);
	return rc;
}

static void keep_reasons(struct trial *t, const struct tool *tool, const char *what)
{
	for (unsigned i = 0; i < t->nmodule; i++)
		if (tool[i].argv[0] && tool[i].err.kind != ERR_NONE) {
			t->module[i].why = tool[i].err;
			if (what)
				err_wrap(&t->module[i].why, "%s", what);
		}
}

static int optimize(struct trial *t, struct err *err)
{
	struct tool tool[TRIAL_MODULES] = { 0 };
	char *report[TRIAL_MODULES] = { 0 };
	int rc;

	for (unsigned i = 0; i < t->nmodule; i++) {
		const struct trial_module *m = &t->module[i];

		if (asprintf(&report[i], "--report=%s", m->report) < 0)
			memory_exhausted();
		tool[i] = (struct tool){ .argv = { t->o->morph_edit, "optimize", m->path, "-o",
						   m->generation, "--profile", m->profile,
						   "--stats", m->stats, report[i] } };
	}
	rc = run_for_all(t, tool, err);
	if (rc == 0)
		keep_reasons(t, tool, NULL);
	for (unsigned i = 0; i < t->nmodule; i++)
		free(report[i]);
	return rc;
}

static int prove(struct trial *t, struct err *err)
{
	struct tool tool[TRIAL_MODULES] = { 0 };

	for (unsigned i = 0; i < t->nmodule; i++)
		tool[i] = (struct tool){ .argv = { t->o->morph_verify, t->module[i].path,
						   t->module[i].generation } };
	if (run_for_all(t, tool, err) < 0)
		return -1;
	keep_reasons(t, tool, "not proven");
	return 0;
}

static void read_figures(struct trial_module *m)
{
	FILE *f = fopen(m->stats, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {	/* other lines change nothing */
		(void)sscanf(line, "functions %" SCNu64, &m->functions);
		(void)sscanf(line, "functions_moved %" SCNu64, &m->moved);
	}
	if (f)
		(void)fclose(f);
	f = fopen(m->report, "re");
	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "instructions executed %lf", &m->instructions);
		(void)sscanf(line, "taken branches %lf %lf", &m->taken_before,
			     &m->taken_after);
	}
	if (f)
		(void)fclose(f);
}

/* Without samples, shares are of the instructions that were counted. */
static void find_shares(struct trial *t)
{
	double all = 0;

	for (unsigned i = 0; i < t->nmodule; i++)
		all += t->module[i].instructions;
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		m->share = all > 0 ? m->instructions / all : 0;
		if (m->why.kind == ERR_NONE && m->share < least_share)
			err_set(&m->why, ERR_REFUSED, "next to nothing runs in it");
	}
}

int layouts_none(const char *path, const char *why, struct err *err)
{
	size_t n = strlen(path);
	bool named = why[0] == '\'' && strncmp(why + 1, path, n) == 0 &&
		     strncmp(why + 1 + n, "': ", 3) == 0;

	return err_set(err, ERR_REFUSED, "nothing that it runs can be laid out anew; '%s': %s",
		       path, named ? why + n + 4 : why);
}

int trial_lay_out(struct trial *t, struct err *err)
{
	unsigned left = 0;

	progress_say(t->begun_s, "preparing copies that count");
	if (make_counting(t, err) < 0 || count(t, err) < 0 || take_counts(t, err) < 0 ||
	    use_samples(t, err) < 0)
		return -1;
	if (*trial_names(t))
		progress_say(t->begun_s, "laying out and proving %s", trial_names(t));
	if (optimize(t, err) < 0 || prove(t, err) < 0)
		return -1;
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		if (m->why.kind == ERR_NONE)
			read_figures(m);
		if (m->why.kind == ERR_NONE && !m->moved)
			err_set(&m->why, ERR_REFUSED, "no function is worth moving");
	}
	if (t->reference.result->watched)
		find_shares(t);
	for (unsigned i = 0; i < t->nmodule; i++)
		left += t->module[i].why.kind == ERR_NONE;
	if (left)
		return 0;
	return layouts_none(t->module[0].path, t->module[0].why.text, err);
}
