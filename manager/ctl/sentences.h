/* sentences.h - a table of sentences, printed as such for people */
#ifndef MANAGER_CTL_SENTENCES_H
#define MANAGER_CTL_SENTENCES_H

#include <stdio.h>

#include "manager/ctl/ctl.h"

/* Prints table "explained" and takes it out, if it is there; a blank line follows when others
 * do. */
void sentences_print(struct ctl_tables *t, FILE *f, unsigned width);

#endif
