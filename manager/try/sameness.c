/* sameness.c - compares what two runs did: exit code, output, and the files named */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager/try/trial.h"

const char trial_standard_error[] = "standard error";

static bool same_bytes(int a, int b)
{
	char x[65536], y[65536];
	struct stat s, t;
	off_t at = 0;

	if (fstat(a, &s) < 0 || fstat(b, &t) < 0 || s.st_size != t.st_size)
		return false;
	while (at < s.st_size) {
		ssize_t n = pread(a, x, sizeof(x), at);

		if (n <= 0 || pread(b, y, (size_t)n, at) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
		at += n;
	}
	return true;
}

bool trial_did_same(const struct trial *t, const struct keeper *k, char how[128])
{
	const struct keeper_result *a = t->reference.result, *b = k->result;
	char text[128] = "";

	if (a->status != b->status)
		(void)snprintf(text, sizeof(text), "exit code %d instead of %d", b->status,
			       a->status);	/* fits */
	else if (!same_bytes(t->reference.out, k->out))
		(void)snprintf(text, sizeof(text), "standard output");
	for (unsigned i = 0; !*text && i < t->o->noutput; i++)
		if (a->there[i] != b->there[i] ||
		    (a->there[i] && !digest_equal(&a->digest[i], &b->digest[i])))
			(void)snprintf(text, sizeof(text), "file '%.100s'", t->o->output[i]);
	if (!*text && !t->errors_differ && !same_bytes(t->reference.error, k->error))
		(void)snprintf(text, sizeof(text), "%s", trial_standard_error);
	if (how && *text)
		memcpy(how, text, sizeof(text));
	return !*text;
}
