/* boltprofile.h - counts of an annotated program as profiles that llvm-bolt reads
 *
 * Written is what inference makes of a profile: executions of blocks and edges, which is what
 * bolt lacks where there are PC samples alone.  Estimates are in thousandths of a sample per
 * instruction, because bolt's counts are whole numbers; what runs at all counts at least 1.
 *
 *   fdata   one line for each edge and each direct call, by symbol and offset:
 *		1 NAME OFFSET 1 NAME OFFSET MISPREDICTED COUNT
 *	     Executions of a function that no call of the program accounts for come from
 *	     `0 [unknown] 0`.
 *   preagg  pre-aggregated branches and runs, by address:
 *		B FROM TO COUNT MISPREDICTED
 *		F START END COUNT
 *	     Runs are made of the counts: what enters a stretch of code first leaves it first.
 *	     Where returns come from is not told, so runs behind calls are `f`.
 *   YAML    function by function, block by block, as its profile-version 1 has it.  Blocks have
 *	     numbers, in the order of addresses (`dfs-order: false`), so they have to be cut as
 *	     llvm-bolt cuts them: boltblocks.h.  Its hashes are made of numbers that LLVM gives
 *	     to instructions, others in each version, and are 0: llvm-bolt has to be told
 *	     --profile-ignore-hash, and then compares the number of blocks alone.
 *
 * Mispredictions are not known and 0.
 */
#ifndef EDITOR_EXCHANGE_BOLTPROFILE_H
#define EDITOR_EXCHANGE_BOLTPROFILE_H

#include "editor/exchange/boltnames.h"
#include "lib/wr.h"
#include "postmorph/ir/ir.h"

/* `prog` has its counts (editor/infer/infer.h). */
void boltprofile_fdata(const struct prog *prog, const struct boltnames *names, struct wr *out);
void boltprofile_preagg(const struct prog *prog, struct wr *out);
/* `module`: the path of the program. */
void boltprofile_yaml(const struct prog *prog, const struct boltnames *names,
		      const char *module, struct wr *out);

/* A count as bolt's profiles have it; 0: it does not run. */
uint64_t boltprofile_count(const struct prog *prog, double count);

#endif
