/* commandline.h - which program a command line starts: by PATH, of a script its interpreter
 *
 * As execvp(3) and the kernel do it.  Needed where files cannot be replaced at their path, so
 * that another one is started instead.
 */
#ifndef MANAGER_TRY_COMMANDLINE_H
#define MANAGER_TRY_COMMANDLINE_H

struct err;

struct commandline {
	char *program;		/* absolute, no symbolic links: no script */
	char **argv;		/* what it gets, ends with NULL */
};

/* -1: there is no such program, or its interpreters are too deep. */
int commandline_resolve(char *const *argv, struct commandline *out, struct err *err);
void commandline_free(struct commandline *c);

#endif
