/* export.h - evidence in the forms of other tools
 *
 * Each appends the whole file.  morphctl(1) says which tools read it, the head of each file
 * which version is written.
 */
#ifndef MANAGER_REPORT_EXPORT_H
#define MANAGER_REPORT_EXPORT_H

#include "lib/wr.h"
#include "manager/report/evidence.h"

struct err;

/* Lines "program;module;function;inlined COUNT", for flamegraph.pl and its like (stacks.h).
 * Counts are rounded; what rounds to 0 is left out. */
int export_folded(const struct evidence *e, struct wr *out, struct err *err);
/* JSON of speedscope's own file format. */
int export_speedscope(const struct evidence *e, struct wr *out, struct err *err);
/* JSON of the Firefox Profiler's processed profile format. */
int export_firefox(const struct evidence *e, struct wr *out, struct err *err);
/* pprof's profile.proto, not compressed. */
int export_pprof(const struct evidence *e, struct wr *out, struct err *err);

#endif
