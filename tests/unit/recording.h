/* recording.h - makes perf.data files by hand, as tests/unit/recording.c says */
#ifndef TESTS_UNIT_RECORDING_H
#define TESTS_UNIT_RECORDING_H

#include <linux/perf_event.h>

#include "lib/wr.h"

struct recording_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_sample_type;
	bool sample_id_all;
	int bytes;		/* of it; 0: 128; -1: 64, and it says 0 */
	uint64_t id;		/* 0: none */
};

/* One record: begin, fields by wr_...(), end. */
size_t recording_begin(struct wr *out, uint32_t type, uint16_t misc);
void recording_end(struct wr *out, size_t at);
void recording_string(struct wr *out, const char *text);	/* padded to 8 bytes */

struct recording_feature {
	unsigned number;
	struct bytes bytes;
};

/* A file of these attributes, data and features (ascending). */
void recording_file(const struct recording_attr *attr, unsigned nattr, struct bytes data,
		    const struct recording_feature *feature, unsigned nfeature, struct wr *out);
/* The same for a pipe: header, attributes and features as records, then the data. */
void recording_pipe(const struct recording_attr *attr, unsigned nattr, struct bytes data,
		    const struct recording_feature *feature, unsigned nfeature, struct wr *out);
/* Text of a feature: u32 bytes, text, NULs. */
struct bytes recording_text(const char *text, struct wr *room);

/* The data as compressed records of at most `piece` bytes of it each; `second`: of the kind
 * that has its size in it. */
void recording_compress(struct bytes data, size_t piece, bool second, struct wr *out);

#endif
