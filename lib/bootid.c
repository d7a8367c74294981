/* bootid.c - the kernel's name for this boot
 *
 * Tested by tests/unit/manager/work/test_work_own.c.
 */
#include "lib/bootid.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void bootid_read(char out[BOOTID_MAX])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, BOOTID_MAX - 1);

	if (fd >= 0)
		close(fd);
	out[n < 0 ? 0 : n] = '\0';
	out[strcspn(out, "\n")] = '\0';
}
