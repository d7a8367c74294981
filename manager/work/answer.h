/* answer.h - what a request is answered: lines and tables, and how both travel over the socket
 *
 * An answer is a buffer.  Whoever works on a request appends to it, and knows nothing of the
 * connection; the control socket's server (manager/control/control.h) sends what is in it.
 *
 *   request   u32 length | u8 version | u8 count | count texts with their NUL
 *   answer    frames: u32 length | u8 kind | body
 *     TABLE   title, u8 columns, (u8 type, name) each      begins a table
 *     ROW     one text per column of the table begun last
 *     LINE    something to be told, that stays true
 *     PROGRESS  u32 done, u32 of how many, what is done now
 *     ERROR   a sentence
 *     END     u8 exit code; the last frame
 *
 * Lengths count what follows them.  Both sides check all of it: the client may talk to a socket
 * that is not ours.
 */
#ifndef MANAGER_WORK_ANSWER_H
#define MANAGER_WORK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct err;
struct table;

enum { ANSWER_VERSION = 1, ANSWER_MAX_ARGS = 64, ANSWER_MAX_REQUEST = 64 * 1024,
       /* with a profile in it, of those who are trusted; chosen */
       ANSWER_MAX_PROFILE = 64 << 20,
       ANSWER_MAX_FRAME = 1 << 20, ANSWER_MAX_COLUMNS = 64, ANSWER_MAX_PENDING = 4 << 20 };

/* In the error of a request that may be made again in a while. */
#define ANSWER_TOO_MANY "too many requests"

enum answer_kind { ANSWER_TABLE = 1, ANSWER_ROW, ANSWER_LINE, ANSWER_ERROR, ANSWER_END,
		   ANSWER_PROGRESS };

/* -1: too many or too long arguments, for more than ANSWER_MAX_PROFILE bytes. */
int request_write(struct wr *out, int argc, const char *const *argv, struct err *err);
/* 1: a whole request at the start of `b`, argv[] points into b, *used bytes of it;
 * 0: more bytes are needed; -1: no request, or one of more than `max` bytes. */
int request_read(struct bytes b, size_t max, int *argc, const char *argv[ANSWER_MAX_ARGS],
		 uint64_t *used, struct err *err);

struct answer {			/* zeroed: nothing said yet */
	struct wr out;		/* out.p[sent ...] waits to be sent */
	size_t sent;
	bool closed;		/* what comes is dropped */
	uint32_t done, total;	/* parts of the request, if it has several; for progress */
};

/* Append to the answer; NULL: nobody listens.  A line, what is done now, a table, a sentence
 * about what failed, the end.  When more than ANSWER_MAX_PENDING bytes wait, the answer is
 * closed: whoever reads it is too slow.  Of a table the last rows are left out before that, and
 * a line tells how many. */
void answer_line(struct answer *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void answer_progress(struct answer *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void answer_table(struct answer *to, const struct table *t);
void answer_error(struct answer *to, const char *text);
void answer_end(struct answer *to, int exit_code);
/* Frees what waits, and drops what is appended from now on. */
void answer_close(struct answer *to);

struct answer_frame {
	enum answer_kind kind;
	struct bytes body;		/* points into what was read */
};

/* 1, 0, -1 as request_read(). */
int answer_read(struct bytes b, struct answer_frame *out, uint64_t *used, struct err *err);
/* The table that a TABLE frame begins (the caller's), a ROW frame's row, the text of LINE,
 * ERROR and PROGRESS ("" if damaged), the code of END. */
struct table *answer_read_table(const struct answer_frame *f, struct err *err);
int answer_read_row(const struct answer_frame *f, struct table *t, struct err *err);
const char *answer_read_text(const struct answer_frame *f);
const char *answer_read_progress(const struct answer_frame *f, uint32_t *done,
				 uint32_t *total);
int answer_read_end(const struct answer_frame *f);

#endif
