/* when.h - a moment as people type it */
#ifndef LIB_WHEN_H
#define LIB_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* What when_parse() takes, for messages. */
#define WHEN_FORMS "90m, 12h, 7d, 2w (before now), 2026-11-20, 2026-11-20T14:30, @SECONDS"

/* In ns since 1970, before now_ns, which is that; a date is by local time.  False: it is none,
 * or not before now. */
bool when_parse(const char *text, uint64_t now_ns, uint64_t *out_ns);
/* Of what when_parse() has read as ns: an age in hours begins with the full hour, one in days
 * or weeks with the day, by UTC; anything else is as it is. */
uint64_t when_full(const char *text, uint64_t ns);
uint64_t when_now_ns(void);

#endif
