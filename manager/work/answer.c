/* answer.c - requests and answers: writing them, and reading what the other side sent
 *
 * See answer.h for the form.  Any bytes are read in tests/fuzz/fuzz_msg.c.
 */
#include "manager/work/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "lib/table.h"

/* --- requests --- */

int request_write(struct wr *out, int argc, const char *const *argv, struct err *err)
{
	size_t start = out->n;

	if (argc < 1 || argc > ANSWER_MAX_ARGS)
		return err_set(err, ERR_USAGE, "more than %d arguments", ANSWER_MAX_ARGS);
	wr_u32(out, 0);
	wr_u8(out, ANSWER_VERSION);
	wr_u8(out, (uint8_t)argc);
	for (int i = 0; i < argc; i++)
		wr_str(out, argv[i]);
	size_t n = out->n - start - 4;
	if (n > ANSWER_MAX_PROFILE) {
		out->n = start;
		return err_set(err, ERR_USAGE, "arguments of more than %d bytes",
			       ANSWER_MAX_PROFILE);
	}
	wr_put_u32(out, start, (uint32_t)n);
	return 0;
}

int request_read(struct bytes b, size_t max, int *argc, const char *argv[ANSWER_MAX_ARGS],
		 uint64_t *used, struct err *err)
{
	struct rd r = rd_of(b);

	if (b.n < 4)
		return 0;
	uint32_t length = rd_u32(&r);
	if (length < 2 || length > max)
		return err_set(err, ERR_INPUT, "a request of %u bytes", length);
	if (rd_left(&r) < length)
		return 0;
	r.end = r.p + length;
	unsigned version = rd_u8(&r), count = rd_u8(&r);
	if (version != ANSWER_VERSION)
		return err_set(err, ERR_INPUT, "request version %u, expected %d", version,
			       ANSWER_VERSION);
	if (count < 1 || count > ANSWER_MAX_ARGS)
		return err_set(err, ERR_INPUT, "a request of %u arguments", count);
	for (unsigned i = 0; i < count; i++)
		argv[i] = rd_str(&r);
	if (r.bad || rd_left(&r))
		return err_set(err, ERR_INPUT, "a request with damaged arguments");
	*argc = (int)count;
	*used = 4 + (uint64_t)length;
	return 1;
}

/* --- writing --- */

static size_t begin(struct answer *to, enum answer_kind kind)
{
	size_t at = to->out.n;

	wr_u32(&to->out, 0);
	wr_u8(&to->out, (uint8_t)kind);
	return at;
}

/* A frame too long for the reader is left out. */
static void end(struct answer *to, size_t at)
{
	size_t n = to->out.n - at - 4;

	if (n > ANSWER_MAX_FRAME)
		to->out.n = at;
	else
		wr_put_u32(&to->out, at, (uint32_t)n);
}

static bool is_open(const struct answer *to)
{
	return to && !to->closed;
}

enum { FOR_THE_REST = 64 << 10 };	/* what tables leave for what follows; chosen */

static void limit(struct answer *to)
{
	if (to->out.n - to->sent > ANSWER_MAX_PENDING)
		answer_close(to);
}

void answer_close(struct answer *to)
{
	wr_free(&to->out);
	to->sent = 0;
	to->closed = true;
}

void answer_table(struct answer *to, const struct table *t)
{
	int ncol = table_ncol(t);

	if (!is_open(to))
		return;
	size_t at = begin(to, ANSWER_TABLE);
	wr_str(&to->out, table_title(t));
	wr_u8(&to->out, (uint8_t)ncol);
	for (int i = 0; i < ncol; i++) {
		wr_u8(&to->out, (uint8_t)table_columns(t)[i].type);
		wr_str(&to->out, table_columns(t)[i].name);
	}
	end(to, at);
	int r = 0, nrow = table_nrow(t);
	for (; r < nrow; r++) {
		at = begin(to, ANSWER_ROW);
		for (int i = 0; i < ncol; i++)
			wr_str(&to->out, table_cell(t, r, i));
		end(to, at);
		if (to->out.n - to->sent > ANSWER_MAX_PENDING - FOR_THE_REST)
			break;
	}
	if (r < nrow) {
		to->out.n = at;
		answer_line(to, "%s: %d of %d rows do not fit into an answer and are left out",
			    table_title(t), nrow - r, nrow);
	}
	limit(to);
}

static void put_text(struct answer *to, enum answer_kind kind, const char *text)
{
	if (!is_open(to))
		return;
	size_t at = begin(to, kind);
	wr_str(&to->out, text);
	end(to, at);
	limit(to);
}

void answer_line(struct answer *to, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut line still tells */
	va_end(ap);
	put_text(to, ANSWER_LINE, text);
}

void answer_progress(struct answer *to, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	if (!is_open(to))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut line still tells */
	va_end(ap);
	size_t at = begin(to, ANSWER_PROGRESS);
	wr_u32(&to->out, to->done);
	wr_u32(&to->out, to->total);
	wr_str(&to->out, text);
	end(to, at);
	limit(to);
}

void answer_error(struct answer *to, const char *text)
{
	put_text(to, ANSWER_ERROR, text);
}

void answer_end(struct answer *to, int exit_code)
{
	if (!is_open(to))
		return;
	size_t at = begin(to, ANSWER_END);
	wr_u8(&to->out, (uint8_t)exit_code);
	end(to, at);
	limit(to);
}

/* --- reading --- */

int answer_read(struct bytes b, struct answer_frame *out, uint64_t *used, struct err *err)
{
	struct rd r = rd_of(b);

	if (b.n < 4)
		return 0;
	uint32_t length = rd_u32(&r);
	if (length < 1 || length > ANSWER_MAX_FRAME)
		return err_set(err, ERR_INPUT, "an answer's part of %u bytes", length);
	if (rd_left(&r) < length)
		return 0;
	unsigned kind = rd_u8(&r);
	if (kind < ANSWER_TABLE || kind > ANSWER_PROGRESS)
		return err_set(err, ERR_INPUT, "an answer's part of unknown kind %u", kind);
	*out = (struct answer_frame){ (enum answer_kind)kind, bytes_at(b, 5, length - 1) };
	*used = 4 + (uint64_t)length;
	return 1;
}

struct table *answer_read_table(const struct answer_frame *f, struct err *err)
{
	struct table_column col[ANSWER_MAX_COLUMNS];
	struct rd r = rd_of(f->body);
	const char *title = rd_str(&r);
	unsigned ncol = rd_u8(&r);

	if (r.bad || ncol < 1 || ncol > ANSWER_MAX_COLUMNS)
		goto damaged;
	for (unsigned i = 0; i < ncol; i++) {
		unsigned type = rd_u8(&r);

		col[i] = (struct table_column){ rd_str(&r), (enum table_type)type };
		if (r.bad || type > TABLE_FIGURE)
			goto damaged;
	}
	return table_new(title, (int)ncol, col);
damaged:
	err_set(err, ERR_INPUT, "a damaged table");
	return NULL;
}

int answer_read_row(const struct answer_frame *f, struct table *t, struct err *err)
{
	const char *cell[ANSWER_MAX_COLUMNS];
	struct rd r = rd_of(f->body);

	for (int i = 0; i < table_ncol(t); i++)
		cell[i] = rd_str(&r);
	if (r.bad || rd_left(&r))
		return err_set(err, ERR_INPUT, "a damaged row");
	table_row_text(t, cell);
	return 0;
}

const char *answer_read_text(const struct answer_frame *f)
{
	struct rd r = rd_of(f->body);
	const char *text = rd_str(&r);

	return text ? text : "";
}

const char *answer_read_progress(const struct answer_frame *f, uint32_t *done,
				 uint32_t *total)
{
	struct rd r = rd_of(f->body);

	*done = rd_u32(&r);
	*total = rd_u32(&r);
	const char *text = rd_str(&r);
	return text ? text : "";
}

int answer_read_end(const struct answer_frame *f)
{
	return f->body.n == 1 ? f->body.p[0] : 1;
}
