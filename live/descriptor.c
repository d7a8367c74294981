/* descriptor.c - what a thread waits for: what is behind a descriptor of its process?
 *
 * The link in /proc/PID/fd is the kernel's own text, as are the numbers of mounts and their
 * types: stat(2) of the file, or a copy of the descriptor, which tells the server when it is
 * closed, would wait for the server.
 *
 * Tested by tests/unit/live/test_descriptor.c and tests/e2e/livefuse.sh.
 */
#include "live/descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where a wait ends when the thread is stopped, with what there is so far.  Names of kinds of
 * fuse have a point behind it. */
static const char *const served[] = { "fuse", "fuseblk", "virtiofs", "9p", "cifs", "smb3",
				      "ceph", "nfs", "nfs4", "afs", "orangefs", "coda" };

static bool is_served(const char *type)
{
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		size_t n = strlen(served[i]);

		if (strncmp(type, served[i], n) == 0 && (type[n] == '.' || type[n] == ' '))
			return true;
	}
	return false;
}

/* -1: it is not known. */
static int mount_of(pid_t pid, uint64_t fd)
{
	char path[64], line[256];
	int id = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%" PRIu64, (int)pid, fd);
	FILE *f = fopen(path, "re");
	while (f && id < 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "mnt_id: %d", &id);
	if (f)
		(void)fclose(f);
	return id;
}

/* The type stands behind " - ", which is nowhere else: spaces in names are written
 * otherwise. */
static bool is_served_mount(pid_t pid, int id)
{
	char path[64], line[8192];
	bool found = false, is = false;
	int other;

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		found = sscanf(line, "%d ", &other) == 1 && other == id;
		is = found && (!type || is_served(type + 3));
	}
	if (f)
		(void)fclose(f);
	return is || !found;
}

enum descriptor live_descriptor(pid_t pid, uint64_t fd)
{
	char path[64], to[16] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%" PRIu64, (int)pid, fd);
	if (readlink(path, to, sizeof(to) - 1) < 0)
		return DESCRIPTOR_OTHER;
	if (strncmp(to, "socket:", 7) == 0)
		return DESCRIPTOR_SOCKET;
	if (to[0] != '/')
		return DESCRIPTOR_OTHER;
	return is_served_mount(pid, mount_of(pid, fd)) ? DESCRIPTOR_SERVED : DESCRIPTOR_OTHER;
}
