/* screen.h - where morphctl prints: a terminal of some width, through a pager if it is long, or
 * a pipe
 *
 * What is printed is gathered first.  On a terminal it goes through a pager when it has more
 * lines than that: MORPH_PAGER, PAGER or less, with LESS=FRSX unless the caller has options of
 * his own; "" and "cat" are none.  Under sudo it is less in its secure mode, whatever these
 * say, so who may run morphctl alone runs nothing else.
 */
#ifndef MANAGER_CTL_SCREEN_H
#define MANAGER_CTL_SCREEN_H

#include <stdio.h>

#include "lib/table.h"

struct ctl;

struct screen {
	FILE *out;		/* to be printed to */
	struct table_look look;
	bool pages;		/* a pager may be used */
	char *text;
	size_t size;
};

/* Always succeeds, with standard output at worst. */
void screen_open(struct screen *s, const struct ctl *ctl);
/* Shows what was printed; `code`, or 1 if that could not be written.  A reader who has enough
 * is no failure. */
int screen_close(struct screen *s, int code);
/* Shows nothing of it. */
void screen_drop(struct screen *s);

/* The look of tables on that stream: of the terminal that it is, or plain. */
struct table_look screen_look(const struct ctl *ctl, FILE *f);
/* The words of the text in lines of at most `width` columns, those after the first one behind
 * `indent` blanks; the first begins at column `at`. */
void screen_wrap(FILE *f, const char *text, unsigned at, unsigned indent, unsigned width);
/* How wide text for people is to be: as the terminal, within bounds; on standard output. */
unsigned screen_width_of(FILE *f);
unsigned screen_text_width(void);
/* How many lines the terminal has on standard output; 0: it is none. */
unsigned screen_lines(void);
/* Is it a terminal on which a line can be written over? */
bool screen_is_live(FILE *f);

#endif
