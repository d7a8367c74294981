/* show_lines.h - inside show: lines of a report, most first, as tables */
#ifndef MANAGER_CONTROL_SHOW_LINES_H
#define MANAGER_CONTROL_SHOW_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "manager/samples/counter.h"

struct client;
struct show_report;

struct line {
	char *module, *procedure;	/* malloc'd; procedure NULL: of anything else */
	double samples;
	uint64_t generation;		/* of modules */
	vaddr entry;			/* of procedures */
	uint64_t size;
	bool rest;			/* what is left; stays behind all others */
};

struct lines {			/* zeroed: none */
	struct line *at;
	uint32_t n;
	bool by_name;
};

/* What samples are in that are in no module. */
const char *lines_elsewhere(enum counter c);

/* Valid until the next one is added. */
struct line *lines_add(struct lines *l, const char *module, const char *procedure,
		       double samples);
/* To the line of all others. */
void lines_add_rest(struct lines *l, double samples);
/* At most `limit` lines stay as they are; those with least become one. */
void lines_cut(struct lines *l, uint32_t limit);
void lines_free(struct lines *l);

/* Shares are of `whole`; of lines_answer_shares(), of all lines together, which it cuts. */
void lines_answer_modules(const struct lines *l, double whole, struct client *cl);
void lines_answer_procedures(const struct lines *l, double whole, struct client *cl);
void lines_answer_shares(const char *title, const char *column, struct lines *l,
			 const struct show_report *r, struct client *cl);

#endif
