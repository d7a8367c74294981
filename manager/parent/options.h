/* options.h - morphd's command line and those of its roles */
#ifndef MANAGER_PARENT_OPTIONS_H
#define MANAGER_PARENT_OPTIONS_H

#include <stdio.h>

#include "lib/msg.h"

struct role_options;

enum { OPTIONS_MAX_ARG = 56, OPTIONS_MAX = 25, OPTIONS_USAGE_MAX = 1024 };

/* A command line; arg[] points into it and to the texts of the options that it was made of. */
struct options_line {
	const char *arg[OPTIONS_MAX_ARG];	/* ends in NULL */
	char option[OPTIONS_MAX][16], number[OPTIONS_MAX][16];
};

/* What is given overwrites *o; texts stay argv's.  -1: wrong usage; unknown options are told
 * on standard error; 1: help was asked for. */
int options_parse(int argc, char **argv, struct role_options *o);
void options_help(FILE *out);
/* All of them as a usage line (lib/usage.h). */
void options_usage(char out[OPTIONS_USAGE_MAX]);
/* A line that options_parse() reads as *o, under argv[0] `name`.  No text of *o may be NULL. */
void options_make(const struct role_options *o, const char *name, struct options_line *out);
const char *options_role_name(enum msg_role role);

#endif
