/* requests_log.h - what root's log has of swaps, restores and refusals */
#ifndef MANAGER_PARENT_REQUESTS_LOG_H
#define MANAGER_PARENT_REQUESTS_LOG_H

struct err;
struct install_done;
struct msg;

void requests_log_refused(const struct msg *request, const struct err *why);
/* Of INSTALL and RESTORE. */
void requests_log_done(const struct msg *request, const struct install_done *done);

#endif
