/* evidence_log.h - the samples of a log by program, file and instruction */
#ifndef MANAGER_REPORT_EVIDENCE_LOG_H
#define MANAGER_REPORT_EVIDENCE_LOG_H

#include "manager/report/evidence.h"

/* Adds a log of `morphctl record`.  Files that are gone, or others by now, have a note. */
int evidence_add_log(struct evidence *e, int fd, const struct evidence_source *source,
		     struct err *err);

#endif
