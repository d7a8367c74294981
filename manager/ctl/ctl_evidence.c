/* ctl_evidence.c - what the commands share that show recordings and profiles without a daemon
 *
 * Tested by tests/e2e/reports.sh.
 */
#include "manager/ctl/ctl_evidence.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/say.h"
#include "manager/parent/program.h"

static bool parse_limit(const char *text, uint32_t *out)
{
	char *end;

	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || v < 1 || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool parse_by(const char *text, enum rows_by *out)
{
	for (int i = 0; rows_by_name[i]; i++)
		if (strcmp(rows_by_name[i], text) == 0) {
			*out = (enum rows_by)i;
			return true;
		}
	return false;
}

/* Seconds from the beginning of a recording on. */
static bool parse_seconds(const char *text, uint64_t *ns)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= 0) || s > 1e9)
		return false;
	*ns = (uint64_t)(s * 1e9);
	return true;
}

/* Where an option's value goes that is taken as it is; NULL: it is looked at. */
static const char **text_of(int c, struct ctl_evidence *o)
{
	switch (c) {
	case 'm':
		return &o->module;
	case 'O':
		return &o->out;
	case 'H':
		return &o->html;
	case 'c':
		return &o->counts;
	case 's':
		return &o->source.at.store;
	case 'o':
		return &o->sort;
	default:
		return NULL;
	}
}

static int take_by(const struct ctl *ctl, struct ctl_evidence *o)
{
	bool callers = strcmp(ctl->command->name, "report") == 0;

	o->by_given = true;
	o->callers = callers && strcmp(optarg, "caller") == 0;
	if (o->callers || parse_by(optarg, &o->by))
		return 0;
	return ctl_wrong(ctl, "--by", optarg,
		     callers ? "none of machine, program, module, procedure, line, inlined, "
			       "caller"
			     : "none of machine, program, module, procedure, line, inlined");
}

static int take(const struct ctl *ctl, int c, struct ctl_evidence *o)
{
	const char **text = text_of(c, o);
	uint32_t mhz;

	if (text) {
		*text = optarg;
		return 0;
	}
	switch (c) {
	case 'b':
		o->binary[o->source.nbinary++] = optarg;
		return 0;
	case 'y':
		return take_by(ctl, o);
	case 'l':
		return parse_limit(optarg, &o->limit)
			       ? 0
			       : ctl_wrong(ctl, "--limit", optarg, "not a number from 1 on");
	case 'L':
		o->log[o->nlog++] = optarg;
		return 0;
	case 'i':
		return parse_seconds(optarg, &o->source.since_ns)
			       ? 0
			       : ctl_wrong(ctl, "--since", optarg, "no number of seconds");
	case 'u':
		return parse_seconds(optarg, &o->source.until_ns) && o->source.until_ns
			       ? 0
			       : ctl_wrong(ctl, "--until", optarg,
					   "no number of seconds above 0");
	case 'h':
		o->shares = true;
		return 0;
	case 'd':
		o->dot = true;
		return 0;
	case 'p':
		o->laid_out = true;
		return 0;
	case 'r':
		o->original = true;
		return 0;
	case 'g':
		o->placed = true;
		return !optarg || parse_limit(optarg, &o->generation)
			       ? 0
			       : ctl_wrong(ctl, "--generation", optarg,
				       "not a number from 1 on");
	case 'B':
		o->blocks = true;
		return 0;
	case 'z':
		return parse_limit(optarg, &mhz)
			       ? (o->mhz = mhz, 0)
			       : ctl_wrong(ctl, "--mhz", optarg, "not a number from 1 on");
	default:
		return ctl_usage(ctl);
	}
}

int ctl_evidence_options(const struct ctl *ctl, int argc, char **argv, uint32_t limit,
			 struct ctl_evidence *out)
{
	static const struct option options[] = {
		{ "binary", required_argument, NULL, 'b' },
		{ "blocks", no_argument, NULL, 'B' },
		{ "by", required_argument, NULL, 'y' },
		{ "counts", required_argument, NULL, 'c' },
		{ "dot", no_argument, NULL, 'd' },
		{ "generation", optional_argument, NULL, 'g' },
		{ "html", required_argument, NULL, 'H' },
		{ "limit", required_argument, NULL, 'l' },
		{ "log", required_argument, NULL, 'L' },
		{ "mhz", required_argument, NULL, 'z' },
		{ "module", required_argument, NULL, 'm' },
		{ "original", no_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'O' },
		{ "placed", no_argument, NULL, 'p' },
		{ "shares", no_argument, NULL, 'h' },
		{ "since", required_argument, NULL, 'i' },
		{ "sort", required_argument, NULL, 'o' },
		{ "store", required_argument, NULL, 's' },
		{ "until", required_argument, NULL, 'u' },
		{ 0 }
	};
	int c, code = 0;

	*out = (struct ctl_evidence){ .by = ROWS_PROCEDURE, .limit = limit,
				      .binary = memory_new((size_t)argc, sizeof(char *)),
				      .log = memory_new((size_t)argc, sizeof(char *)),
				      .edit = program_of_ours("morph-edit") };
	out->source.at = (struct modulefile_places){ out->edit, "/var/lib/morph" };
	out->source.binary = out->binary;
	while (code == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
		code = take(ctl, c, out);
	struct err err = { 0 };

	if (code == 0 && modulefile_check(out->binary, out->source.nbinary, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	if (code == 0 && out->mhz > 0 && !out->counts) {
		say_line(stderr, "morphctl %s: --mhz is for executions: --counts names them",
			 ctl->command->name);
		code = 2;
	}
	if (code == 0 && out->original && out->placed) {
		say_line(stderr, "morphctl %s: either --original or --generation",
			 ctl->command->name);
		code = 2;
	}
	if (code == 0 && !out->source.at.morph_edit)
		code = ctl_without_edit();
	if (code)
		ctl_evidence_free(out);
	return code;
}

const char *ctl_evidence_find(int argc, char **argv, const char *start)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], start, strlen(start)) == 0)
			return argv[i];
	return NULL;
}

bool ctl_evidence_only_logs(const struct ctl *ctl, int argc, char **argv,
			    const char *const *option)
{
	for (int i = 0; option[i]; i++) {
		const char *given = ctl_evidence_find(argc, argv, option[i]);
		bool any = option[i][strlen(option[i]) - 1] == '=';	/* whatever its value */

		if (!given || (!any && strcmp(given, option[i]) != 0))
			continue;
		say_line(stderr, "morphctl %s: '%s' is for recordings: --log=LOG names one",
			 ctl->command->name, given);
		return true;
	}
	return false;
}

void ctl_evidence_free(struct ctl_evidence *o)
{
	free(o->edit);
	free(o->binary);
	free(o->log);
	o->edit = NULL;
	o->binary = o->log = NULL;
}

void ctl_evidence_notes(const struct evidence *e)
{
	for (uint32_t i = 0; i < e->module.n; i++)
		if (e->module.v[i].note)
			say_line(stderr, "morphctl: %s: %s", e->module.v[i].path,
				 e->module.v[i].note);
	double cut = evidence_cut(e);

	if (cut > 0)
		say_line(stderr, "morphctl: the stacks of %.0f of %.0f samples begin with "
			 "[cut off]: who called is not known further", cut, e->total);
	if (e->cut_short > 0)
		say_line(stderr, "morphctl: %.0f of them because the piece was too short: "
			 "`record --stacks=BYTES` takes more", e->cut_short);
	if (e->guessed > 0)
		say_line(stderr, "morphctl: %.0f of %.0f samples are in code without unwind "
			 "rows: who called it may be missing in their stacks", e->guessed,
			 e->total);
	if (e->damaged)
		say_line(stderr, "morphctl: %s: %llu part%s left out, damaged or cut off",
			 e->damaged_in, (unsigned long long)e->damaged,
			 e->damaged == 1 ? "" : "s");
}

int ctl_evidence_read(const struct ctl_evidence *o, const char *const *path, uint32_t n,
		      struct arena *a, struct evidence *out)
{
	struct err err = { 0 };

	evidence_init(out, a);
	for (uint32_t i = 0; i < n; i++)
		if (evidence_add(out, path[i], &o->source, &err) < 0) {
			say_line(stderr, "morphctl: %s", err.text);
			return err_exit_code(&err);
		}
	ctl_evidence_notes(out);
	return 0;
}

int ctl_evidence_out(const char *out, const char *const *input, uint32_t n, struct err *err)
{
	struct stat to, from;

	if (strcmp(out, "-") == 0 || stat(out, &to) < 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (stat(input[i], &from) == 0 && from.st_dev == to.st_dev &&
		    from.st_ino == to.st_ino)
			return err_set(err, ERR_USAGE, "'%s' would be written over '%s'", out,
				       input[i]);
	return 0;
}

static uint32_t find_module(const struct evidence *e, const char *name)
{
	for (uint32_t i = 0; i < e->module.n; i++)
		if (e->module.v[i].file && rows_is_module(&e->module.v[i], name))
			return i;
	return EVIDENCE_NONE;
}

int ctl_evidence_nothing(const struct ctl_evidence *o, bool found)
{
	if (!o->module || found)
		return 0;
	say_line(stderr, "morphctl: no samples of '%s'", o->module);
	return 1;
}

/* By its name, as it is or as it is shown, or by its entry. */
static uint32_t find_function(const struct evidence *e, const struct evidence_module *m,
			      const char *name)
{
	const char *hex = strncmp(name, "fn_", 3) == 0	? name + 3
			  : strncmp(name, "0x", 2) == 0 ? name + 2
							: NULL;

	for (uint32_t i = 0; i < m->nfunction; i++)
		if (strcmp(m->function[i].name, name) == 0 ||
		    strcmp(evidence_plain(e, m->function[i].name), name) == 0 ||
		    (hex && m->function[i].entry == strtoull(hex, NULL, 16)))
			return i;
	return EVIDENCE_NONE;
}

int ctl_evidence_function(const struct evidence *e, const char *module, const char *function,
			  uint32_t *out_module, uint32_t *out_function, struct err *err)
{
	*out_module = find_module(e, module);
	if (*out_module == EVIDENCE_NONE)
		return err_set(err, ERR_INPUT, "no samples of '%s'", module);
	*out_function = find_function(e, &e->module.v[*out_module], function);
	if (*out_function == EVIDENCE_NONE)
		return err_set(err, ERR_INPUT, "no samples of a function '%s' of '%s'",
			       function, e->module.v[*out_module].path);
	return 0;
}

int ctl_evidence_sort(const char *sort, const char *const *words)
{
	for (int i = 0; sort && words[i]; i++)
		if (strcmp(sort, words[i]) == 0)
			return i;
	return sort ? -1 : 0;
}

int ctl_evidence_wrong_sort(const struct ctl *ctl, const char *sort, const char *const *words)
{
	char all[160] = "none of ";

	for (int i = 0; words[i]; i++) {
		size_t n = strlen(all);

		(void)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", words[i]);
	}
	return ctl_wrong(ctl, "--sort", sort, all);
}

int ctl_evidence_columns(enum rows_by by, struct table_column *col)
{
	int n = 0;

	if (by >= ROWS_PROCEDURE)
		col[n++] = (struct table_column){ "module", TABLE_TEXT };
	col[n++] = (struct table_column){ rows_by_name[by], TABLE_TEXT };
	if (by == ROWS_LINE)
		col[n++] = (struct table_column){ "procedure", TABLE_TEXT };
	if (by == ROWS_INLINED)
		col[n++] = (struct table_column){ "inlined_into", TABLE_TEXT };
	return n;
}

double ctl_evidence_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

const char *ctl_evidence_unit(const struct evidence *e)
{
	return e->executions ? "executions" : "samples";
}
