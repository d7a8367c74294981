/* schema.h - the fleet's schema in a database: installed, brought up to date, asked for */
#ifndef SHARE_SCHEMA_H
#define SHARE_SCHEMA_H

#include <stdint.h>

struct db;
struct err;

/* What schema a client of this version needs, and that protocol it speaks (hello()). */
enum { SCHEMA_CLIENT = 1, SCHEMA_LEAST = 1 };

int schema_version(void);	/* of this program */
/* In one transaction; *from is what was there, 0 for nothing.  A newer schema is refused. */
int schema_install(struct db *db, int *from, struct err *err);

struct schema_hello {
	int schema;
	uint32_t epoch;		/* by the server's clock */
	uint32_t least;		/* contributors */
	int64_t now_s;
};

/* Fails with what is to be done if there is no schema, or an older or newer one than will
 * do. */
int schema_hello(struct db *db, struct schema_hello *out, struct err *err);

#endif
