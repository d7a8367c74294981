/* show.h - tables about modules: how they get to morphctl; each answers `cl` with tables */
#ifndef MANAGER_CONTROL_SHOW_H
#define MANAGER_CONTROL_SHOW_H

#include <stdint.h>

#include "manager/control/work.h"

/* show.c, show_policy.c: what is known without asking anybody, so it is answered at once. */
int show_status(struct work *w, struct client *cl, struct err *err);
int show_list(struct work *w, struct client *cl, struct err *err);
int show_history(struct work *w, const char *path, struct client *cl, struct err *err);
int show_policy(struct work *w, struct client *cl, struct err *err);
/* Which rule is about the file at the path, and the settings that it makes.  Asks the
 * parent. */
int show_rule(struct work *w, const char *path, struct client *cl, struct err *err);

/* report.c: needs jobs for names and text.  module == NULL: all. */
int show_report(struct work *w, const char *module, uint32_t limit, struct client *cl,
		struct err *err);
int show_annotate(struct work *w, const char *module, const char *function, struct client *cl,
		  struct err *err);
int show_explain(struct work *w, const char *module, struct client *cl, struct err *err);

#endif
