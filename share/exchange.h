/* exchange.h - a machine's evidence to the fleet's database, and the fleet's back */
#ifndef SHARE_EXCHANGE_H
#define SHARE_EXCHANGE_H

#include "lib/fleetfile.h"

struct arena;
struct db;
struct err;

/* Gives and takes what is asked for.  *out, in the arena, says what has been done also when it
 * returns -1 in the middle: that is done for good, and need not come again. */
int exchange(struct db *db, const struct fleet_request *q, struct arena *a,
	     struct fleet_answer *out, struct err *err);
/* Gives one piece: *said is the server's word, for what is refused. */
int exchange_give(struct db *db, const struct fleet_request *q,
		  const struct fleet_evidence *e, enum fleet_told *told, char said[160],
		  struct err *err);

#endif
