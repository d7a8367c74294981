/* splicing.h - a process that runs gets generations of its files, and gives them back
 *
 * For root, without a daemon.  Of each file of the process that there is a profile of:
 *
 *	count	for a while, what samples leave uncertain, by a generation that counts
 *	make	a generation that keeps pointers, in a caged job
 *	prove	it, in another one (morph-verify --live)
 *	room	morph-live says where new text fits; if not where it is, made and proven anew
 *	keep	it as a file of STORE/live, which is root's
 *	on	morph-live maps it
 *	off	and takes all out that is of that folder
 *	off all	and one out of whatever has it, forks that is
 *	forget	the file goes
 *
 * Nothing here looks into the files of the process, but for their digests; those are opened by
 * its mappings, so they are the very ones.  Who waits here is interrupted as interrupt.h says.
 */
#ifndef MANAGER_TRY_SPLICING_H
#define MANAGER_TRY_SPLICING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/try/tempfolder.h"

struct err;

enum { SPLICING_PATH = 2 * PATH_MAX + 96 };
enum { SPLICING_FILES = 64, SPLICING_SAID = 1024 };

struct splicing {
	const char *morph_edit, *morph_verify, *morph_live;	/* the programs */
	const char *store;
	const char *profiles;		/* folder; NULL: of samples, splicing_sample() */
	unsigned patience_ms;		/* for a moment to map something; 0: morph-live's */
	char folder[PATH_MAX];		/* STORE/live */
	struct tempfolder temp;
	const char *scratch;		/* its path, with the samples; NULL: none */
	bool nobody_catches;		/* splicing_catches() has found so */
};

struct splicing_file {			/* that the process has code of */
	char path[PATH_MAX];
	char link[96];			/* below /proc, which opens it */
};

struct splicing_files {
	struct splicing_file file[SPLICING_FILES];
	uint32_t n;
	pid_t pid;
};

struct spliced {			/* a generation that fits in a process */
	int plan, file;
	bool ours;			/* the file was made for it, and was not there before */
	uint64_t functions, moved;
};

struct splicing_said {			/* by morph-live */
	char text[SPLICING_SAID];
	uint64_t pause_us;		/* how long the process stood still */
	uint64_t base;			/* of the symbols of what it has now */
};

/* Makes the folder and the store, or refuses one that is not root's alone; removes what others
 * have left there. */
int splicing_open(struct splicing *s, struct err *err);
/* ERR_REFUSED: code of files there cannot be mapped (noexec). */
int splicing_can_map(const struct splicing *s, struct err *err);
/* Removes the samples. */
void splicing_close(struct splicing *s);
/* A folder for samples, if there is none yet. */
int splicing_scratch(struct splicing *s, struct err *err);
/* Samples the process for some seconds; the profiles of its files are in s->scratch. */
int splicing_sample(struct splicing *s, pid_t pid, unsigned seconds, struct err *err);
/* -1: there is no such process. */
int splicing_files(pid_t pid, struct splicing_files *all, struct err *err);
/* Is the file of its program no longer where it was?  Then it has no profile. */
bool splicing_program_gone(pid_t pid);
#define SPLICING_GONE ": that of its program was deleted or replaced since it began"
/* Where an unwinder is among the files: does none of them catch exceptions?  -1 with the reason
 * if one may. */
int splicing_catches(struct splicing *s, const struct splicing_files *all, struct err *err);
/* Samples of its profile; 0: there is none. */
double splicing_samples(const struct splicing *s, const struct splicing_file *f);
/* The process counts for so long, and runs its original again; splicing_make() goes by that.
 * To be called before anything of the folder is mapped there, which would be taken out, too.
 * *pause_us: the longer time for which it stood still.  1; 0: there is no profile of it; -1. */
int splicing_count(struct splicing *s, pid_t pid, const struct splicing_file *f, unsigned ms,
		   uint64_t *pause_us, struct err *err);
/* splicekeep.c: the generation as a file of the folder, by its digest; fills out->file and
 * out->ours. */
int splicing_keep(const struct splicing *s, int generation, struct spliced *out,
		  struct err *err);
/* 1: *out is the caller's, spliced_close(); 0: there is no profile of it; -1. */
int splicing_make(const struct splicing *s, pid_t pid, const struct splicing_file *f,
		  struct spliced *out, struct err *err);
void spliced_close(struct spliced *s);
/* Nobody gets it again; a process that has it keeps it.  Only where it was made for this, and
 * no other command uses it. */
void splicing_forget(const struct splicing *s, const struct spliced *what);
/* Where the generation is kept.  -1: it cannot be read. */
int splicing_path(const struct splicing *s, const struct spliced *what, char out[SPLICING_PATH],
		  struct err *err);

/* Both change nothing where it is so already.  -1, and ERR_REFUSED with morph-live's reason
 * where it refused, or no moment for it came. */
int splicing_on(const struct splicing *s, pid_t pid, const struct spliced *what,
		struct splicing_said *said, struct err *err);
int splicing_off(const struct splicing *s, pid_t pid, struct splicing_said *said,
		 struct err *err);
/* Out of all processes that have it: forks, if it was made for this and no other command uses
 * it; else nothing is done. */
int splicing_off_all(const struct splicing *s, const struct spliced *what,
		     struct splicing_said *said, struct err *err);
/* Does it have one, or more?  -1: that cannot be found out. */
int splicing_has(const struct splicing *s, pid_t pid, struct err *err);

#endif
