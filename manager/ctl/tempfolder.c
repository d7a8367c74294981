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

/* Waits until nobody has the other end any more. */
static void run_remover(const struct tempfolder *t, int gone)
{
	static const int not_for_it[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	char byte;

	for (size_t i = 0; i < sizeof(not_for_it) / sizeof(not_for_it[0]); i++)
		(void)signal(not_for_it[i], SIG_IGN);	/* cannot fail */
	close(t->alive);
	while (read(gone, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(t->path);
	_exit(0);
}

int tempfolder_make(struct tempfolder *out, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	int end[2];

	if (snprintf(out->path, sizeof(out->path), "%s/morph-export.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") >= PATH_MAX)
		return err_set(err, ERR_USAGE, "TMPDIR: too long");
	if (pipe2(end, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	out->alive = end[1];
	if (!mkdtemp(out->path)) {
		err_set(err, ERR_SYS, "temporary folder '%s': %s", out->path, strerror(errno));
	} else if ((out->remover = fork()) < 0) {
		err_set(err, ERR_SYS, "fork: %s", strerror(errno));
		(void)rmdir(out->path);		/* already failing */
	} else {
		if (out->remover == 0)
			run_remover(out, end[0]);
		close(end[0]);
		return 0;
	}
	close(end[0]);
	close(end[1]);
	return -1;
}

void tempfolder_remove(struct tempfolder *t)
{
	close(t->alive);
	while (waitpid(t->remover, NULL, 0) < 0 && errno == EINTR)
		;
}
