/* procedure.h - a module with its profile, procedure by procedure, and what they are called
 *
 * Names and the text of instructions come from confined morph-edit jobs, as text that is looked
 * at line by line: hostile programs may say strange things, but only as names.
 */
#ifndef MANAGER_WORK_PROCEDURE_H
#define MANAGER_WORK_PROCEDURE_H

#include "lib/rd.h"
#include "manager/work/work.h"

enum { PROCEDURE_NAME_BYTES = 256 };

struct procedure {
	uint32_t fn;			/* index in the block table */
	double samples;
	char name[PROCEDURE_NAME_BYTES];	/* fn_ADDRESS until named */
};

struct procedures {
	struct store_module m;
	struct blocktable t;
	struct store_profile profile;
	uint32_t nproc;
	struct procedure *proc;		/* those with samples, by samples, descending */
};

/* Malloc'd; NULL when the module is not analysed, or the store fails. */
struct procedures *procedures_load(struct work *w, const struct store_module *m,
				   struct err *err);
void procedures_free(struct procedures *l);		/* NULL is allowed */
/* Gives the first `n` procedures their names; without symbols they keep their numbers. */
void procedures_name(struct work *w, struct procedures *l, uint32_t n);
/* Index of a function in the block table: fn_HEX, 0xHEX or a name; UINT32_MAX: there is
 * none. */
uint32_t procedures_find(struct work *w, const struct procedures *l, const char *name);
/* Samples of a block of the table. */
double procedures_block_samples(const struct procedures *l, uint32_t block);

/* May the function be shown, block by block, or instruction by instruction?  -1: it is so large
 * that the answer would be too (answer.h), and what it takes to make it. */
enum { PROCEDURES_SHOWN_MOST = 32768 };
int procedures_check_shown(const struct procedures *l, uint32_t fn, bool instructions,
			   struct err *err);

/* Runs a job whose output is text, of some size: somebody's program may say more than there is
 * room for. */
enum { PROCEDURES_TEXT_MOST = 64 << 20 };		/* chosen */
int procedures_text_job(struct work *w, const struct ask_job *job, struct wr *out,
			struct err *err);
/* The debug file of that build-id (hexadecimal digits), where packages keep them; -1: there is
 * none that the owner of a file with that build-id may read. */
int procedures_open_debug(struct work *w, const char *build_id, uint32_t owner);
/* The next line of *b as a text in `line`, cut if too long; false at the end. */
bool procedures_next_line(struct bytes *b, char *line, size_t size);

#endif
