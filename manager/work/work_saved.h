/* work_saved.h - CPU time that the generations of a module have saved, as far as it is
 * measured */
#ifndef MANAGER_WORK_WORK_SAVED_H
#define MANAGER_WORK_WORK_SAVED_H

#include <stdint.h>

#include "manager/store/store_saved.h"
#include "policy/saving.h"

struct err;
struct work;
struct store_module;

/* Why the use of a generation says nothing of what it saved. */
enum work_unmeasured {
	WORK_MEASURED,
	WORK_UNMEASURED_OPEN,
	WORK_UNMEASURED_BEFORE_UNKNOWN,
	WORK_UNMEASURED_CONTRADICTING,
	WORK_UNMEASURED_REPLACED,
	WORK_UNMEASURED_CHAIN,
	WORK_UNMEASURED_OTHERS,
	WORK_UNMEASURED_LIVE,
	WORK_UNMEASURED_LIVE_OTHERS,
};
extern const char *const work_unmeasured_name[];	/* one word each; [0] is "" */
extern const char *const work_unmeasured_text[];	/* for people */

struct work_saved_use {
	uint32_t generation;
	enum work_unmeasured why;
	double cpu_s;		/* that the speed is of; or in the processes, unmeasured */
	enum store_measured_by by;
	struct saving saving;
};

struct work_saved {		/* zeroed: nothing */
	uint64_t begin_ns;	/* of the first use; 0: none */
	struct work_saved_use *use;	/* by generation, the measured one first */
	uint32_t n;
};

/* *out, zeroed before, is the caller's to free. */
int work_saved(struct work *w, const struct store_module *m, uint64_t since_ns,
	       struct work_saved *out, struct err *err);
void work_saved_free(struct work_saved *s);

#endif
