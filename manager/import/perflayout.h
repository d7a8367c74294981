/* perflayout.h - how the records of one event of a perf.data file are laid out: its attributes
 *
 * Sample types and flags are bits of struct perf_event_attr, whose layout is the kernel's
 * interface: it only ever grows.
 */
#ifndef MANAGER_IMPORT_PERFLAYOUT_H
#define MANAGER_IMPORT_PERFLAYOUT_H

#include "lib/rd.h"

struct arena;
struct err;

struct perflayout {
	uint32_t type;
	uint64_t config, sample_type, read_format;
	bool sample_id_all, branch_index, branch_counters;
	bool all_branches;		/* else stacks have chosen ones only */
	struct bytes ids;		/* u64 each: the events' in the records */
};

struct perfsample {
	bool has_ip, has_task, has_time;
	uint64_t ip, time_ns;
	uint32_t pid, tid;
	uint32_t nbranch;		/* newest first, 24 bytes each */
	const uint8_t *branch;
};

/* The bytes of attributes that say they have so many: the first version says 0. */
uint32_t perflayout_size(uint32_t said);
/* One struct perf_event_attr; its ids are the caller's to add. */
int perflayout_read(struct bytes attr, struct perflayout *out, struct err *err);
/* No sampling event, but one that only brings the records of processes. */
bool perflayout_is_dummy(const struct perflayout *l);
/* Clocks by what they count; the name is a word of a profile. */
const char *perflayout_clock(const struct perflayout *l);

/* The layout of a record: by its id where there are several.  NULL: of an event that the file
 * does not have. */
const struct perflayout *perflayout_of(const struct perflayout *l, uint32_t n,
				       struct bytes record);
/* When the record was made; UINT64_MAX: it does not say. */
uint64_t perflayout_time(const struct perflayout *l, struct bytes record);
/* False when the sample is malformed.  Of a branch stack that is longer than SPOOL_BRANCHES_MAX
 * the newest branches are taken. */
bool perflayout_sample(const struct perflayout *l, struct bytes record, struct perfsample *out);

#endif
