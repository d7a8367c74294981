/* module_names.c - a module whose file has several names is one module; see module.h
 *
 * Whoever runs the file by another name runs the same inode.  The name that was seen first is
 * the module's; the inode leads there from the others, as long as it is at both.
 *
 * Tested by tests/unit/manager/store/test_module.c, tests/e2e/hardlinks.sh.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "manager/store/module.h"

bool modules_other_name(struct store *s, const char *path, char out[PATH_MAX])
{
	struct stat st, other;
	struct store_module m;
	struct store_file f;

	if (store_module_by_path(s, path, &m, NULL) != 0 || lstat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_nlink < 2 ||
	    store_file_find(s, st.st_dev, false, st.st_ino, path, &f, NULL) != 1 ||
	    lstat(f.path, &other) < 0 || other.st_dev != st.st_dev ||
	    other.st_ino != st.st_ino || store_module_by_path(s, f.path, &m, NULL) != 1)
		return false;
	(void)snprintf(out, PATH_MAX, "%s", f.path);		/* lstat() took it: fits */
	return true;
}
