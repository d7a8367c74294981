/* told.h - what a reader of recordings told of, as text to compare with */
#ifndef TESTS_UNIT_TOLD_H
#define TESTS_UNIT_TOLD_H

#include "manager/import/import.h"

struct told {
	char text[4096];	/* a line an event or build-id */
};

struct import_sink told_sink(struct told *t);	/* begins anew */

#endif
