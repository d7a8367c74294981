/* vdso.c - the code that the kernel maps into every process, as a file
 *
 * Tested by tests/e2e/stacks.sh.
 */
#include "manager/report/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "monitor/procmaps.h"

enum { MAPS_MAX = 1 << 20 };		/* bytes; ours has some 10 KiB */

static void find(void *ctx, const struct spool_event *ev)
{
	struct bytes *vdso = ctx;

	/* an address of our own */
	if (ev->kind == SPOOL_MMAP && strcmp(ev->mmap.path, "[vdso]") == 0)
		*vdso = (struct bytes){ (const uint8_t *)(uintptr_t)ev->mmap.addr,
					ev->mmap.len };
}

int vdso_open(struct err *err)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct bytes text, vdso = { NULL, 0 };

	if (fd < 0)
		return err_set(err, ERR_SYS, "'/proc/self/maps': %s", strerror(errno));
	struct arena *a = arena_new();
	int rc = io_read_all(fd, MAPS_MAX, a, &text, err);
	close(fd);
	if (rc == 0)
		(void)procmaps_parse(text, 1, "", 0, find, &vdso);
	arena_free(a);
	if (rc < 0)
		return -1;
	return vdso.p ? io_memory_file(vdso, err)
		      : err_set(err, ERR_SYS, "there is no vdso in '/proc/self/maps'");
}
