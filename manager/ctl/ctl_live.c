/* ctl_live.c - morphctl live: what runs gets a generation without a restart, and gives it back
 *
 * No daemon is asked, and nothing is left to one.  For a process:
 *
 *   sample     it, for some seconds (record.h), unless profiles are given
 *   for each of its files that there is a profile of:
 *     make       a generation that keeps pointers, in a caged job
 *     prove      it, in another one (morph-verify --live)
 *     room       morph-live says where new text fits; if not where it is, made and proven anew
 *     map        the file goes to STORE/live, which is root's, and morph-live maps it
 *
 * Nothing here looks into the files of the process, but for their digests; those are opened by
 * its mappings, so they are the very ones.
 *
 * Tested by tests/e2e/livectl.sh.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/pid.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/profile_log.h"
#include "manager/parent/job.h"
#include "manager/parent/program.h"
#include "monitor/procmaps.h"
#include "monitor/record.h"

/* Chosen: what a job may take, the rate of sampling, and for how long. */
enum { JOB_S = 600, RATE_HZ = 997, SAMPLE_S = 10, SAMPLE_MAX_S = 86400, SAID = 4096,
       MAPS_BYTES = 64 << 20, MAX_FILES = 64 };

struct live {
	char *edit, *verify, *live;	/* the programs */
	const char *store, *module;	/* module: only this file */
	const char *profiles;		/* folder; NULL: of samples that are taken now */
	unsigned sample_s;
	bool off;
	char folder[PATH_MAX];		/* of generations */
	char scratch[64];		/* of the samples; "": none */
};

struct mapped {			/* a file that the process has code of */
	char path[PATH_MAX];
	char link[96];			/* below /proc, which opens it */
};

struct files {
	struct mapped file[MAX_FILES];
	uint32_t n;
	pid_t pid;
};

/* --- programs --- */

/* Runs morph-live; what it says is in said[].  Its exit code, -1 with *err. */
static int run_live(const struct live *l, char *const argv[], char said[SAID], struct err *err)
{
	int out[2], status = 0;
	size_t n = 0;
	ssize_t got;

	if (pipe(out) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		if (dup2(out[1], 1) < 0 || dup2(out[1], 2) < 0)
			_exit(1);
		close(out[0]);
		close(out[1]);
		execv(l->live, argv);
		_exit(1);
	}
	close(out[1]);
	while ((got = read(out[0], said + n, SAID - 1 - n)) > 0)
		n += (size_t)got;
	close(out[0]);
	said[n] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return err_set(err, ERR_SYS, "morph-live cannot be run");
	return WEXITSTATUS(status);
}

/* morph-live COMMAND PID PLAN FILE, or the sentence that it ends with as an error. */
static int ask_live(const struct live *l, const char *command, pid_t pid, int plan, int file,
		    char said[SAID], struct err *err)
{
	char name[] = "morph-live", what[8], number[16], fd1[24], fd2[24];
	char *argv[] = { name, what, number, fd1, fd2, NULL };

	(void)snprintf(what, sizeof(what), "%s", command);
	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(fd1, sizeof(fd1), "fd:%d", plan);
	(void)snprintf(fd2, sizeof(fd2), "fd:%d", file);
	int rc = run_live(l, argv, said, err);
	if (rc > 0)
		err_set(err, rc == 3 ? ERR_REFUSED : ERR_SYS, "%s", said);
	return rc == 0 ? 0 : -1;
}

static int run_job(const struct live *l, enum job_kind kind, int in0, int in1, uint64_t a,
		   uint64_t b, int *out, struct err *err)
{
	struct job_spec spec = {
		.kind = kind, .morph_edit = l->edit, .morph_verify = l->verify,
		.memory_bytes = UINT64_MAX, .file_bytes = (uint64_t)1 << 30, .cpu_s = JOB_S,
		.wall_s = JOB_S, .nin = 2, .in = { in0, in1 }, .a = a, .b = b, .prompt = true,
	};
	int all[JOB_MAX_OUT] = { -1, -1, -1 };

	if (job_run(&spec, all, err) < 0)
		return -1;
	*out = all[0];
	for (int i = 1; i < JOB_MAX_OUT && kind == JOB_OPTIMIZE; i++)
		close(all[i]);
	/* morph-live inherits it */
	return fcntl(*out, F_SETFD, 0) < 0 ?
	       err_set(err, ERR_SYS, "fcntl: %s", strerror(errno)) : 0;
}

/* --- one file of a process --- */

struct made {
	int original, profile, generation, plan;
};

static void close_made(struct made *m)
{
	int *const fd[] = { &m->generation, &m->plan };

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

/* A generation whose new text is at that address, or anywhere (1), and its proof. */
static int make_one(const struct live *l, struct made *m, uint64_t at, struct err *err)
{
	close_made(m);
	if (run_job(l, JOB_OPTIMIZE, m->original, m->profile, 1, at, &m->generation, err) < 0)
		return -1;
	if (run_job(l, JOB_VERIFY, m->original, m->generation, 2, 0, &m->plan, err) < 0)
		return err_wrap(err, "not shown to be fit for it");
	return 0;
}

static int make_fitting(const struct live *l, struct made *m, pid_t pid, struct err *err)
{
	char said[SAID], *end;
	uint64_t at = 1;

	for (int tries = 0; tries < 3; tries++) {
		if (make_one(l, m, at, err) < 0 ||
		    ask_live(l, "room", pid, m->plan, m->generation, said, err) < 0)
			return -1;
		if (strcmp(said, "fits") == 0)
			return 0;
		at = strtoull(said, &end, 16);
		if (*end || at <= 1)
			break;
	}
	return err_set(err, ERR_REFUSED, "there is no room that lasts for new text");
}

/* A descriptor of the generation as a file in the folder, by its digest. */
static int keep(const struct live *l, int generation, struct err *err)
{
	struct arena *a = arena_new();
	char hex[65], path[PATH_MAX + 70];
	struct digest digest, kept;
	struct bytes b;
	int fd = -1;

	if (digest_fd(generation, &digest, err) < 0 || lseek(generation, 0, SEEK_SET) < 0 ||
	    io_read_all(generation, (size_t)1 << 30, a, &b, err) < 0)
		goto out;
	digest_hex(&digest, hex);
	(void)snprintf(path, sizeof(path), "%s/%s", l->folder, hex);	/* fits */
	fd = open(path, O_RDONLY | O_NOFOLLOW);
	if (fd >= 0 && digest_fd(fd, &kept, err) == 0 && digest_equal(&kept, &digest))
		goto out;
	if (fd >= 0)
		close(fd);
	fd = -1;
	(void)unlink(path);		/* a process that has it keeps it */
	int w = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w < 0 || io_write_all(w, b.p, b.n, err) < 0 || fsync(w) < 0)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	else if ((fd = open(path, O_RDONLY)) < 0)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	if (w >= 0)
		close(w);
out:
	arena_free(a);
	return fd;
}

static int open_profile(const struct live *l, const struct mapped *f, int original,
			struct err *err)
{
	const char *folder = l->profiles ? l->profiles : l->scratch;
	const char *base = strrchr(f->path, '/');
	char path[2 * PATH_MAX + 96], hex[65];
	struct digest digest;

	if (digest_fd(original, &digest, err) < 0)
		return -1;
	digest_hex(&digest, hex);
	(void)snprintf(path, sizeof(path), "%s/%s.%.12s.profile", folder,
		       base ? base + 1 : f->path, hex);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_set(err, ERR_REFUSED, "no samples of it");
	return fd;
}

/* 1: mapped; 0: there is no profile of it; -1: the reason is said. */
static int do_file(const struct live *l, pid_t pid, const struct mapped *f)
{
	struct made m = { open(f->link, O_RDONLY | O_CLOEXEC), -1, -1, -1 };
	char said[SAID];
	struct err err;
	int rc = -1, file = -1;

	if (m.original < 0)
		return 0;
	m.profile = open_profile(l, f, m.original, &err);
	if (m.profile < 0) {
		rc = 0;
	} else if (make_fitting(l, &m, pid, &err) == 0 &&
		   (file = keep(l, m.generation, &err)) >= 0 &&
		   ask_live(l, "on", pid, m.plan, file, said, &err) == 0) {
		say_line(stdout, "%d: %s: %s", (int)pid, f->path, said);
		rc = 1;
	} else {
		say_line(stderr, "morphctl: '%s': %s", f->path, err.text);
	}
	if (file >= 0)
		close(file);
	if (m.profile >= 0)
		close(m.profile);
	close(m.original);
	close_made(&m);
	return rc;
}

/* --- a process --- */

static void add_file(void *ctx, const struct spool_event *ev)
{
	struct files *all = ctx;
	struct mapped *f = &all->file[all->n];

	if (ev->kind != SPOOL_MMAP || ev->mmap.path[0] != '/' || all->n == MAX_FILES)
		return;
	(void)snprintf(f->path, sizeof(f->path), "%s", ev->mmap.path);
	(void)snprintf(f->link, sizeof(f->link),
		       "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)all->pid,
		       ev->mmap.addr, ev->mmap.addr + ev->mmap.len);
	all->n++;
}

static int list_files(pid_t pid, struct files *all, struct err *err)
{
	struct arena *a = arena_new();
	char path[64];
	struct bytes text;
	int rc = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*all = (struct files){ .pid = pid };
	if (fd < 0)
		err_set(err, ERR_SYS, "there is no process %d", (int)pid);
	else if ((rc = io_read_all(fd, MAPS_BYTES, a, &text, err)) == 0)
		(void)procmaps_parse(text, (uint32_t)pid, "", 0, add_file, all);
	if (fd >= 0)
		close(fd);
	arena_free(a);
	return rc;
}

static int sample(struct live *l, pid_t pid, struct err *err)
{
	char log[PATH_MAX], sleep_word[] = "sleep", seconds[16];
	char *argv[] = { sleep_word, seconds, NULL };
	struct record_options o = { .log_path = log, .argv = argv, .rate_hz = RATE_HZ,
				    .clock = MONITOR_CLOCK_AUTO, .pid = pid };
	struct profile_log_places places = { l->edit, l->store };
	struct record_result result;

	(void)snprintf(l->scratch, sizeof(l->scratch), "/tmp/morph-live.XXXXXX");
	if (!mkdtemp(l->scratch)) {
		l->scratch[0] = '\0';
		return err_set(err, ERR_SYS, "'/tmp': %s", strerror(errno));
	}
	(void)snprintf(log, sizeof(log), "%s/log", l->scratch);
	(void)snprintf(seconds, sizeof(seconds), "%u", l->sample_s);
	say_line(stderr, "morphctl: sampling process %d for %u s", (int)pid, l->sample_s);
	if (record_command(&o, &result, err) < 0 ||
	    profile_log_write(log, l->scratch, &places, NULL, err) < 0)
		return -1;
	return 0;
}

static void remove_scratch(struct live *l)
{
	DIR *d = l->scratch[0] ? opendir(l->scratch) : NULL;

	for (struct dirent *e; d && (e = readdir(d));)
		(void)unlinkat(dirfd(d), e->d_name, 0);	/* . and .. are no files */
	if (d) {
		closedir(d);
		(void)rmdir(l->scratch);
	}
	l->scratch[0] = '\0';
}

static int live_on_process(struct live *l, pid_t pid)
{
	static struct files all;
	struct err err = { 0 };
	int mapped = 0, failed = 0;

	if (kill(pid, 0) < 0) {
		say_line(stderr, "morphctl: process %d: %s", (int)pid, strerror(errno));
		return 1;
	}
	if ((!l->profiles && sample(l, pid, &err) < 0) || list_files(pid, &all, &err) < 0) {
		remove_scratch(l);
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	for (uint32_t i = 0; i < all.n; i++) {
		if (l->module && strcmp(l->module, all.file[i].path) != 0)
			continue;
		int rc = do_file(l, pid, &all.file[i]);
		mapped += rc > 0;
		failed += rc < 0;
	}
	remove_scratch(l);
	if (mapped == 0 && failed == 0)
		say_line(stderr, "morphctl: process %d: no samples of its files", (int)pid);
	return mapped ? 0 : 3;
}

static int live_off_process(struct live *l, pid_t pid)
{
	char name[] = "morph-live", what[] = "off", number[16], said[SAID];
	char *argv[] = { name, what, number, l->folder, NULL };
	struct err err = { 0 };

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	int rc = run_live(l, argv, said, &err);
	if (rc == 0)
		say_line(stdout, "%d: %s", (int)pid, said);
	else
		say_line(stderr, "morphctl: %s", rc < 0 ? err.text : said);
	return rc < 0 ? 1 : rc;
}

/* --- all of it --- */

static int list(const struct live *l)
{
	char name[] = "morph-live", what[] = "list", folder[PATH_MAX];
	char *argv[] = { name, what, folder, NULL };

	(void)snprintf(folder, sizeof(folder), "%s", l->folder);
	execv(l->live, argv);
	say_line(stderr, "morphctl: '%s': %s", l->live, strerror(errno));
	return 1;
}

static int parse(struct live *l, int argc, char **argv)
{
	static const struct option options[] = {
		{ "off", no_argument, NULL, 'o' },
		{ "profiles", required_argument, NULL, 'p' },
		{ "module", required_argument, NULL, 'm' },
		{ "store", required_argument, NULL, 's' },
		{ "time", required_argument, NULL, 't' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		long s = c == 't' ? strtol(optarg, NULL, 10) : SAMPLE_S;

		if (c == '?' || s < 1 || s > SAMPLE_MAX_S)
			return -1;
		if (c == 'o')
			l->off = true;
		else if (c == 't')
			l->sample_s = (unsigned)s;
		else
			*(c == 'p' ? &l->profiles : c == 'm' ? &l->module : &l->store) = optarg;
	}
	for (int i = optind; i < argc; i++)
		if (!pid_read(argv[i])) {
			say_line(stderr, "morphctl: '%s' is not the number of a process",
				 argv[i]);
			return -1;
		}
	return l->off && optind == argc ? -1 : 0;
}

/* Only root's, and not to be written by others. */
static int make_folder(struct live *l, struct err *err)
{
	struct stat st;

	if (snprintf(l->folder, sizeof(l->folder), "%s/live", l->store) >=
	    (int)sizeof(l->folder))
		return err_set(err, ERR_USAGE, "'%s': path too long", l->store);
	(void)mkdir(l->folder, 0700);		/* or it is there */
	if (lstat(l->folder, &st) < 0)
		return err_set(err, ERR_SYS, "'%s': %s", l->folder, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(err, ERR_REFUSED, "'%s' is not a folder of root's alone",
			       l->folder);
	return 0;
}

static int run_all(struct live *l, int argc, char **argv)
{
	struct err err = { 0 };
	int code = 0;

	if (geteuid() != 0) {
		say_line(stderr, "morphctl: only root may change running processes");
		return 1;
	}
	if (!l->edit || !l->verify || !l->live || make_folder(l, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.kind ? err.text :
			 "morph-edit, morph-verify and morph-live are not beside morphctl");
		return err.kind ? err_exit_code(&err) : 1;
	}
	if (argc == 0)
		return list(l);
	for (int i = 0; i < argc; i++) {
		pid_t pid = pid_read(argv[i]);
		int rc = l->off ? live_off_process(l, pid) : live_on_process(l, pid);

		code = rc > code ? rc : code;
	}
	return code;
}

int ctl_live(const struct ctl *ctl, int argc, char **argv)
{
	struct live l = {
		.store = "/var/lib/morph", .sample_s = SAMPLE_S,
		.edit = program_of_ours("morph-edit"),
		.verify = program_of_ours("morph-verify"),
		.live = program_of_ours("morph-live"),
	};
	int code = parse(&l, argc, argv) < 0 ? ctl_usage(ctl) :
					       run_all(&l, argc - optind, argv + optind);

	free(l.edit);
	free(l.verify);
	free(l.live);
	return code;
}
