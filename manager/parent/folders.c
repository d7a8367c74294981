/* folders.c - where programs may be; see folders.h
 *
 * The usual folders are those that the File System Hierarchy has for programs and libraries,
 * and for users' own files, and those of other package systems.  Not among them: /var, /run
 * and /tmp, where services and users keep what they work on (the store of Morph, too); /root,
 * which is nobody else's to read; and /proc, /sys and /dev, where files are not files.
 *
 * Tested by tests/unit/manager/parent/test_folders.c.
 */
#include "manager/parent/folders.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/err.h"
#include "manager/parent/names.h"

const char *const folders_usual[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/srv", "/home",
	"/snap", "/var/lib/flatpak", "/nix/store", "/gnu/store",
	NULL
};

int folders_spelled(const char *path, struct err *err)
{
	const char *at = path;

	if (path[0] != '/')
		return err_set(err, ERR_REFUSED, "'%s': not an absolute path", path);
	while (*at) {
		size_t n = strcspn(++at, "/");

		if (n == 0 || (n <= 2 && strspn(at, ".") >= n))
			return err_set(err, ERR_REFUSED, "'%s': not the path of a file", path);
		at += n;
	}
	return 0;
}

/* Is the path below the folder dir[0..n)? */
static bool below(const char *path, const char *dir, size_t n)
{
	while (n && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

int folders_check(const char *more, const char *path, struct err *err)
{
	if (folders_spelled(path, err) < 0)
		return -1;
	for (size_t i = 0; folders_usual[i]; i++)
		if (below(path, folders_usual[i], strlen(folders_usual[i])))
			return 0;
	for (const char *at = more; *at; ) {
		size_t n = strcspn(at, ":");

		if (n && at[0] == '/' && below(path, at, n))
			return 0;
		at += n + (at[n] == ':');
	}
	return err_set(err, ERR_REFUSED,
		       "'%s': not in a folder for programs (morphd --folders names more)",
		       path);
}

int folders_check_names(const char *folders, const struct names *names, struct err *err)
{
	for (unsigned i = 0; i < names->n; i++)
		if (folders_check(folders, names_at(names, i), err) < 0)
			return -1;
	return 0;
}
