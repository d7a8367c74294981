/* ctl_export.c - morphctl export and cfg: what a recording or a profile shows, in the forms of
 * other tools, without a daemon
 *
 * Tested by tests/e2e/export.sh, tests/e2e/bolt.sh and tests/e2e/cfg.sh.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "lib/say.h"
#include "manager/ctl/ctl_evidence.h"
#include "manager/ctl/ctl_page.h"
#include "manager/ctl/profile_log.h"
#include "manager/parent/program.h"
#include "manager/report/evidence.h"
#include "manager/report/export.h"
#include "manager/try/tempfolder.h"

enum { PROFILE_MAX = 1 << 30 };

struct request {
	struct evidence_source source;
	const char *const *input;
	uint32_t ninput;
	const char *module;		/* NULL: the one with most samples */
	const char *out;
	vaddr function;			/* for forms of one; else 0 */
};

static const struct form {
	const char *name;
	/* of all modules together; NULL: of one, by the job, or a page */
	int (*write)(const struct evidence *e, struct wr *out, struct err *err);
	enum job_form job;
} forms[] = {
	{ "pprof", export_pprof, NJOB_FORM },
	{ "folded", export_folded, NJOB_FORM },
	{ "speedscope", export_speedscope, NJOB_FORM },
	{ "firefox", export_firefox, NJOB_FORM },
	{ "fdata", NULL, JOB_FDATA },
	{ "preagg", NULL, JOB_PREAGG },
	{ "yaml", NULL, JOB_YAML },
	{ "dot", NULL, JOB_DOT },
	{ "html", NULL, NJOB_FORM },
	{ NULL, NULL, NJOB_FORM },
};

/* --- all modules together --- */

static void say_notes(const struct evidence *e)
{
	ctl_evidence_notes(e);
	if (e->lost)
		say_line(stderr, "morphctl: %llu records were lost in the recording",
			 (unsigned long long)e->lost);
}

static int export_all(const struct request *r, const struct form *form, struct arena *a,
		      struct err *err)
{
	struct wr out = { 0 };
	struct evidence e;
	int rc = 0;

	evidence_init(&e, a);
	for (uint32_t i = 0; i < r->ninput && rc == 0; i++)
		rc = evidence_add(&e, r->input[i], &r->source, err);
	if (rc == 0) {
		say_notes(&e);
		rc = form->write(&e, &out, err);
	}
	if (rc == 0)
		rc = io_write_output(r->out, wr_bytes(&out), err);
	wr_free(&out);
	return rc;
}

/* --- one module --- */

struct chosen {
	struct bytes text;
	struct profile profile;
	uint32_t n;		/* profiles that were looked at */
};

static bool is_named(const char *path, const char *name)
{
	return strcmp(path, name) == 0 || strcmp(evidence_base(path), name) == 0;
}

/* Takes the profile if it is the one that is wanted. */
static int look_at(const struct request *r, int fd, struct arena *a, struct chosen *c,
		   struct err *err)
{
	struct profile p;
	struct bytes b;

	if (io_read_all(fd, PROFILE_MAX, a, &b, err) < 0 || profile_read(b, a, &p, err) < 0)
		return -1;
	c->n++;
	if (r->module ? is_named(p.module, r->module)
		      : !c->text.p || p.samples > c->profile.samples) {
		c->text = b;
		c->profile = p;
	}
	return 0;
}

static int look_into(const struct request *r, const char *dir, struct arena *a,
		     struct chosen *c, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_set(err, ERR_SYS, "'%s': %s", dir, strerror(errno));
	while (rc == 0 && (ent = readdir(d))) {
		int fd = ent->d_name[0] == '.' ? -1 : openat(dirfd(d), ent->d_name,
							     O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		rc = look_at(r, fd, a, c, err);
		close(fd);
	}
	closedir(d);
	return rc;
}

/* Where nothing is chosen, one of them is why. */
static void say_reasons(char *why)
{
	for (char *rest = why, *line; (line = strsep(&rest, "\n")) && rest; )
		say_line(stderr, "morphctl: %s", line);
}

/* A log's profiles, in a folder of their own for a moment. */
static int choose_of_log(const struct request *r, struct arena *a, struct chosen *c,
			 struct err *err)
{
	struct profile_log_places places = { r->source.at, r->source.binary,
					     r->source.nbinary, NULL };
	struct tempfolder tmp;
	struct err ignored;
	char *why = NULL;
	size_t n;

	if (tempfolder_make(&tmp, "morph-export", err) < 0)
		return -1;
	places.why = memory_need(open_memstream(&why, &n));
	int rc = profile_log_write(r->input[0], tmp.path, &places, NULL, err);
	if (rc == 0)
		rc = look_into(r, tmp.path, a, c, err);
	(void)tempfolder_remove(&tmp, &ignored);	/* it is in $TMPDIR */
	(void)fclose(places.why);	/* memory */
	if (rc == 0 && !c->text.p)
		say_reasons(why);
	free(why);
	return rc;
}

static int choose(const struct request *r, struct arena *a, struct chosen *c, struct err *err)
{
	int fd = modulefile_recording(r->input[0], err), rc;

	if (fd < 0)
		return -1;
	if (profile_is_in(fd) > 0) {
		rc = look_at(r, fd, a, c, err);
		if (rc < 0)
			err_wrap(err, "'%s'", r->input[0]);
	} else {
		rc = choose_of_log(r, a, c, err);
	}
	close(fd);
	if (rc == 0 && !c->text.p)
		rc = err_set(err, ERR_INPUT, r->module ? "'%s': nothing of '%s' is in it"
						       : "'%s': no module is in it",
			     r->input[0], r->module);
	return rc;
}

static int export_one(const struct request *r, const struct form *form, struct arena *a,
		      struct err *err)
{
	struct chosen c = { 0 };
	struct bytes out;
	int in[2] = { -1, -1 }, rc = -1;

	if (r->ninput != 1)
		return err_set(err, ERR_USAGE, "--format=%s takes one recording or profile",
			       form->name);
	if (choose(r, a, &c, err) < 0)
		return -1;
	if (!r->module && c.n > 1)
		say_line(stderr, "morphctl: of %s, which has most; --module names another",
			 c.profile.module);
	in[0] = modulefile_of_profile(&r->source.at, r->source.binary, r->source.nbinary,
				      &c.profile, err);
	in[1] = io_memory_file(c.text, err);
	struct modulefile_job job = { .kind = JOB_EXPORT, .nin = 2, .in = { in[0], in[1] },
				      .a = form->job, .b = r->function };
	if (in[0] >= 0 && in[1] >= 0)
		rc = modulefile_text(r->source.at.morph_edit, &job, a, &out, err);
	if (rc < 0)
		err_wrap(err, "'%s'", c.profile.module);
	else
		rc = io_write_output(r->out, out, err);
	for (int i = 0; i < 2; i++)
		if (in[i] >= 0)
			close(in[i]);
	return rc;
}

/* --- the commands --- */

static const struct form *find_form(const char *name)
{
	for (const struct form *f = forms; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	say_line(stderr, "morphctl export: no format '%s'", name);
	return NULL;
}

static bool is_page(const struct form *form)
{
	return !form->write && form->job == NJOB_FORM;
}

static int export_page(const struct request *r)
{
	struct ctl_evidence o = { .source = r->source };
	struct arena *a = arena_new();
	struct evidence e;

	int code = ctl_evidence_read(&o, r->input, r->ninput, a, &e);

	if (code == 0)
		code = ctl_page_logs(&o, &e, r->input, r->ninput, r->out);
	arena_free(a);
	return code;
}

static int run(const struct request *r, const struct form *form)
{
	struct arena *a = arena_new();
	struct err err = { 0 };
	int rc = ctl_evidence_out(r->out, r->input, r->ninput, &err), code = 0;

	if (rc == 0)
		rc = modulefile_check(r->source.binary, r->source.nbinary, &err);
	if (rc == 0 && is_page(form))
		code = export_page(r);
	else if (rc == 0)
		rc = form->write ? export_all(r, form, a, &err)
				 : export_one(r, form, a, &err);
	arena_free(a);
	if (rc == 0)
		return code;
	say_line(stderr, "morphctl: %s", err.text);
	return err_exit_code(&err);
}

/* --- the flow of a function --- */

static int flow(const struct ctl_evidence *o, const char *module, const char *function,
		const char *out)
{
	struct form form = { "cfg", NULL, job_flow_form(o->dot, o->laid_out) };
	struct request r = { .source = o->source, .input = o->log, .ninput = o->nlog,
			     .module = module, .out = out };
	struct arena *a = arena_new();
	struct err err = { 0 };
	uint32_t m, f;
	struct evidence e;
	int code = ctl_evidence_read(o, o->log, o->nlog, a, &e);

	if (code == 0 && ctl_evidence_out(r.out, r.input, r.ninput, &err) == 0 &&
	    ctl_evidence_function(&e, module, function, &m, &f, &err) == 0) {
		r.function = e.module.v[m].function[f].entry;
		(void)export_one(&r, &form, a, &err);	/* *err says whether it failed */
	}
	if (code == 0 && err.kind != ERR_NONE) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	arena_free(a);
	return code;
}

/* A flow graph has no other characters; they may be meant for a terminal. */
static void put_line(struct wr *text, const char *line)
{
	for (; *line; line++)
		wr_u8(text, *line == '\t' || (*line >= ' ' && *line <= '~') ? (uint8_t)*line
									    : '?');
	wr_u8(text, '\n');
}

/* The rows of a table of one column. */
static int write_lines(const struct ctl_tables *t, const char *out, struct err *err)
{
	struct wr text = { 0 };

	for (int i = 0; t->n && i < table_nrow(t->at[0]); i++)
		put_line(&text, table_cell(t->at[0], i, 0));
	int rc = io_write_output(out, wr_bytes(&text), err);
	wr_free(&text);
	return rc;
}

enum { ASK_CFG, ASK_MODULE, ASK_FUNCTION, ASK_OUT, ASK_OPTIONS, ASK_MOST = ASK_OPTIONS + 2 };

static int ask_daemon(const struct ctl *ctl, int argc, char **argv)
{
	const char *request[ASK_MOST] = { argv[ASK_CFG], argv[ASK_MODULE], argv[ASK_FUNCTION] };
	int n = 3;
	struct ctl_tables t;
	struct err err;

	for (int i = ASK_OPTIONS; i < argc; i++)
		request[n++] = argv[i];
	int code = ctl_fetch(ctl, n, request, &t);

	if (code == 0 && write_lines(&t, argv[ASK_OUT], &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	ctl_tables_free(&t);
	return code;
}

/* As the daemon knows it. */
static int flow_of_daemon(const struct ctl *ctl, const struct ctl_evidence *o, char **argv)
{
	char name[] = "cfg", dot[] = "--dot", placed[] = "--placed";
	char *out = memory_need(strdup(o->out ? o->out : "-"));
	char *asked[ASK_MOST] = { name, argv[0], argv[1], out };
	int n = ASK_OPTIONS;

	if (o->dot)
		asked[n++] = dot;
	if (o->laid_out)
		asked[n++] = placed;
	int code = ctl_of_module(ctl, n, asked, ask_daemon);

	free(out);
	return code;
}

int ctl_cfg(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const not_its[] = { "--binary=", "--store=", NULL };
	struct ctl_evidence o;
	int code = ctl_evidence_options(ctl, argc, argv, UINT32_MAX, &o);

	if (code)
		return code;
	if (o.nlog > 1)
		code = ctl_usage(ctl);
	else if (o.nlog)
		code = flow(&o, argv[optind], argv[optind + 1], o.out ? o.out : "-");
	else
		code = ctl_evidence_only_logs(ctl, argc, argv, not_its)
			       ? 2
			       : flow_of_daemon(ctl, &o, argv + optind);
	ctl_evidence_free(&o);
	return code;
}

int ctl_export(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "html", required_argument, NULL, 'h' },
		{ "module", required_argument, NULL, 'm' },
		{ "binary", required_argument, NULL, 'b' },
		{ "store", required_argument, NULL, 's' },
		{ 0 }
	};
	const char **binary = memory_new((size_t)argc, sizeof(*binary));
	char *edit = program_of_ours("morph-edit");
	struct request r = { .source = { .at = { edit, "/var/lib/morph" },
					 .binary = binary, .stacks = true } };
	const struct form *form = NULL;
	bool usage = false;
	int c, code = 2;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (c) {
		case 'o': r.out = optarg; break;
		case 'm': r.module = optarg; break;
		case 'b': binary[r.source.nbinary++] = optarg; break;
		case 's': r.source.at.store = optarg; break;
		case 'h':
			r.out = optarg;
			form = find_form("html");
			break;
		case 'f':
			form = find_form(optarg);
			usage = usage || !form;
			break;
		default: usage = true;
		}
	}
	r.input = (const char *const *)argv + optind;
	r.ninput = (uint32_t)(argc - optind);
	if (form && r.module && (form->write || is_page(form))) {
		say_line(stderr, "morphctl export: --module is for forms of one module, and "
			 "'%s' is of all", form->name);
		usage = true;
	}
	if (usage || !form || !r.out || optind >= argc) {
		code = ctl_usage(ctl);
	} else if (!r.source.at.morph_edit) {
		code = ctl_without_edit();
	} else {
		code = run(&r, form);
	}
	free(binary);
	free(edit);
	return code;
}
