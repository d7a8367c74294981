/* main.c - morph-live: a proven generation into a running process, and out again
 *
 *	morph-live on PID PLAN GENERATION	maps it
 *	morph-live off PID FOLDER		maps originals back where files of FOLDER are
 *						(or the one that is named so)
 *	morph-live off-all GENERATION		the same in all processes that have that file
 *	morph-live counters PID PLAN GENERATION	writes what a counting one has counted
 *	morph-live count PID PLAN GENERATION OUT --for=MS
 *						maps a counting one for so long, takes it out,
 *						and writes the same to OUT
 *	morph-live turns PID PLAN GENERATION --for=MS
 *						takes it out for so long and has it in for so
 *						long, whichever comes first: what was done
 *	morph-live look PID FOLDER		where they are: "ADDRESS GENERATION", one a line
 *	morph-live list FOLDER			the same of all processes, with their numbers
 *	morph-live room PID PLAN GENERATION	"fits", or the address at which new text of the
 *						file would fit in the process, for --text-at
 *
 * It runs as root and parses nothing that others could have written: PLAN is what morph-verify
 * --live printed, GENERATION the file that it was about, PID one of any user's processes.
 * Files may be given as fd:N.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/pid.h"
#include "lib/say.h"
#include "lib/usage.h"
#include "live/burst.h"
#include "live/everywhere.h"
#include "live/maps.h"
#include "live/plan.h"
#include "live/process.h"
#include "live/splice.h"
#include "live/turns.h"

static const char usage[] =
	"usage: morph-live on PID PLAN GENERATION [--pause=MS] [--patience=MS]\n"
	"                      [--nobody-catches]\n"
	"       morph-live off PID FOLDER [--pause=MS] [--patience=MS]\n"
	"       morph-live off-all GENERATION [--pause=MS] [--patience=MS]\n"
	"       morph-live counters PID PLAN GENERATION >FILE\n"
	"       morph-live count PID PLAN GENERATION OUT --for=MS [--pause=MS]\n"
	"                      [--patience=MS] [--nobody-catches]\n"
	"       morph-live turns PID PLAN GENERATION --for=MS [--pause=MS]\n"
	"                      [--patience=MS] [--nobody-catches]\n"
	"       morph-live look PID FOLDER\n"
	"       morph-live list FOLDER\n"
	"       morph-live room PID PLAN GENERATION\n";

struct args {
	char path[PATH_MAX];	/* of resolve_folder() */
	pid_t pid;
	struct live_plan plan;
	int generation;
	const char *folder, *out;
	uint64_t for_ms;
	struct live_limits limits;
};

static int read_plan(const char *arg, struct live_plan *out, struct err *err)
{
	char text[4096];
	int fd = io_open_read(arg, err);

	if (fd < 0)
		return -1;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	if (live_plan_parse(text, out, err) < 0)
		return err_wrap(err, "'%s'", arg);
	return 0;
}

/* The folder as names of mappings begin, or the file: one that was deleted is found where it
 * was. */
static int resolve_folder(struct args *a, struct err *err)
{
	size_t n = strlen(a->folder);
	char parent[PATH_MAX];

	if (realpath(a->folder, a->path)) {
		a->folder = strcmp(a->path, "/") == 0 ? "" : a->path;
		return 0;
	}
	int error = errno;
	while (n > 1 && a->folder[n - 1] == '/')
		n--;
	size_t last = n;
	while (last > 0 && a->folder[last - 1] != '/')
		last--;
	bool fits = snprintf(parent, sizeof(parent), "./%.*s", (int)last, a->folder) <
		    (int)sizeof(parent);
	if (error == ENOENT && fits &&
	    realpath(a->folder[0] == '/' ? parent + 2 : parent, a->path)) {
		size_t at = strcmp(a->path, "/") == 0 ? 0 : strlen(a->path);

		fits = snprintf(a->path + at, sizeof(a->path) - at, "/%.*s", (int)(n - last),
				a->folder + last) < (int)(sizeof(a->path) - at);
		a->folder = fits ? a->path : a->folder;
	}
	return a->folder[0] == '/' ? 0 : err_set(err, ERR_SYS, "'%s': %s", a->folder,
						 strerror(error));
}

static void tell(const struct live_outcome *out)
{
	if (out->was_so)
		(void)puts("nothing to do");
	else
		(void)printf("done, pause %" PRIu64 " us, tries %u\n", out->pause_ns / 1000,
			     out->tries);
}

static int do_on(struct args *a, struct err *err)
{
	struct live_outcome out;

	if (live_on(a->pid, &a->plan, a->generation, &a->limits, &out, err) < 0)
		return -1;
	tell(&out);
	(void)printf("symbols at 0x%" PRIx64 "\n", out.base);
	return 0;
}

static int do_off(struct args *a, struct err *err)
{
	struct live_outcome out;

	if (resolve_folder(a, err) < 0)
		return -1;
	if (live_off(a->pid, a->folder, &a->limits, &out, err) < 0)
		return -1;
	tell(&out);
	return 0;
}

/* Says of one that keeps it why, and how many others do. */
static int do_off_all(struct args *a, struct err *err)
{
	struct live_everywhere out;
	int fd = io_open_read(a->folder, err);

	if (fd < 0)
		return -1;
	int rc = live_off_everywhere(0, fd, &a->limits, a->limits.patience_ns, &out, err);
	close(fd);
	if (rc == 0)
		(void)printf("done, pause %" PRIu64 " us, processes %u\n",
			     out.pause_ns / 1000, out.out);
	else if (out.left > 1)
		err_wrap(err, "process %d, one of %u", (int)out.one_left, out.left);
	else if (out.left)
		err_wrap(err, "process %d", (int)out.one_left);
	return rc;
}

static int do_counters(struct args *a, struct err *err)
{
	return live_read_counters(a->pid, &a->plan, a->generation, STDOUT_FILENO, err);
}

static int do_count(struct args *a, struct err *err)
{
	struct live_burst burst;
	int fd = io_open_write(a->out, err);

	if (fd < 0)
		return -1;
	int rc = live_burst(a->pid, &a->plan, a->generation, &a->limits, a->for_ms, fd, &burst,
			    err);
	close(fd);
	if (rc == 0)
		(void)printf("counted %" PRIu64 " ms, CPU time %" PRIu64 " ms, pause %" PRIu64
			     " us\n", burst.counted_ms, burst.cpu_ms, burst.pause_ns / 1000);
	return rc;
}

static void tell_turn(const char *which, const struct procwork *done)
{
	(void)printf("%s %.0f ns, %.0f bytes, %.0f calls, %.0f wakes, ", which,
		     1e9 * done->cpu_s, done->work[PROCWORK_BYTES],
		     done->work[PROCWORK_CALLS], done->work[PROCWORK_WAKES]);
}

static int do_turns(struct args *a, struct err *err)
{
	struct live_turns t;

	if (live_turns(a->pid, &a->plan, a->generation, &a->limits, a->for_ms, &t, err) < 0)
		return -1;
	tell_turn("off", &t.done[0]);
	tell_turn("on", &t.done[1]);
	(void)printf("pause %" PRIu64 " us\n", t.pause_ns / 1000);
	return 0;
}

static int do_look(struct args *a, struct err *err)
{
	struct live_maps maps = { 0 };

	if (resolve_folder(a, err) < 0 || live_maps_read(a->pid, &maps, err) < 0)
		return -1;
	for (uint32_t i = 0; i < maps.n; i++)
		if (live_is_spliced(&maps, &maps.map[i], a->folder))
			say_line(stdout, "%" PRIx64 " %s", maps.map[i].start,
				 maps.map[i].name);
	live_maps_free(&maps);
	return 0;
}

static int do_list(struct args *a, struct err *err)
{
	struct err gone;

	if (resolve_folder(a, err) < 0)
		return -1;
	DIR *d = opendir("/proc");
	if (!d)
		return err_set(err, ERR_SYS, "'/proc': %s", strerror(errno));
	for (struct dirent *e; (e = readdir(d));) {
		pid_t pid = (pid_t)atol(e->d_name);
		struct live_maps maps = { 0 };

		if (pid <= 0 || live_maps_read(pid, &maps, &gone) < 0)
			continue;
		for (uint32_t i = 0; i < maps.n; i++)
			if (live_is_spliced(&maps, &maps.map[i], a->folder))
				say_line(stdout, "%d %" PRIx64 " %s", (int)pid,
					 maps.map[i].start, maps.map[i].name);
		live_maps_free(&maps);
	}
	closedir(d);
	return 0;
}

/* The mappings of the module: those of the text's file around it. */
static void span_of(const struct live_maps *maps, const struct live_map *text, uint64_t *lo,
		    uint64_t *hi)
{
	const struct live_map *first = text, *last = text;

	while (first > maps->map && first[-1].inode && first[-1].end == first->start)
		first--;
	/* and what has no file: zeroed data */
	while (last + 1 < maps->map + maps->n && last[1].start == last->end)
		last++;
	*lo = first->start;
	*hi = last->end;
}

static int do_room(struct args *a, struct err *err)
{
	const struct live_plan *p = &a->plan;
	struct live_maps maps = { 0 };
	uint64_t lo, hi, at = 0;
	int original = -1;

	if (live_process_check(a->pid, false, err) < 0 ||
	    live_maps_read(a->pid, &maps, err) < 0)
		return -1;
	const struct live_map *text = live_find_text(a->pid, &maps, p, a->generation, &original,
						     err);
	if (text && original >= 0) {
		uint64_t bias = text->start - p->text, natural = p->fresh[0].addr + bias;

		span_of(&maps, text, &lo, &hi);
		at = live_maps_room(&maps, lo, hi, natural, live_plan_fresh_size(p),
				    live_process_stack(a->pid));
		if (at == 0)
			err_set(err, ERR_REFUSED, "there is no room for new text near it");
		else if (at == natural)
			(void)puts("fits");
		else
			(void)printf("%" PRIx64 "\n", at - bias);
	} else if (text) {
		at = 1;
		(void)puts("fits");
	}
	if (original >= 0)
		close(original);
	live_maps_free(&maps);
	return at ? 0 : -1;
}

static const struct {
	const char *name;
	int (*run)(struct args *a, struct err *err);
	bool process, plan;		/* what it is given; else a folder, or a file */
	bool out, lasts;		/* besides; and for how long */
} commands[] = {
	{ "on", do_on, true, true, false, false },
	{ "off", do_off, true, false, false, false },
	{ "off-all", do_off_all, false, false, false, false },
	{ "counters", do_counters, true, true, false, false },
	{ "count", do_count, true, true, true, true },
	{ "turns", do_turns, true, true, false, true },
	{ "look", do_look, true, false, false, false },
	{ "list", do_list, false, false, false, false },
	{ "room", do_room, true, true, false, false },
};

static bool is_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return true;
	return false;
}

static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "pause", required_argument, NULL, 'p' },
		{ "patience", required_argument, NULL, 't' },
		{ "nobody-catches", no_argument, NULL, 'n' },
		{ "for", required_argument, NULL, 'f' },
		{ 0 }
	};
	int c;

	a->limits = (struct live_limits){ 5000000, 10000000000, false };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t ms = optarg ? strtoul(optarg, NULL, 10) : 0;

		if (c == 'n') {
			a->limits.nobody_catches = true;
			continue;
		}
		if (c == '?' || ms == 0 || ms > 3600000)
			return -1;
		if (c == 'f')
			a->for_ms = ms;
		else
			*(c == 'p' ? &a->limits.pause_ns : &a->limits.patience_ns) =
				ms * 1000000;
	}
	return 0;
}

/* The lines of that command; NULL: how to get all. */
static int wrong_usage(const char *name)
{
	static const char program[] = "morph-live ";
	size_t n = name ? strlen(name) : 0;
	bool shown = false;

	for (const char *at = usage; name && *at; at += strcspn(at, "\n") + 1) {
		const char *command = at + sizeof("usage: ") - 1;
		int length = (int)strcspn(at, "\n");

		if (strncmp(command, program, sizeof(program) - 1) == 0) {
			command += sizeof(program) - 1;
			shown = strncmp(command, name, n) == 0 && command[n] == ' ';
			if (shown)
				(void)fprintf(stderr, "usage: %.*s\n", length - 7, at + 7);
		} else if (shown) {
			(void)fprintf(stderr, "%.*s\n", length, at);
		}
	}
	if (!name)
		(void)fputs("usage: morph-live COMMAND ...\n"
			    "'morph-live --help' lists the commands\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	struct args a = { 0 };
	struct err err = { 0 };
	int n, k = -1;

	io_hold_standard();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		(void)fputs(usage, stdout);
		(void)fputs("See morph-live(8); `morphctl live` does all that is needed "
			    "before\n", stdout);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)puts("morph-live " MORPH_VERSION);
		return 0;
	}
	opterr = 0;		/* it would print the option as it is */
	if (!usage_check("morph-live", usage, "[--help] [--version]", &argc, argv))
		goto wrong;
	if (parse(argc, argv, &a) < 0)
		goto wrong;
	n = argc - optind;
	if (n >= 1 && is_command(argv[optind]))
		name = argv[optind];
	else if (n >= 1)
		say_line(stderr, "morph-live: unknown command '%s'", argv[optind]);
	if (n < 2)
		goto wrong;
	argv += optind;
	for (int i = 0; i < (int)(sizeof(commands) / sizeof(commands[0])); i++)
		if (strcmp(argv[0], commands[i].name) == 0 &&
		    n == 2 + commands[i].process + commands[i].plan + commands[i].out &&
		    commands[i].lasts == (a.for_ms > 0))
			k = i;
	if (k < 0)
		goto wrong;
	a.pid = commands[k].process ? pid_read(argv[1]) : 1;
	if (a.pid <= 0)
		goto wrong;
	a.folder = argv[1 + commands[k].process];
	a.out = commands[k].out ? argv[4] : NULL;
	a.generation = commands[k].plan ? io_open_read(argv[3], &err) : -1;
	if ((commands[k].plan &&
	     (a.generation < 0 || read_plan(argv[2], &a.plan, &err) < 0)) ||
	    commands[k].run(&a, &err) < 0) {
		if (commands[k].process)
			err_wrap(&err, "process %d", (int)a.pid);
		say_line(stderr, "morph-live: %s", err.text);
		return err_exit_code(&err);
	}
	return 0;
wrong:
	return wrong_usage(name);
}
