/* tempfolder.c - a folder that a child removes when the process is gone, by Ctrl-C for one
 *
 * Tested by tests/e2e/export.sh, tests/e2e/try.sh and tests/e2e/trypid.sh.
 */
#include "manager/try/tempfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/folder.h"

/* Chosen. */
enum { TRIES = 50, AGAIN_NS = 200000000, FIRST_FD = 3 };

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
	const struct timespec wait = { 0, AGAIN_NS };
	struct err again;
	char byte;

	/* locks are among what it has inherited */
	(void)syscall(SYS_close_range, gone + 1, ~0U, 0);
	if (gone > FIRST_FD)
		(void)syscall(SYS_close_range, FIRST_FD, gone - 1, 0);
	while (read(gone, &byte, 1) < 0 && errno == EINTR)
		;
	/* a program that it began may still write there */
	int rc = folder_remove(t->path, &again);
	for (int i = 0; i < TRIES && rc < 0; i++) {
		(void)nanosleep(&wait, NULL);	/* or less */
		rc = folder_remove(t->path, &again);
	}
	_exit(rc < 0);
}

int tempfolder_make(struct tempfolder *out, const char *name, struct err *err)
{
	sigset_t was;
	int end[2], rc = -1;

	if (pipe2(end, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	out->alive = end[1];
	block(&was);
	out->path = folder_make(name, err);
	if (out->path && (out->remover = fork()) < 0) {
		err_set(err, ERR_SYS, "fork: %s", strerror(errno));
		(void)rmdir(out->path);		/* already failing */
	} else if (out->path) {
		if (out->remover == 0)
			run_remover(out, end[0]);
		rc = 0;
	}
	(void)sigprocmask(SIG_SETMASK, &was, NULL);
	close(end[0]);
	if (rc < 0) {
		close(end[1]);
		free(out->path);
		out->path = NULL;
	}
	return rc;
}

int tempfolder_remove(struct tempfolder *t, struct err *err)
{
	int status = 1;

	close(t->alive);
	while (waitpid(t->remover, &status, 0) < 0 && errno == EINTR)
		;
	int rc = status ? err_set(err, ERR_SYS, "'%s' could not be removed", t->path) : 0;
	free(t->path);
	t->path = NULL;
	return rc;
}
