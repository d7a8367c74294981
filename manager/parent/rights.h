/* rights.h - what the parent lacks the rights for here, and goes on without
 *
 * A unit may leave root without CAP_SYS_ADMIN, as etc/morphd.service does.  What then does not
 * work is said at the start and by `morphctl status`, never left out in silence.
 */
#ifndef MANAGER_PARENT_RIGHTS_H
#define MANAGER_PARENT_RIGHTS_H

#include <stdbool.h>

struct rights {
	/* jobs run in process, network and IPC namespaces of their own; without them their
	 * cage of Landlock and system calls is what holds them */
	bool namespaces;
	/* extended attributes trusted.* are seen, and so copied with a file */
	bool attributes;
};

/* Tries. */
struct rights rights_here(void);
void rights_log(const struct rights *r);

#endif
