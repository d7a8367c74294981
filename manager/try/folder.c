/* folder.c - makes and removes the folder of one trial */
#include "manager/try/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"

char *folder_make(const char *name, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *path = NULL;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	char *real = realpath(tmp, NULL);	/* NULL: then mkdtemp() says why */
	const char *in = real ? real : tmp;
	if (asprintf(&path, "%s/%s.XXXXXX", strcmp(in, "/") == 0 ? "" : in, name) < 0)
		memory_exhausted();
	free(real);
	if (mkdtemp(path))
		return path;
	err_set(err, ERR_SYS, "temporary folder '%s': %s", path, strerror(errno));
	free(path);
	return NULL;
}

char *folder_path(const char *dir, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		memory_exhausted();
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path) < 0 ? errno : 0;
}

int folder_remove(const char *dir, struct err *err)
{
	enum { OPEN_FOLDERS = 8 };
	int e = nftw(dir, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	if (e == 0)
		return 0;
	return err_set(err, ERR_SYS, "'%s' could not be removed: %s", dir,
		       strerror(e > 0 ? e : errno));
}
