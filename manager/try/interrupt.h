/* interrupt.h - Ctrl-C and its like end a trial in order: they are noticed where it waits
 *
 * SIGINT, SIGTERM and SIGHUP are blocked, but for the moments in which interrupt_poll() waits.
 * So none is missed between a look at the flag and the wait, and none comes anywhere else.
 */
#ifndef MANAGER_TRY_INTERRUPT_H
#define MANAGER_TRY_INTERRUPT_H

#include <poll.h>
#include <stdbool.h>

/* From now on the three are noticed, until interrupt_end() gives them back. */
void interrupt_begin(void);
void interrupt_end(void);
/* In a child: they do again what they did before interrupt_begin(). */
void interrupt_child(void);
/* The one that came; 0: none so far. */
int interrupt_signal(void);
/* poll(2), which waits on through other signals; -1 when one of the three has come. */
int interrupt_poll(struct pollfd *p, nfds_t n, int timeout_ms);

#endif
