/* err.h - one sentence about what went wrong, built from the inside out
 *
 * A function that fails returns -1 (or NULL) with *err filled and its outputs untouched.  Each
 * level may put its context in front with err_wrap().  Only a process's main loop prints it.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

enum err_kind {	/* decides the exit code, see err_exit_code() */
		ERR_NONE,
		ERR_SYS,	 /* a system call or a resource limit */
		ERR_INPUT,	/* malformed file, spool, message */
		ERR_USAGE,	/* wrong command line or policy */
		ERR_REFUSED, /* well formed, but Morph will not touch it; text is the reason */
};

struct err {
	enum err_kind kind;
	char text[1024];
};

/* Both always return -1, so that `return err_set(...)` reads well.  err may be NULL. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "CONTEXT: former text" */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 1 failed, 2 wrong usage, 3 refused. */
int err_exit_code(const struct err *err);

#endif
