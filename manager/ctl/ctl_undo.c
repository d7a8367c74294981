/* ctl_undo.c - morphctl undo and restore: by the daemon, if it answers, and by ourselves
 *
 * What the daemon does is in its history.  But nothing depends on it: files are looked at here
 * afterwards, and what still is a generation gets its original back without it (undo_file.c).
 * So the command works with no daemon, with one that does not answer or has forgotten, and with
 * --root for another system's files: paths then begin at that folder, and so does what they
 * lead to by symbolic links.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/say.h"
#include "lib/table.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/undo_file.h"
#include "manager/ctl/undo_known.h"
#include "manager/ctl/undo_live.h"
#include "manager/ctl/undo_search.h"
#include "manager/parent/folders.h"
#include "manager/parent/install.h"
#include "manager/parent/install_recover.h"
#include "manager/parent/originals.h"
#include "manager/parent/program.h"

enum { ANSWER_S = 10 };			/* then the daemon is taken for dead */
enum { INPUT = 1, REFUSED = 3 };	/* exit codes; the first of a file that it does not
					 * know, too */

struct file_id {
	dev_t dev;
	ino_t ino;
};

struct undo {
	const struct ctl *ctl;
	char root[PATH_MAX];		/* "": this system; else without a '/' at its end */
	struct undo_store store;
	bool all, search;
	bool other;			/* --root: another system's files */
	bool answered;			/* there is a daemon */
	int npath;
	char **path;			/* as given */
	bool store_given;
	char told[PATH_MAX];		/* by the daemon */
	char folder[PATH_MAX];		/* of the store, root included */
	unsigned restored;
	struct file_id *dry;		/* [ndry] files that a dry run has told of */
	size_t ndry;
	bool known;			/* the daemon knows of the file that is looked at */
	bool none;			/* the last file that was looked at is no generation */
	bool told_why;			/* by the daemon, why it refuses the one at hand */
	int code;
};

static void fail(struct undo *u, const struct err *err)
{
	int code = err_exit_code(err);

	if (!u->told_why || err->kind != ERR_REFUSED)
		say_line(stderr, "morphctl: %s", err->text);
	u->code = code > u->code ? code : u->code;
}

static void say(const char *path, const char *text)
{
	say_line(stderr, "%s: %s", path, text);
}

/* --- arguments --- */

/* The value of option NAME at argv[*i], "NAME VALUE" or "NAME=VALUE"; NULL: another word. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	return argv[*i][n] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

static int take_arguments(struct undo *u, int argc, char **argv)
{
	const char *root = NULL;
	bool words = false;			/* behind "--" */

	for (int i = 1; i < argc; i++) {
		const char *v;

		if (words)
			u->path[u->npath++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			words = true;
		else if (strcmp(argv[i], "--all") == 0)
			u->all = true;
		else if (strcmp(argv[i], "--search") == 0)
			u->search = true;
		else if (strcmp(argv[i], "--force") == 0)
			u->store.force = true;
		else if (strcmp(argv[i], "--dry-run") == 0)
			u->store.dry_run = true;
		else if ((v = value_of("--root", argc, argv, &i)))
			root = v;
		else if ((v = value_of("--store", argc, argv, &i)))
			u->store.folder = v, u->store_given = true;
		else if (argv[i][0] == '-')
			return -1;
		else
			u->path[u->npath++] = argv[i];
	}
	/* with --all, paths are folders that are searched */
	if (root && !realpath(root, u->root)) {
		say_line(stderr, "morphctl: '%s': %s", root, strerror(errno));
		return -1;
	}
	if (strcmp(u->root, "/") == 0)
		u->root[0] = '\0';
	u->other = root != NULL;
	return (u->npath || u->all) && (u->all || !u->search) ? 0 : -1;
}

/* --- without the daemon --- */

static void tell_stuck(void *ctx, const struct install_recovered *r)
{
	struct undo *u = ctx;
	struct err err;

	if (r->outcome != INSTALL_STUCK)
		return;
	err_set(&err, ERR_SYS, "'%.500s': what a killed swap left: %.400s", r->path, r->reason);
	fail(u, &err);
}

/* What killed swaps have left.  Not while a daemon has the store: it does that itself. */
static void settle_swaps(struct undo *u)
{
	struct err err = { 0 };

	if (flock(u->store.originals_fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (install_recover(u->store.originals_fd, tell_stuck, u, &err) < 0)
		fail(u, &err);
}

static int open_store(struct undo *u, struct err *err)
{
	struct undo_store *s = &u->store;
	char path[PATH_MAX + 16];
	struct stat st;

	if (snprintf(u->folder, sizeof(u->folder), "%s%s", u->root, s->folder) >=
	    (int)sizeof(u->folder))
		return err_set(err, ERR_USAGE, "'%s': path too long", s->folder);
	s->folder = u->folder;
	(void)snprintf(path, sizeof(path), "%s/originals", s->folder);	/* fits */
	if (lstat(path, &st) < 0 && errno == EACCES)
		return err_set(err, ERR_REFUSED, "'%s': only root may look there", path);
	if (lstat(path, &st) < 0)
		return err_set(err, ERR_SYS, "'%s': %s (--store names another folder)", path,
			       strerror(errno));
	s->originals_fd = install_open_originals(s->folder, err);
	if (s->originals_fd < 0)
		return -1;
	/* a ledger that cannot be read knows nothing: the files are there */
	if (undo_known_open(s->folder, &s->ledger_fd, err) < 0) {
		say_line(stderr, "morphctl: %s; going on by what files say", err->text);
		u->code = u->all && !u->code ? 1 : u->code;
	}
	return 0;
}

/* An absolute path, below u->root as the system there has it, without links; malloc'ed. */
static char *resolve(const struct undo *u, const char *given)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	char link[64], path[PATH_MAX];
	ssize_t n = -1;

	if (!u->other)
		return realpath(given, NULL);
	int root = open(*u->root ? u->root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, given, &how, sizeof(how));
	if (fd >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	if (root >= 0)
		close(root);
	path[n < 0 ? 0 : n] = '\0';
	return n < 0 ? NULL : strdup(path);
}

/* All that are to be searched, before anything is done. */
static int check_folders(struct undo *u)
{
	struct err err;
	struct stat st;

	for (int i = 0; u->all && i < u->npath; i++) {
		char *folder = resolve(u, u->path[i]);
		int why = folder && stat(folder, &st) == 0 ? 0 : errno;

		if (why)
			err_set(&err, ERR_SYS, "'%s': %s; nothing was done", u->path[i],
				strerror(why));
		else if (!S_ISDIR(st.st_mode))
			why = err_set(&err, ERR_USAGE, "'%s': no folder, and with --all only "
				      "folders are named; nothing was done", u->path[i]);
		free(folder);
		if (why) {
			fail(u, &err);
			return -1;
		}
	}
	return 0;
}

/* Before the file: of the path, or all (NULL).  Another system's processes are not here. */
static void undo_processes(struct undo *u, const char *path)
{
	struct err err = { 0 };

	if (u->other || u->store.dry_run || undo_live(u->folder, path, &err) == 0)
		return;
	err_wrap(&err, "a process keeps what it has");
	fail(u, &err);
}

/* A dry run leaves what it finds as it is, so that it may find it again: by the ledger and by
 * looking, and by each of its names. */
static bool told_dry(struct undo *u, const char *path)
{
	struct stat st;

	if (!u->store.dry_run || stat(path, &st) < 0)
		return false;
	for (size_t i = 0; i < u->ndry; i++)
		if (u->dry[i].dev == st.st_dev && u->dry[i].ino == st.st_ino)
			return true;
	struct file_id *more = realloc(u->dry, (u->ndry + 1) * sizeof(*more));
	if (more) {
		u->dry = more;
		u->dry[u->ndry++] = (struct file_id){ st.st_dev, st.st_ino };
	}
	return false;
}

static void undo_one(void *ctx, const char *path)
{
	struct undo *u = ctx;
	enum undo_result result;
	struct err err = { 0 };
	char said[UNDO_SAID];

	if (!u->all && !u->answered)
		undo_processes(u, path);
	u->none = false;
	if (told_dry(u, path))
		return;
	if (undo_file(&u->store, path, &result, said, &err) < 0) {
		fail(u, &err);
		return;
	}
	u->none = result == UNDO_NOTHING;
	u->restored += result == UNDO_RESTORED;
	/* with --all, only what there was to do is told; nor again what the daemon has told */
	if (result == UNDO_RESTORED || !(u->all || (u->answered && u->known)))
		say(path + strlen(u->root), said);
	if (result == UNDO_GONE && !u->all && !u->answered)
		u->code = u->code ? u->code : 1;
}

static bool search_one(void *ctx, const char *path)
{
	undo_one(ctx, path);
	return true;
}

/* A path at which nothing is; malloc'ed. */
static char *resolve_gone(const struct undo *u, const char *given)
{
	char dir[PATH_MAX], *path = NULL;
	const char *slash = strrchr(given, '/');

	(void)snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - given) + 1 : 1,
		       slash ? given : ".");
	char *at = resolve(u, dir);
	if (at && asprintf(&path, "%s/%s", strcmp(at, "/") ? at : "",
			   slash ? slash + 1 : given) < 0)
		path = NULL;
	free(at);
	return path;
}

/* Nothing is there.  False, and nothing is said: nor is an original of what was there.  With
 * which mode that would have to come back nobody knows any more. */
static bool tell_kept(struct undo *u, const char *given)
{
	char *path = resolve_gone(u, given);
	char hex[65];
	struct err err;
	bool kept = path && undo_file_kept(&u->store, path, hex);

	if (kept) {
		err_set(&err, ERR_SYS, "'%s': %s; the original of what was put there is kept: "
			"`install -m 755 %s/originals/%s %s`", given, strerror(ENOENT),
			u->store.folder, hex, path);
		fail(u, &err);
	}
	free(path);
	return kept;
}

static void undo_given(struct undo *u, const char *given)
{
	char *path = resolve(u, given);
	int why = errno;
	struct err err;

	if (path) {
		undo_one(u, path);
	} else if (!u->answered && (why != ENOENT || !tell_kept(u, given))) {
		err_set(&err, ERR_SYS, "'%s': %s", given, strerror(why));
		fail(u, &err);
	}
	free(path);
}

static void known_one(void *ctx, const char *path)
{
	struct undo *u = ctx;
	char whole[PATH_MAX];

	if (snprintf(whole, sizeof(whole), "%s%s", u->root, path) < (int)sizeof(whole))
		undo_one(u, whole);
}

static void search_given(struct undo *u, const char *given, unsigned *unread)
{
	char *folder = resolve(u, given);
	struct err err;

	if (folder) {
		undo_search(folder, search_one, u, unread);
	} else {
		err_set(&err, ERR_SYS, "'%s': %s", given, strerror(errno));
		fail(u, &err);
	}
	free(folder);
}

/* What of these is a link leads to another one of them. */
static void search_usual(struct undo *u, unsigned *unread)
{
	char whole[PATH_MAX];

	for (int i = 0; folders_usual[i]; i++)
		if (snprintf(whole, sizeof(whole), "%s%s", u->root, folders_usual[i]) <
		    (int)sizeof(whole))
			undo_search(whole, search_one, u, unread);
}

/* Originals of programs that the list does not have, or cannot tell any more.  Whether all is
 * undone is not known then, and whoever removes Morph has to know that. */
static void tell_unnamed(struct undo *u, bool all_told)
{
	unsigned n = 0;

	/* as far as it can be read */
	(void)originals_unnamed(u->store.originals_fd, u->store.ledger_fd, &n, NULL);
	if (!n)
		return;
	say_line(stderr, "%u original%s kept that the ledger %s: --search finds generations of "
		 "%s", n, n == 1 ? " is" : "s are",
		 all_told ? "does not name" : "does not name, or not any more",
		 n == 1 ? "it" : "them");
	u->code = 3;
}

/* What the ledger knows; and what is found, where there is none or that is asked for. */
static void undo_all(struct undo *u)
{
	unsigned unread = 0;
	struct err err;

	undo_processes(u, NULL);
	/* with a list, one that is not on it may be there as well: --search */
	bool told = undo_known_each(u->store.ledger_fd, known_one, u, &err) == 0;
	if (!told)
		fail(u, &err);
	for (int i = 0; i < u->npath; i++)
		search_given(u, u->path[i], &unread);
	if (u->search || (!u->npath && !u->answered && u->store.ledger_fd < 0))
		search_usual(u, &unread);
	else if (!u->npath)
		tell_unnamed(u, told);
	if (unread) {
		err_set(&err, ERR_SYS, "%u folders could not be searched", unread);
		fail(u, &err);
	}
	if (!u->answered)
		say_line(stderr, u->store.dry_run ? "%u would be restored" : "%u restored",
			 u->restored);
}

/* A store that no daemon has ever had: `live` and `try` have made it. */
static bool has_live_alone(const struct undo *u)
{
	char live[PATH_MAX + 16], originals[PATH_MAX + 16];
	struct stat st;

	(void)snprintf(live, sizeof(live), "%s/live", u->folder);	/* both fit */
	(void)snprintf(originals, sizeof(originals), "%s/originals", u->folder);
	return lstat(live, &st) == 0 && lstat(originals, &st) < 0 && errno == ENOENT;
}

static void undo_ourselves(struct undo *u)
{
	struct err err = { 0 };

	if (open_store(u, &err) < 0) {
		if (u->all && !u->npath && !u->search && !u->other && has_live_alone(u)) {
			undo_processes(u, NULL);
			return;
		}
		/* the daemon's answer stands */
		if (!u->answered)
			fail(u, &err);
		return;
	}
	if (!u->store.dry_run)
		settle_swaps(u);
	if (u->all)
		undo_all(u);
	else
		for (int i = 0; i < u->npath; i++)
			undo_given(u, u->path[i]);
}

/* --- with the daemon --- */

/* The folder of the daemon's store, as its status has it.  The daemon's parent makes it, so it
 * is root's. */
static void ask_for_store(struct undo *u)
{
	struct stat st;

	if (ctl_path_of(u->ctl, "store", u->told) && lstat(u->told, &st) == 0 &&
	    st.st_uid == 0)
		u->store.folder = u->told;
}

static bool is_broken(const struct undo *u, const char *given)
{
	char *path = u->store.originals_fd >= 0 ? resolve(u, given) : NULL;
	bool broken = path && undo_file_is_broken(&u->store, path);

	free(path);
	return broken;
}

/* Of one path: what it says of a file that it does not know is held back until that turns out
 * to be all that can be said. */
static void ask_for(struct undo *u, char *given)
{
	char name[] = "restore", force[] = "--force", words[] = "--";
	char *argv[] = { name, words, given, NULL, NULL };
	char *held = NULL;
	size_t size = 0;
	struct ctl ctl = *u->ctl;
	unsigned before = u->restored;
	int former = u->code;
	const bool forced = u->store.force;

	if (forced) {
		argv[1] = force;
		argv[2] = words;
		argv[3] = given;
	}
	ctl.errors = open_memstream(&held, &size);
	int code = ctl_ask_paths(&ctl, forced ? 4 : 3, argv);
	if (ctl.errors)
		(void)fclose(ctl.errors);	/* in memory */
	u->code = 0;
	u->none = false;
	u->known = code != INPUT;
	/* what it refused to --force was shown to be something else than it knows: without
	 * more proof than its own that is not overwritten */
	u->told_why = forced && code == REFUSED && !is_broken(u, given);
	u->store.force = forced && !u->told_why;
	undo_given(u, given);
	u->store.force = forced;
	u->told_why = false;
	/* of what it does not know it says no more than that */
	if (u->restored == before && code && (u->known || !u->none)) {
		if (access(given, F_OK) == 0 || errno != ENOENT || !tell_kept(u, given))
			(void)fputs(held ? held : "", stderr);
		u->code = code > u->code ? code : u->code;
	}
	u->code = former > u->code ? former : u->code;
	free(held);
}

/* What it refuses, because the ledger has lost it, may come back without it: then it is asked
 * once more, and what it says now counts. */
static void ask_for_all(struct undo *u)
{
	char name[] = "restore", all[] = "--all";
	char *request[] = { name, all, NULL };
	char *held = NULL;
	size_t size = 0;
	struct ctl ctl = *u->ctl;

	ctl.errors = open_memstream(&held, &size);
	int code = ctl_ask_paths(&ctl, 2, request);
	if (ctl.errors)
		(void)fclose(ctl.errors);	/* in memory */
	undo_all(u);
	if (code && u->restored)
		code = ctl_ask_paths(u->ctl, 2, request);
	else
		(void)fputs(held ? held : "", stderr);
	u->code = code > u->code ? code : u->code;
	free(held);
}

static void undo_by_daemon(struct undo *u, int argc, char **argv)
{
	struct err err;
	char name[] = "restore", all[] = "--all";
	char *request[] = { name, all, NULL };

	argv[0] = name;
	if (geteuid() != 0 && (u->search || u->store_given || (u->all && u->npath))) {
		err_set(&err, ERR_REFUSED, "undo: only root may search folders, or name a "
			"store, while there is a daemon");
		fail(u, &err);
		return;
	}
	if (geteuid() != 0) {
		u->code = ctl_ask_paths(u->ctl, argc, argv);
		return;
	}
	if (!u->store_given)
		ask_for_store(u);
	if (u->store.dry_run) {
		u->answered = false;	/* by what is there, not by what the daemon knows */
		undo_ourselves(u);
		return;
	}
	int opened = open_store(u, &err);
	if (!u->all) {			/* it is told where it is missed */
		for (int i = 0; i < u->npath; i++)
			ask_for(u, u->path[i]);
		return;
	}
	if (opened == 0) {
		ask_for_all(u);
		return;
	}
	u->code = ctl_ask_paths(u->ctl, 2, request);
	fail(u, &err);			/* then there is only the daemon's word */
}

/* --- all of it --- */

int ctl_undo(const struct ctl *ctl, int argc, char **argv)
{
	struct undo u = { .ctl = ctl, .store = { .folder = "/var/lib/morph", .originals_fd = -1,
						 .ledger_fd = -1 } };
	char *verify = program_of_ours("morph-verify");

	/* To put originals back matters more than that somebody reads about it, or than a limit
	 * of the shell's on files: what cannot be written then is an error to go on from. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);

	u.path = calloc((size_t)argc, sizeof(*u.path));
	if (!u.path || take_arguments(&u, argc, argv) < 0) {
		free(verify);
		free(u.path);
		return ctl_usage(ctl);
	}
	u.store.root = u.root;
	u.store.morph_verify = verify;
	if (check_folders(&u) == 0) {
		u.answered = !u.other && ctl_answers(ctl, ANSWER_S);
		if (u.answered)
			undo_by_daemon(&u, argc, argv);
		else
			undo_ourselves(&u);
	}
	if (u.store.ledger_fd >= 0)
		close(u.store.ledger_fd);
	if (u.store.originals_fd >= 0)
		close(u.store.originals_fd);
	free(verify);
	free(u.path);
	free(u.dry);
	return u.code;
}
