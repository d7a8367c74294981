/* Messages between roles and the control socket's requests and answers, from any bytes.  The
 * first byte chooses who reads. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "lib/table.h"
#include "manager/work/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void messages(struct bytes b, unsigned who)
{
	static const enum msg_role way[][2] = {
		{ MSG_ROLE_MANAGER, MSG_ROLE_PARENT }, { MSG_ROLE_MONITOR, MSG_ROLE_PARENT },
		{ MSG_ROLE_PARENT, MSG_ROLE_MANAGER }, { MSG_ROLE_PARENT, MSG_ROLE_MONITOR },
		{ MSG_ROLE_PARENT, MSG_ROLE_SHARE }, { MSG_ROLE_SHARE, MSG_ROLE_PARENT },
	};
	struct msg m = { 0 };
	struct wr w = { 0 };
	struct err err;

	if (msg_decode(b, way[who][0], way[who][1], &m, &err) < 0)
		return;
	msg_encode(&m, &w);		/* asserts that the table permits what was let in */
	if (w.n != b.n || memcmp(w.p, b.p, w.n) != 0)
		abort();
	wr_free(&w);
}

static void request(struct bytes b)
{
	const char *argv[ANSWER_MAX_ARGS];
	size_t sum = 0;
	struct err err;
	uint64_t used;
	int argc;

	if (request_read(b, ANSWER_MAX_REQUEST, &argc, argv, &used, &err) <= 0)
		return;
	for (int i = 0; i < argc; i++)
		sum += strlen(argv[i]) + 1;
	if (used > b.n || sum != used - 6)
		abort();
}

static void answer(struct bytes b)
{
	struct table *t = NULL;
	struct answer_frame f;
	struct err err;
	uint64_t used;

	while (answer_read(b, &f, &used, &err) > 0) {
		if (f.kind == ANSWER_TABLE) {
			table_free(t);
			t = answer_read_table(&f, &err);
		} else if (f.kind == ANSWER_ROW && t) {
			(void)answer_read_row(&f, t, &err);	/* refusing is fine */
		} else if (f.kind == ANSWER_END) {
			(void)answer_read_end(&f);
		} else {
			(void)strlen(answer_read_text(&f));
		}
		b = bytes_at(b, used, b.n - used);
	}
	table_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	/* A copy of its own size, so that reading behind the end is seen. */
	uint8_t *copy = malloc(size - 1 ? size - 1 : 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	struct bytes b = { copy, size - 1 };
	unsigned who = data[0] % 8;		/* 4 and 5 are those before there were more */
	if (who < 4 || who > 5)
		messages(b, who < 4 ? who : who - 2);
	else if (who == 4)
		request(b);
	else
		answer(b);
	free(copy);
	return 0;
}
