/* flags.h - which condition flags an instruction reads and overwrites */
#ifndef POSTMORPH_MACHINE_FLAGS_H
#define POSTMORPH_MACHINE_FLAGS_H

#include "lib/rd.h"

enum { FLAGS_ALL = 0x8d5, FLAGS_CF = 1 };	/* CF PF AF ZF SF OF, as in rflags */

struct flags {
	uint16_t reads;			/* the instruction may depend on these */
	uint16_t writes;		/* it overwrites these, whatever its operands are */
};

/* `code` begins with an instruction that insn_decode() accepts.  Of a call or return only the
 * instruction itself counts, not the code that it leads to. */
struct flags flags_of(struct bytes code);

#endif
