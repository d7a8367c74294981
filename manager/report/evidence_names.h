/* evidence_names.h - asks a confined job what stands at places of a module */
#ifndef MANAGER_REPORT_EVIDENCE_NAMES_H
#define MANAGER_REPORT_EVIDENCE_NAMES_H

#include "lib/wr.h"
#include "manager/report/evidence.h"

/* Fills the places first..end of e->place, which are all of one module and whose names are
 * asked for by the lines of `places` (editor/exchange/places.h), one for each: function, addr,
 * block, frames; and what the module has.  `fd` is the original. */
int evidence_ask_names(struct evidence *e, const char *morph_edit, int fd,
		       const struct wr *places, uint32_t first, struct err *err);
/* Of code that was made at run time; fd is what the program wrote of it. */
int evidence_ask_made(struct evidence *e, const char *morph_edit, int fd,
		      const struct wr *places, uint32_t first, struct err *err);
/* The answer alone, in the arena. */
int evidence_places_text(struct arena *a, const char *morph_edit, int fd,
			 const struct wr *places, struct bytes *out, struct err *err);
/* The same by the job's answer; -1: it is malformed. */
int evidence_read_names(struct evidence *e, struct bytes text, uint32_t first, struct err *err);

#endif
