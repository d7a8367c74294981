/* loaderpath.c - copies of programs and libraries where they are found by path */
#include "manager/try/loaderpath.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/landlock.h"
#include "lib/memory.h"
#include "manager/try/copyfile.h"
#include "manager/try/folder.h"
#include "manager/try/world.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool loaderpath_is_library(const char *path)
{
	const char *so = strstr(base_name(path), ".so");

	return so && (so[3] == '\0' || so[3] == '.');
}

static char *make_folder(const char *dir, const char *name, struct err *err)
{
	char *path = folder_path(dir, name);

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return path;
	err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
	free(path);
	return NULL;
}

/* The loader asks for the name in DT_NEEDED, which links in the library's folder have. */
static void link_names(const char *library, const char *folder)
{
	char *own = memory_need(strdup(library)), path[PATH_MAX], at[PATH_MAX];
	const struct dirent *e;

	own[base_name(own) - own] = '\0';
	DIR *d = opendir(own);
	while (d && (e = readdir(d))) {
		if (e->d_type != DT_LNK || !loaderpath_is_library(e->d_name) ||
		    snprintf(path, sizeof(path), "%s%s", own, e->d_name) >= PATH_MAX ||
		    snprintf(at, sizeof(at), "%s/%s", folder, e->d_name) >= PATH_MAX)
			continue;
		char *real = realpath(path, NULL);
		if (real && strcmp(real, library) == 0)
			(void)symlink(base_name(library), at);	/* else it is not used */
		free(real);
	}
	if (d)
		closedir(d);
	free(own);
}

static int put(const struct world_image *image, const char *folder, char **out,
	       struct err *err)
{
	char *path = folder_path(folder, base_name(image->path));
	int rc = copyfile(image->file, path, err);

	if (rc == 0 && loaderpath_is_library(image->path))
		link_names(image->path, folder);
	if (rc == 0 && out)
		*out = path;
	else
		free(path);
	return rc;
}

int loaderpath_make(const char *dir, const char *program, const struct world_image *image,
		    size_t nimage, struct loaderpath *out, struct err *err)
{
	char *bin = NULL, *lib = NULL;
	int rc = -1;

	*out = (struct loaderpath){ 0 };
	if (mkdir(dir, 0700) < 0)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", dir, strerror(errno));
	bin = make_folder(dir, "bin", err);
	lib = make_folder(dir, "lib", err);
	out->temporary = make_folder(dir, "tmp", err);
	if (bin && lib && out->temporary)
		rc = 0;
	for (size_t i = 0; i < nimage && rc == 0; i++) {
		if (strcmp(image[i].path, program) == 0)
			rc = put(&image[i], bin, &out->program, err);
		else
			rc = put(&image[i], lib, NULL, err);
	}
	free(bin);
	if (nimage && rc == 0)
		out->libraries = lib;
	else
		free(lib);
	return rc;
}

int loaderpath_confine(const char *dir, struct err *err)
{
	const unsigned see = LANDLOCK_READ | LANDLOCK_LIST | LANDLOCK_RUN;
	const unsigned use = LANDLOCK_READ | LANDLOCK_WRITE;
	const struct landlock_rule rules[] = {
		{ -1, "/", see },	 { -1, dir, see | LANDLOCK_WRITE },
		{ -1, "/dev/null", use }, { -1, "/dev/zero", use },
		{ -1, "/dev/full", use }, { -1, "/dev/random", use },
		{ -1, "/dev/tty", use },  { -1, "/dev/urandom", use },
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, ERR_SYS, "no_new_privs: %s", strerror(errno));
	int rc = landlock_confine(rules, sizeof(rules) / sizeof(rules[0]), err);
	return rc == 0 ? err_set(err, ERR_REFUSED, "the kernel has no Landlock") :
	       rc < 0  ? -1 : 0;
}
