/* policy.h - what the administrator allows and asks for, from a YAML file
 *
 * policy.def is the one table behind the struct, the range checks, `morphctl policy show`, the
 * manual page and the completion.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/rd.h"

struct err;

enum policy_clock { CLOCK_AUTO, CLOCK_TICK, CLOCK_CPU_CLOCK, CLOCK_CYCLES };
extern const char *const policy_clock_name[];		/* "auto", ... , NULL */

enum policy_switch { SWITCH_AUTO, SWITCH_ON, SWITCH_OFF };
extern const char *const policy_switch_name[];		/* "auto", ... , NULL */
extern const char *const policy_onoff_name[];		/* "off", "on", NULL */

struct policy_globs {		/* fnmatch(3) patterns, malloc'd, owned by the policy */
	char **glob;
	uint32_t n;
};

struct policy_window {		/* minutes since midnight, local time; from == to: always */
	uint16_t from, to;
};

struct policy_passes {
#define PASS(name) bool name;
#include "policy/passes.def"
#undef PASS
};
enum { POLICY_PASS_LIST_MAX = 64 };	/* bytes of the names of all, with commas */
extern const char *const policy_pass_names;	/* "fluff, leave, ..." */

struct policy;

struct policy_rule {		/* of some modules; see policy/rule.h */
	char *name;
	uint32_t line;		/* of the policy's text */
	struct policy_globs paths, packages, users;
	unsigned refuse;
	uint64_t set;		/* bit i: setting i of the table, as it is in values */
	struct policy *values;
};

struct policy {
	unsigned clock, rate_hz, drain_s, registers, stack_bytes, memory, branches_hz;
	unsigned spool_max_mib;
	unsigned idle_load_max_pct, idle_busy_max_pct, idle_psi_cpu_max_pct;
	unsigned idle_psi_io_max_pct, idle_psi_memory_max_pct;
	unsigned idle_users_away, idle_on_battery, idle_heat_max_pct, idle_check_s;
	struct policy_window idle_window;
	struct policy_globs include, exclude;
	unsigned hard_links, see_others, share_layouts, automatic;
	unsigned owner_cpu_per_day_s, owner_disk_per_day_mib;
	unsigned min_samples, max_unseen_pct, min_gain_ppm, min_drift_pct;
	unsigned cool_down_h, cpu_per_day_s, disk_per_day_mib, half_life_d, observe_s;
	unsigned observe_first_h, count, count_cpu_per_day_s, count_burst_s, live, live_cpu_s;
	struct policy_passes passes;
	unsigned job_memory_mib, job_cpu_s;
	unsigned inherit, inherit_least_pct;
	char *share_conninfo, *share_class;	/* malloc'd; NULL: "" */
	unsigned share_give, share_take, share_every_h, share_queue_mib;
	struct policy_globs share_send, share_agreed;
	uint32_t nrule;
	struct policy_rule *rule;	/* the first that fits decides */
	char *note;		/* of policy_parse(): what is out of date; NULL: nothing */
	char *automatic_by;	/* the file that says optimize.automatic; NULL: the default */
	/* of each module; see rule_apply() */
	unsigned module_cpu_per_day_s, module_disk_per_day_mib, module_count_cpu_per_day_s;
};

/* Bytes of a policy; chosen. */
enum { POLICY_TEXT_MAX = 1 << 20 };

/* Defaults: every setting's default; include is /usr/bin, /usr/sbin and the library folders,
 * exclude empty, all passes. */
struct policy *policy_default(void);
/* Parses YAML text; `name` stands in messages: "NAME:LINE:COLUMN: idle.check_s: 0 is outside
 * 1..3600 s".  Unknown and repeated keys, wrong types and values out of range are ERR_USAGE.
 * A setting of an older version that is gone does nothing; the first has a sentence in `note`,
 * which whoever reads a policy shows.  The text may be of several files (lib/dropins.h): what
 * is read later holds, and its rules come first; one setting in two that add is noted. */
struct policy *policy_parse(struct bytes text, const char *name, struct err *err);
/* The same for what the descriptor holds, which stays the caller's. */
struct policy *policy_read(int fd, const char *name, struct err *err);
void policy_free(struct policy *p);		/* NULL is allowed */

/* True when path matches an include glob and no exclude glob (fnmatch, FNM_PATHNAME not
 * set). */
bool policy_allows(const struct policy *p, const char *path);
/* May a file that no package delivered be given to the fleet? */
bool policy_sends(const struct policy *p, const char *path);
/* "fluff,leave,..." as far as switched on; at least POLICY_PASS_LIST_MAX bytes. */
void policy_pass_list(const struct policy *p, char *out, size_t n);
/* May anything be done without being asked, by the general setting or by a rule's? */
bool policy_automatic(const struct policy *p);
/* May any process get a generation while it runs? */
bool policy_live(const struct policy *p);
/* May what was known of any module's old version be used for its new one? */
bool policy_inherits(const struct policy *p);
/* Is there a module of which it matters whose samples it has? */
bool policy_asks_whose(const struct policy *p);
/* The least number of samples that makes any module worth a look. */
unsigned policy_least_samples(const struct policy *p);
/* Calls f for every setting, in table order, with its value as YAML would show it. */
void policy_each(const struct policy *p,
		 void (*f)(void *ctx, const char *section, const char *key, const char *value,
			   const char *unit, const char *help), void *ctx);

/* The same for what a rule sets. */
void policy_each_of_rule(const struct policy_rule *r,
			 void (*f)(void *ctx, const char *section, const char *key,
				   const char *value, const char *unit, const char *help),
			 void *ctx);

/* Is the machine idle?  Each condition with its present value and verdict. */
struct idle_condition {
	const char *name;	/* setting, e.g. "idle.load_max_pct" */
	char value[64];		/* present value with unit; "not available" passes */
	bool ok;
	bool by_work;		/* work under way may be the reason why it is not met */
};
enum idle_which {		/* in the order in which they are shown */
	IDLE_LOAD, IDLE_BUSY, IDLE_PSI_CPU, IDLE_PSI_IO, IDLE_PSI_MEMORY, IDLE_USERS,
	IDLE_BATTERY, IDLE_HEAT, IDLE_WINDOW, IDLE_NCONDITION
};
struct sense;
/* See policy/sense.h for `own` and now_ms. */
bool policy_idle(const struct policy *p, struct sense *m, pid_t own, uint64_t now_ms,
		 struct idle_condition out[IDLE_NCONDITION]);
/* May work that began when all conditions held go on? */
bool idle_goes_on(const struct idle_condition c[IDLE_NCONDITION]);

#endif
