/* work_room.c - is there room on the disk that the store is on?
 *
 * Without room nothing stops: the monitor writes what it can and counts what it cannot, spool
 * files wait, originals can be put back (manager/parent/install_back.c).  It is said in
 * `morphctl status`, and once in the log.  Tested by tests/e2e/degraded.sh.
 */
#include <stdio.h>
#include <sys/statvfs.h>

#include "manager/work/work.h"

static const uint64_t least_bytes = 4 << 20;	/* a spool file, and what a commit takes */

bool work_has_room(struct work *w)
{
	struct statvfs f;
	bool little;

	if (fstatvfs(w->spool_dir, &f) < 0)
		return !w->no_room[0];		/* as it was */
	little = (uint64_t)f.f_bavail * f.f_frsize < least_bytes;
	if (little && !w->no_room[0])
		role_error("NO ROOM on the disk of '%s': samples are lost, nothing is laid out "
			 "anew; originals can be put back", w->options->store);
	if (!little && w->no_room[0])
		role_log("there is room again on the disk of '%s'", w->options->store);
	w->no_room[0] = '\0';
	if (little)
		(void)snprintf(w->no_room, sizeof(w->no_room),
			       "%llu KiB are left on the disk of the store: samples are lost, "
			       "nothing is laid out anew; originals can be put back",
			       (unsigned long long)f.f_bavail * f.f_frsize / 1024);
	return !little;
}
