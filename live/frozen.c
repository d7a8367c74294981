/* frozen.c - is a process held by the freezer of its control group?
 *
 * Of version 2 it holds threads in one function of the kernel, which takes signals and where
 * else they wait only while they are stopped or traced; its name is told, whether the group can
 * be seen from here or not.  Of version 1 it holds some where they wait already: there the
 * group tells.
 *
 * Tested by tests/e2e/livefrozen.sh.
 */
#include "live/frozen.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool waits_there(pid_t tid)
{
	static const char *const names[] = { "get_signal", "do_freezer_trap" };
	char path[64], name[128];

	(void)snprintf(path, sizeof(path), "/proc/%d/wchan", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	name[n < 0 ? 0 : n] = '\0';
	return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

/* Where groups of version 1 with freezers are. */
static bool find_mount(char *to, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	bool found = false;

	for (struct mntent *m; f && !found && (m = getmntent(f));) {
		found = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "freezer");
		if (found)
			(void)snprintf(to, size, "%s", m->mnt_dir);
	}
	if (f)
		(void)endmntent(f);
	return found;
}

/* The group of version 1, "NUMBER:freezer:PATH", is frozen or about to be. */
static bool group_is_frozen(pid_t tid)
{
	static const char freezer[] = ":freezer:";
	char path[64], line[4096], mount[1024], state[2048] = "", word[32] = "";
	const char *group = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)tid);
	FILE *f = fopen(path, "re");
	while (f && !group && fgets(line, sizeof(line), f))
		group = strstr(line, freezer);
	if (f)
		(void)fclose(f);
	if (!group || !find_mount(mount, sizeof(mount)))
		return false;
	group += sizeof(freezer) - 1;
	int n = snprintf(state, sizeof(state), "%s%.*s/freezer.state", mount,
			 (int)strcspn(group, "\n"), group);
	f = n < (int)sizeof(state) ? fopen(state, "re") : NULL;
	bool frozen = f && fgets(word, sizeof(word), f) && strncmp(word, "FR", 2) == 0;
	if (f)
		(void)fclose(f);
	return frozen;
}

bool live_frozen(pid_t tid)
{
	return waits_there(tid) || group_is_frozen(tid);
}
