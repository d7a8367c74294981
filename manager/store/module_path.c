/* module_path.c - names that the kernel has for files of a module; see module.h
 *
 * Tested by tests/unit/manager/store/test_module.c.
 */
#include <string.h>

#include "manager/store/module.h"

bool modules_is_path(const char *path, const char *mapped)
{
	static const char taken[] = ".morph-", gone[] = " (deleted)";
	size_t n = strlen(path), folder = 0;

	if (strncmp(mapped, path, n) == 0 && (!mapped[n] || strcmp(mapped + n, gone) == 0))
		return true;
	for (size_t i = 0; i < n; i++)
		folder = path[i] == '/' ? i + 1 : folder;
	return strncmp(mapped, path, folder) == 0 &&
	       strncmp(mapped + folder, taken, sizeof(taken) - 1) == 0 &&
	       !strchr(mapped + folder, '/');
}
