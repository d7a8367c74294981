/* printable.h - texts for the log whose parts others have chosen */
#ifndef MANAGER_PARENT_PRINTABLE_H
#define MANAGER_PARENT_PRINTABLE_H

enum { PRINTABLE_MAX = 4096 + 1024 };

/* All but printable ASCII as \xNN: it says nothing else to a terminal or a log.  What does not
 * fit ends in "...". */
void printable(const char *text, char out[PRINTABLE_MAX]);

#endif
