/* fleetfile.h - what the Manager and morph-share hand each other: a request and its answer
 *
 * Files in memory, little-endian, without gaps.  Each side reads what the other wrote as a
 * file from a stranger: the answer was made by the one process that talks to a network.
 *
 *   request   "MORPHFRQ" | u32 version = 1 | class | 16 bytes machine | u32 ngive | evidence...
 *             | u32 nwant | 32 bytes digest...
 *   answer    "MORPHFAN" | u32 version = 1 | u32 ntold | told... | u32 left_out | u32 nfleet
 *             | evidence...
 *   class     u8 length | bytes
 *   told      u32 index of what was given | u8 enum fleet_told
 *   evidence  32 bytes digest | u8 enum fleet_kind | u32 epoch | u64 sequence
 *             | u32 contributors | u32 nblock | u32 nedge | u32 ncall
 *             | u32 block, u64 count... | u32 from, u32 to, u64 count...
 *             | u32 block, u32 at, u32 target, u64 count...
 *
 * Blocks are indices of the block table of the file with that digest; whether there are so
 * many, only who has the table can tell.  Blocks, edges and calls ascend, each once, their
 * counts are 1..FLEET_COUNT_MAX: that is checked here.
 */
#ifndef LIB_FLEETFILE_H
#define LIB_FLEETFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"
#include "lib/wr.h"

struct arena;
struct err;

enum {
	FLEETFILE_VERSION = 1, FLEET_CLASS_MAX = 32, FLEET_MACHINE = 16,
	FLEET_MANY = 1000000,		/* blocks, edges or calls of one piece of evidence */
	FLEET_FILES = 20000,		/* pieces of evidence, or digests, of one file */
	FLEET_FILE_MAX = 64 << 20,	/* bytes */
};
#define FLEET_COUNT_MAX (UINT64_C(1) << 50)

enum fleet_kind { FLEET_SAMPLES, FLEET_EXECUTIONS };	/* of samples: in 1/256 */
/* Of what was given: it is there now; it was; it is not wanted, and is not to come again. */
enum fleet_told { FLEET_TAKEN, FLEET_KNOWN, FLEET_REFUSED };

struct fleet_block {
	uint32_t block;
	uint64_t count;
};

struct fleet_edge {
	uint32_t from, to;
	uint64_t count;
};

struct fleet_call {
	uint32_t block, at, target;
	uint64_t count;
};

struct fleet_evidence {			/* arrays are whose it is, or the arena's */
	struct digest digest;		/* of the original */
	enum fleet_kind kind;
	uint32_t epoch;			/* weeks since 1970 */
	uint64_t sequence;
	uint32_t contributors;		/* of an answer's */
	uint32_t nblock, nedge, ncall;
	struct fleet_block *block;
	struct fleet_edge *edge;
	struct fleet_call *call;
};

struct fleet_request {
	char class[FLEET_CLASS_MAX + 1];	/* of machine */
	uint8_t machine[FLEET_MACHINE];
	uint32_t ngive, nwant;
	struct fleet_evidence *give;
	struct digest *want;
};

struct fleet_answer_told {
	uint32_t index;
	enum fleet_told told;
};

struct fleet_answer {
	uint32_t ntold, nfleet;
	uint32_t left_out;		/* of what came, because it was wrong */
	struct fleet_answer_told *told;
	struct fleet_evidence *fleet;
};

/* Letters of the lower case, digits, ".", "_" and "-", none is good too. */
bool fleet_class_is_good(const char *class);
/* Is all of it in range and in order?  *why tells, if not. */
bool fleet_evidence_is_good(const struct fleet_evidence *e, const char **why);
size_t fleet_evidence_bytes(const struct fleet_evidence *e);	/* in a file */

void fleet_request_write(const struct fleet_request *q, struct wr *out);
int fleet_request_read(struct bytes b, struct arena *a, struct fleet_request *out,
		       struct err *err);
void fleet_answer_write(const struct fleet_answer *q, struct wr *out);
int fleet_answer_read(struct bytes b, struct arena *a, struct fleet_answer *out,
		      struct err *err);

#endif
