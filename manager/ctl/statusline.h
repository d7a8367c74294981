/* statusline.h - what a long request is at, in one line of the terminal that is written over
 *
 * "12 of 40, 9 s, about 21 s left: /usr/bin/perl: optimizing".  How long it will take is told
 * once a part of it is done, by what the parts so far took.  Where there is no terminal, each
 * text is a line of its own, as it comes.
 */
#ifndef MANAGER_CTL_STATUSLINE_H
#define MANAGER_CTL_STATUSLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct statusline {
	FILE *f;
	bool live;		/* it can be written over */
	bool shown;
	uint64_t begun_ms;
	uint32_t done, total;
	char *text;		/* NULL: nothing is under way */
};

/* On that stream. */
void statusline_open(struct statusline *s, FILE *f);
void statusline_set(struct statusline *s, uint32_t done, uint32_t total, const char *text);
/* Draws it anew, with the time that has gone by. */
void statusline_draw(struct statusline *s);
/* Takes the line off the terminal, so that something else can be printed. */
void statusline_clear(struct statusline *s);
void statusline_close(struct statusline *s);

#endif
