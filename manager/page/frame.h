/* frame.h - what stands around a page's content: page.html with page.css and page.js */
#ifndef MANAGER_PAGE_FRAME_H
#define MANAGER_PAGE_FRAME_H

#include "lib/wr.h"

/* Everything in front of the content, and behind it.  The page's policy lets nothing in from
 * elsewhere, and runs no script but this one, which it knows by its digest. */
void frame_begin(struct wr *w, const char *title);
void frame_end(struct wr *w, const char *title);

#endif
