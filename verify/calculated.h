/* calculated.h - computed jumps to what registers were calculated to hold */
#ifndef VERIFY_CALCULATED_H
#define VERIFY_CALCULATED_H

struct verify;

/* Fills counting.calculated.  counting.unfollowed has where control goes on without a call, and
 * comes from another function; the rest is added. */
void verify_find_calculated(struct verify *v);

#endif
