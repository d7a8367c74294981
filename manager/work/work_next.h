/* work_next.h - what will become of a module next, when, and what would change that */
#ifndef MANAGER_WORK_WORK_NEXT_H
#define MANAGER_WORK_WORK_NEXT_H

#include "policy/decide.h"

struct err;
struct work;
struct store_module;

enum work_next_code {
#define NEXT(id, name, change) WORK_NEXT_##id,
#include "manager/work/work_next.def"
#undef NEXT
};
extern const char *const work_next_name[];	/* one word each */
extern const char *const work_next_change[];	/* a sentence each */

struct work_next {
	enum work_next_code code;
	char text[384];		/* for people: "needs 900 more samples, about 2 min" */
	double samples;		/* more that it needs; 0: none */
	double wait_s;		/* until then, estimated; < 0: not known */
	double times_as_fast;	/* that it should become, estimated; 0: not known */
};

/* Changes nothing. */
int work_next(struct work *w, const struct store_module *m, struct work_next *out,
	      struct err *err);

/* --- what work_use.c would decide now --- */

struct work_foresight {
	double samples, least;		/* in the window, and that it must have */
	double since_s, last_s;		/* that it lasts, and must last */
	char verdict[256];		/* of the window before; "": none */
	bool ends;			/* it is judged at the next idle time: then */
	struct decision d;
	double gain_own;		/* of the module's own time, estimated, 0..1 */
	bool counts;			/* it is counted first */
	bool enough_people;		/* the policy lets it be laid out */
};

int work_foresee(struct work *w, const struct store_module *m, struct work_foresight *out,
		 struct err *err);

#endif
