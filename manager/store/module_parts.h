/* module_parts.h - what the files about modules share among themselves */
#ifndef MANAGER_STORE_MODULE_PARTS_H
#define MANAGER_STORE_MODULE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "manager/store/module.h"

struct modules {
	struct store *store;
	struct blockindex_kept *kept;
	struct module_services by;
	uint64_t wait_ms;		/* of the last that has to wait */
};

struct store_seen modules_seen_of(const struct stat *st);
bool modules_same_seen(const struct store_seen *a, const struct store_seen *b);
/* 0: the table is of the module's original; -1: it is not, and was freed. */
int modules_check_original(const struct store_module *m, struct blocktable *table,
			   struct err *err);

#endif
