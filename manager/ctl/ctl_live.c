/* ctl_live.c - morphctl live: what runs gets a generation without a restart, and gives it back
 *
 * No daemon is asked, and nothing is left to one: a process is sampled for some seconds, unless
 * profiles are given, and gets generations of its files (manager/try/splicing.h).
 *
 * Tested by tests/e2e/livectl.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/pid.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/parent/livefiles.h"
#include "manager/parent/program.h"
#include "manager/try/interrupt.h"
#include "manager/try/sameprogram.h"
#include "manager/try/splicing.h"

/* Chosen: for how long a process is sampled. */
enum { SAMPLE_S = 10, SAMPLE_MAX_S = 86400, INTERRUPTED = 130 };
/* Chosen: for how long it counts. */
enum { BURST_MS = 2000, BURST_MAX_MS = 600000 };

struct live {
	struct splicing splicing;
	const char *module;		/* only this file; NULL: all */
	unsigned sample_s, burst_ms;
	bool off;
};

/* What cannot count is laid out by samples alone. */
static void count(struct live *l, pid_t pid, const struct splicing_file *f)
{
	uint64_t pause_us = 0;
	struct err err;
	int rc = splicing_count(&l->splicing, pid, f, l->burst_ms, &pause_us, &err);

	if (rc < 0)
		say_line(stderr, "morphctl: '%s': not counted: %s", f->path, err.text);
	else if (rc > 0)
		say_line(stderr, "morphctl: '%s': counted for %u ms, pauses up to %" PRIu64
			 " us", f->path, l->burst_ms, pause_us);
}

/* And how gdb, which knows of no file that is mapped so, gets its symbols. */
static void say_mapped(const struct live *l, pid_t pid, const struct splicing_file *f,
		       const struct spliced *made, const struct splicing_said *said)
{
	char path[SPLICING_PATH];
	struct err ignored;

	say_line(stdout, "%d: %s: %s", (int)pid, f->path, said->text);
	if (splicing_path(&l->splicing, made, path, &ignored) == 0)
		say_line(stdout, "gdb: add-symbol-file %s -o 0x%" PRIx64, path, said->base);
}

/* 1: mapped; 0: there is no profile of it; -1: the reason is said. */
static int do_file(const struct live *l, pid_t pid, const struct splicing_file *f)
{
	struct splicing_said said;
	struct spliced made;
	struct err err;
	int rc = splicing_make(&l->splicing, pid, f, &made, &err);

	if (rc > 0 && splicing_on(&l->splicing, pid, &made, &said, &err) < 0)
		rc = -1;
	if (rc > 0)
		say_mapped(l, pid, f, &made, &said);
	else if (rc < 0)
		say_line(stderr, "morphctl: '%s': %s", f->path, err.text);
	if (rc < 0)
		splicing_forget(&l->splicing, &made);
	spliced_close(&made);
	return rc;
}

static int sample(struct live *l, pid_t pid, struct err *err)
{
	if (l->splicing.profiles)
		return 0;
	say_line(stderr, "morphctl: sampling process %d for %u s", (int)pid, l->sample_s);
	return splicing_sample(&l->splicing, pid, l->sample_s, err);
}

static bool is_wanted(const struct live *l, const struct splicing_file *f)
{
	return !l->module || strcmp(l->module, f->path) == 0;
}

static int live_on_process(struct live *l, pid_t pid)
{
	static struct splicing_files all;
	struct err err = { 0 };
	int mapped = 0, failed = 0;

	if (splicing_can_map(&l->splicing, &err) < 0 || sample(l, pid, &err) < 0 ||
	    splicing_files(pid, &all, &err) < 0 ||
	    splicing_catches(&l->splicing, &all, &err) < 0) {
		splicing_close(&l->splicing);
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	for (uint32_t i = 0; i < all.n && l->burst_ms && interrupt_signal() == 0; i++)
		if (is_wanted(l, &all.file[i]))
			count(l, pid, &all.file[i]);
	for (uint32_t i = 0; i < all.n && interrupt_signal() == 0; i++) {
		if (!is_wanted(l, &all.file[i]))
			continue;
		int rc = do_file(l, pid, &all.file[i]);
		mapped += rc > 0;
		failed += rc < 0;
	}
	splicing_close(&l->splicing);
	bool gone = splicing_program_gone(pid);
	if (mapped == 0 && (failed == 0 || gone) && interrupt_signal() == 0)
		say_line(stderr, "morphctl: process %d: no samples of its files%s", (int)pid,
			 gone ? SPLICING_GONE : "");
	return mapped ? 0 : 3;
}

static int live_off_process(struct live *l, pid_t pid)
{
	struct splicing_said said;
	struct err err;

	if (splicing_off(&l->splicing, pid, &said, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	say_line(stdout, "%d: %s", (int)pid, said.text);
	return 0;
}

/* --- all of it --- */

/* Nobody else is at work with it meanwhile. */
static int live_process(struct live *l, pid_t pid)
{
	struct sameprogram program;
	struct err err;

	if (!l->off && kill(pid, 0) < 0) {
		say_line(stderr, "morphctl: process %d: %s", (int)pid, strerror(errno));
		return 1;
	}
	int lock = livefiles_lock(l->splicing.folder, pid, &err);
	if (lock < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	sameprogram_note(&program, pid);
	int code = l->off ? live_off_process(l, pid) : live_on_process(l, pid);
	const char *how = l->off || !code ? NULL : sameprogram_else(&program, pid);
	if (how)
		say_line(stderr, "morphctl: process %d %s", (int)pid, how);
	close(lock);
	return how ? 1 : code;
}

enum { LIST_MAX = 16 << 20 };		/* bytes */

static int list(const struct live *l)
{
	char name[] = "morph-live", what[] = "list", folder[PATH_MAX];
	char *argv[] = { name, what, folder, NULL };
	struct arena *a = arena_new();
	struct bytes text = { NULL, 0 };
	struct err err = { 0 };
	int said[2], status = 0;

	(void)snprintf(folder, sizeof(folder), "%s", l->splicing.folder);
	pid_t pid = pipe2(said, O_CLOEXEC) < 0 ? -1 : fork();
	if (pid == 0) {
		if (dup2(said[1], STDOUT_FILENO) >= 0)
			execv(l->splicing.morph_live, argv);
		say_line(stderr, "morphctl: '%s': %s", l->splicing.morph_live, strerror(errno));
		_exit(1);
	}
	if (pid < 0)
		err_set(&err, ERR_SYS, "'%s': %s", name, strerror(errno));
	else
		close(said[1]);
	if (pid > 0 && io_read_all(said[0], LIST_MAX, a, &text, &err) == 0)
		(void)io_write_all(STDOUT_FILENO, text.p, text.n, &err);
	if (pid > 0)
		close(said[0]);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !text.n && !err.kind && !status)
		say_line(stderr, "no process has a generation");
	arena_free(a);
	if (err.kind)
		say_line(stderr, "morphctl: %s", err.text);
	return err.kind ? err_exit_code(&err) : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static bool take_number(struct live *l, int c, const char *text)
{
	char *end;
	double s = strtod(text, &end);

	bool good = end != text && !*end && (c == 'b' ? s >= 0 && 1000 * s <= BURST_MAX_MS
						      : s >= 1 && s <= SAMPLE_MAX_S);
	if (!good)
		say_line(stderr, "morphctl live: %s: '%s' is no time in seconds of %d to %d",
			 c == 'b' ? "--burst" : "--time", text, c == 'b' ? 0 : 1,
			 c == 'b' ? BURST_MAX_MS / 1000 : SAMPLE_MAX_S);
	else if (c == 'b')
		l->burst_ms = (unsigned)(1000 * s);
	else
		l->sample_s = (unsigned)s;
	return good;
}

static int parse(struct live *l, int argc, char **argv)
{
	static const struct option options[] = {
		{ "off", no_argument, NULL, 'o' },
		{ "profiles", required_argument, NULL, 'p' },
		{ "module", required_argument, NULL, 'm' },
		{ "store", required_argument, NULL, 's' },
		{ "time", required_argument, NULL, 't' },
		{ "burst", required_argument, NULL, 'b' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool number = c == 't' || c == 'b';

		if (c == '?' || (number && !take_number(l, c, optarg)))
			return -1;
		if (c == 'o')
			l->off = true;
		else if (!number)
			*(c == 'p' ? &l->splicing.profiles : c == 'm' ? &l->module :
			  &l->splicing.store) = optarg;
	}
	for (int i = optind; i < argc; i++)
		if (!pid_read(argv[i])) {
			say_line(stderr, "morphctl: '%s' is not the number of a process",
				 argv[i]);
			return -1;
		}
	return l->off && optind == argc ? -1 : 0;
}

/* Has nothing ever been mapped from that store? */
static bool is_new(const struct live *l)
{
	char folder[PATH_MAX];
	struct stat st;

	return snprintf(folder, sizeof(folder), "%s/live", l->splicing.store) < PATH_MAX &&
	       lstat(folder, &st) < 0 && errno == ENOENT;
}

static int run_all(struct live *l, int argc, char **argv)
{
	const struct splicing *s = &l->splicing;
	struct err err = { 0 };
	int code = 0;

	if (geteuid() != 0) {
		say_line(stderr, "morphctl: only root may change running processes");
		return 3;
	}
	if (argc == 0 && is_new(l)) {
		say_line(stderr, "no process has a generation");
		return 0;
	}
	if (!s->morph_edit || !s->morph_verify || !s->morph_live ||
	    splicing_open(&l->splicing, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.kind ? err.text :
			 "morph-edit, morph-verify and morph-live are not beside morphctl");
		return err.kind ? err_exit_code(&err) : 1;
	}
	if (argc == 0)
		return list(l);
	interrupt_begin();
	for (int i = 0; i < argc && interrupt_signal() == 0; i++) {
		int rc = live_process(l, pid_read(argv[i]));

		code = rc > code ? rc : code;
	}
	if (interrupt_signal())
		code = INTERRUPTED;
	interrupt_end();
	return code;
}

int ctl_live(const struct ctl *ctl, int argc, char **argv)
{
	char *edit = program_of_ours("morph-edit"), *verify = program_of_ours("morph-verify"),
	     *live = program_of_ours("morph-live");
	struct live l = {
		.splicing = { .store = "/var/lib/morph", .morph_edit = edit,
			      .morph_verify = verify, .morph_live = live },
		.sample_s = SAMPLE_S, .burst_ms = BURST_MS,
	};
	int code = parse(&l, argc, argv) < 0 ? ctl_usage(ctl) :
					       run_all(&l, argc - optind, argv + optind);

	free(edit);
	free(verify);
	free(live);
	return code;
}
