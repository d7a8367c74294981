/* tempfolder.c - a folder that a child removes when the process is gone, by Ctrl-C for one
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/ctl/tempfolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *ent;

	while (d && (ent = readdir(d)))
		if (ent->d_name[0] != '.')
			(void)unlinkat(dirfd(d), ent->d_name, 0);	/* a temporary one */
	if (d)
		closedir(d);
	(void)rmdir(path);		/* likewise */
}

/* From before there is a folder: the remover keeps them blocked, they are not for it. */
static void block(sigset_t *was)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	(void)sigemptyset(&set);	/* cannot fail, nor below */
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		(void)sigaddset(&set, ending[i]);
	(void)sigprocmask(SIG_BLOCK, &set, was);
}

/* Waits until nobody has the other end any more. */
static void run_remover(const struct tempfolder *t, int gone)
{
	char byte;

	close(t->alive);
	while (read(gone, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(t->path);
	_exit(0);
}

int tempfolder_make(struct tempfolder *out, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	sigset_t was;
	int end[2], rc = -1;

	if (snprintf(out->path, sizeof(out->path), "%s/morph-export.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") >= PATH_MAX)
		return err_set(err, ERR_USAGE, "TMPDIR: too long");
	if (pipe2(end, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	out->alive = end[1];
	block(&was);
	if (!mkdtemp(out->path)) {
		err_set(err, ERR_SYS, "temporary folder '%s': %s", out->path, strerror(errno));
	} else if ((out->remover = fork()) < 0) {
		err_set(err, ERR_SYS, "fork: %s", strerror(errno));
		(void)rmdir(out->path);		/* already failing */
	} else {
		if (out->remover == 0)
			run_remover(out, end[0]);
		rc = 0;
	}
	(void)sigprocmask(SIG_SETMASK, &was, NULL);
	close(end[0]);
	if (rc < 0)
		close(end[1]);
	return rc;
}

void tempfolder_remove(struct tempfolder *t)
{
	close(t->alive);
	while (waitpid(t->remover, NULL, 0) < 0 && errno == EINTR)
		;
}
