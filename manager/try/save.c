/* save.c - keeps the profiles of a trial, for `morphctl keep` */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager/try/copyfile.h"
#include "manager/try/folder.h"
#include "manager/try/layouts.h"
#include "manager/try/trial.h"

/* A profile of the same file that was there before gives way. */
static int save(const struct trial_module *m, const char *dir, char **out, struct err *err)
{
	char *name = layouts_profile_name(m->path, err);

	if (!name)
		return -1;
	char *path = folder_path(dir, name);
	free(name);
	if (unlink(path) < 0 && errno != ENOENT)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	else if (copyfile(m->profile, path, err) == 0) {
		*out = path;
		return 0;
	}
	free(path);
	return -1;
}

int trial_save(struct trial *t, struct err *err)
{
	if (mkdir(t->o->save, 0777) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': %s", t->o->save, strerror(errno));
	char *dir = realpath(t->o->save, NULL);
	int rc = dir ? 0 : err_set(err, ERR_SYS, "'%s': %s", t->o->save, strerror(errno));
	for (unsigned i = 0; i < t->nmodule && rc == 0; i++)
		if (t->module[i].why.kind == ERR_NONE)
			rc = save(&t->module[i], dir, &t->saved[i], err);
	free(dir);
	return rc;
}
