/* module_change.h - what is written when another file is at a module's path than before */
#ifndef MANAGER_STORE_MODULE_CHANGE_H
#define MANAGER_STORE_MODULE_CHANGE_H

#include "manager/store/module.h"

/* Somebody put another program there: nothing known of the old one holds any more, but what
 * passes on (*legacy for MODULE_PASSES_ON) is kept for the new one. */
int module_change_discard(struct store *s, struct store_module *m, enum module_passes passes,
			  const struct store_legacy *legacy, struct err *err);
/* The file is another user's, whatever is in it: who has it now may see what is known of it,
 * and what it was used for before is not his affair.  Updates *m. */
int module_change_owner(struct store *s, struct store_module *m, uint32_t owner,
			struct err *err);
/* A generation is gone from m's path, and the original is there, while the store may believe
 * that it is installed: then this was not our doing. */
int module_change_put_back(struct store *s, const struct store_module *m, struct err *err);

#endif
