/* tryout.h - does sharing work over this connection? */
#ifndef SHARE_TRYOUT_H
#define SHARE_TRYOUT_H

struct db;
struct err;

/* Tries all of an exchange, and takes it back.  `line` gets what is so, as far as it was found
 * out; -1: *err is what does not work. */
int tryout_run(struct db *db, char line[512], struct err *err);

#endif
