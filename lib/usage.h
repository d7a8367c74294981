/* usage.h - a command line held against the usage line that people are shown, so that whatever
 * is wrong with an option is said by its name, with what was probably meant
 *
 * Which options there are is what the usage line says:
 *
 *	--name			takes no value
 *	--name=VALUE		needs one, which may follow as an argument of its own
 *	--name VALUE		the same (VALUE begins with a capital letter)
 *	--name[=VALUE]		may have one
 *	-x, -x VALUE		short ones
 */
#ifndef LIB_USAGE_H
#define LIB_USAGE_H

#include <stdbool.h>

/* Looks at the options of argv[1..*argc), up to "--".  Values of long options that are
 * arguments of their own are joined to them (memory that stays as long as the process).
 * False, with the reason on stderr: an option is unknown or wrong.  `who` begins the sentence;
 * `common` is a usage line of options that are taken elsewhere, and only suggested here; NULL:
 * none. */
bool usage_check(const char *who, const char *line, const char *common, int *argc,
		 char **argv);

/* Words that could have been meant, offered one by one. */
struct usage_meant {
	const char *word;	/* what was given */
	unsigned best;		/* UINT_MAX at first */
};
/* Is `name` near enough to the word, and nearer than all that were offered before? */
bool usage_is_nearer(struct usage_meant *m, const char *name);

/* In how many steps one word becomes the other: letters left out, put in, changed, or two
 * neighbours exchanged (Damerau 1964, optimal string alignment); UINT_MAX: too long. */
unsigned usage_distance(const char *a, const char *b);

#endif
