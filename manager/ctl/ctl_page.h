/* ctl_page.h - pages, for the commands that write them */
#ifndef MANAGER_CTL_CTL_PAGE_H
#define MANAGER_CTL_CTL_PAGE_H

#include "manager/ctl/ctl_evidence.h"
#include "manager/try/try.h"

/* Writes a page of recordings to the file of that path, "-": to standard output.  0, or the
 * exit code after a message. */
int ctl_page_logs(const struct ctl_evidence *o, const struct evidence *e,
		  const char *const *log, uint32_t nlog, const char *out);

/* The same of a trial, while its files are there. */
int ctl_page_trial(const char *command, const struct try_shown *s, const char *out);
/* The same of what the daemon says. */
int ctl_page_daemon(const struct ctl *ctl, const char *out);

#endif
