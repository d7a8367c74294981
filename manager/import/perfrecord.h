/* perfrecord.h - the records of a perf.data file, gathered and then told of as spool events */
#ifndef MANAGER_IMPORT_PERFRECORD_H
#define MANAGER_IMPORT_PERFRECORD_H

#include "lib/arena.h"
#include "lib/wr.h"
#include "manager/import/import.h"
#include "manager/import/perflayout.h"

struct perfrecord {
	uint64_t time_ns;
	uint64_t at;		/* in `file` or `unpacked` */
	uint32_t n;
	uint32_t order;		/* in the file: of two of one time the first comes first */
	bool packed;
};

struct perfrecords {		/* zeroed but for arena: nothing is known */
	struct arena *arena;
	struct bytes file;
	struct wr unpacked;
	uint64_t unpacked_read;		/* of it, records have been taken from */
	VEC(struct perflayout) layout;
	VEC(struct perfrecord) record;
	uint64_t last_ns;		/* of the last record that says when */
};

/* A record of the kernel's that was found in `file` or `unpacked`. */
int perfrecords_add(struct perfrecords *p, uint64_t at, uint32_t n, bool packed,
		    struct err *err);
/* Tells of all, in the order of time. */
int perfrecords_tell(struct perfrecords *p, const struct import_sink *sink,
		     struct import_counts *counts, struct err *err);

#endif
