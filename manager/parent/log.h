/* log.h - what morphd says: lines with a priority, to who listens
 *
 * Under systemd they go to the journal by its own protocol, with fields to search by: PRIORITY,
 * MORPH_ROLE, and of what happened to a module MESSAGE_ID, MORPH_EVENT, MORPH_MODULE and
 * MORPH_GENERATION.  Else to standard error in the foreground, and to syslog otherwise.  Text
 * of others is escaped (lib/utf8.h).
 *
 * A line that was said within the last minute is not said again; the next time it tells how
 * often it was held back.  Of each priority 500 lines are said at once, and one a second in
 * the long run: much of what is said is about files of users, who have as many as they want.
 * How many were too many is told.  Events but refusals are always said.
 */
#ifndef MANAGER_PARENT_LOG_H
#define MANAGER_PARENT_LOG_H

#include <stdint.h>

struct err;
struct role_options;

/* as syslog's */
enum log_level { LEVEL_ERROR = 3, LEVEL_WARNING, LEVEL_NOTICE };

/* MESSAGE_ID, see morphd(8). */
#define EVENT_SWAP	"6da8d76ce015e3522300d651d2556feb"
#define EVENT_RESTORE	"7610ad44ce7a48c7653d30ee463fa3ec"
#define EVENT_CRASH	"a28288e34d6e58748f1b5c158fd4a7c1"
#define EVENT_REFUSAL	"9a565a8814a8be4c7db88616658af556"

struct log_event {
	const char *id;			/* EVENT_SWAP and its like; NULL: none of these */
	const char *name;		/* as in the history */
	const char *path;
	uint32_t generation;		/* 0: of none */
};

/* Of this role, until it ends.  Before the process gives up its rights. */
void role_log_open(const struct role_options *o);
/* Not in the foreground: closes what belongs to whoever started us. */
void role_detach(const struct role_options *o);

/* One line each: what goes on; what makes the daemon do less; what keeps it from its work. */
void role_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void role_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void role_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What went wrong; a refusal is no error. */
void role_log_err(const struct err *err);
/* Something happened to a module. */
void role_event(enum log_level level, const struct log_event *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
