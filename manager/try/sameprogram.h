/* sameprogram.h - does a process still run what it ran? */
#ifndef MANAGER_TRY_SAMEPROGRAM_H
#define MANAGER_TRY_SAMEPROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SAMEPROGRAM_AUXV = 1024 };

struct sameprogram {
	dev_t dev;
	ino_t ino;		/* of its program; 0: not known */
	uint8_t auxv[SAMEPROGRAM_AUXV];
	size_t n;
};

/* What it runs now. */
void sameprogram_note(struct sameprogram *p, pid_t pid);
/* What has become of it, behind "process N "; NULL: it runs that still, as far as is known. */
const char *sameprogram_else(const struct sameprogram *p, pid_t pid);

#endif
