/* work_share.c - whose use may show in a layout: whose processes they are, and whether the
 * policy lets a module be laid out for what is known of it (policy/share.h)
 *
 * A process is known by its number and the time at which it began, as /proc has them.  That
 * time counts what the machine slept and those of samples do not: what it slept so far is
 * taken off, which is right for processes that began since it slept last.
 *
 * Tested by tests/unit/manager/work/test_share.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/procstat.h"
#include "manager/samples/userset.h"
#include "manager/store/ingest.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/rule.h"
#include "policy/share.h"

enum { FIRST_PERSON = 1000, NOBODY = 65534, TICK_NS = 10000000 };

static_assert((int)SHARE_SYSTEM == (int)USERSET_SYSTEM && SHARE_UNKNOWN == USERSET_UNKNOWN,
	      "the same numbers stand for them");

/* A short file of the process as text; false: it cannot be read. */
static bool read_proc(const char *root, uint32_t pid, const char *name, char *out, size_t n)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/%s", root, pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t k = read(fd, out, n - 1);
	int e = errno;
	close(fd);
	errno = e;
	if (k <= 0)
		return false;
	out[k] = '\0';
	return true;
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_gettime(clock, &t);		/* cannot fail for these */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* By CLOCK_MONOTONIC, as in the spool; false: it does not stand there. */
static bool began_ns(const char *stat, uint64_t *out)
{
	struct procstat process;
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t boot = ns_of(CLOCK_BOOTTIME), mono = ns_of(CLOCK_MONOTONIC);

	if (hz <= 0 || !procstat_parse(stat, &process))
		return false;
	uint64_t ns = process.start * (UINT64_C(1000000000) / (uint64_t)hz);
	uint64_t slept = boot > mono ? boot - mono : 0;
	*out = ns > slept ? ns - slept : 0;
	return true;
}

int work_whose(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid)
{
	const struct work *w = ctx;
	const char *root = w->options->host;
	char text[4096];
	uint64_t began;
	unsigned real;

	if (!read_proc(root, pid, "stat", text, sizeof(text)))
		return errno == ENOENT || errno == ESRCH ? -1 : 0;
	if (!began_ns(text, &began) || began > before_ns + TICK_NS)
		return -1;			/* another one has its number by now */
	if (!read_proc(root, pid, "status", text, sizeof(text)))
		return 0;
	const char *line = strstr(text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %u", &real) != 1)
		return 0;
	if (real < FIRST_PERSON || real == NOBODY) {
		*uid = USERSET_SYSTEM;
		return 1;
	}
	/* Numbers that somebody made up for himself (subordinate ones) are no people. */
	if (!getpwuid(real))
		return 0;
	*uid = real;
	return 1;
}

/* What the profile has beyond that is of somebody. */
static void add_unknown(double samples, struct share_use *use, uint32_t *n)
{
	double known = 0;

	for (uint32_t i = 0; i < *n; i++)
		known += use[i].samples;
	if (samples - known >= 1)
		use[(*n)++] = (struct share_use){ SHARE_UNKNOWN, samples - known };
}

int work_share(struct work *w, const struct store_module *m, const struct policy *p,
	       struct share *out, struct err *err)
{
	struct work_whose whose;

	*out = (struct share){ .enough = true };
	if (p->share_layouts <= 1)
		return 0;
	if (work_whose_all(w, m, p, &whose, err) < 0)
		return -1;
	whose.use = memory_grow(whose.use, whose.n + (size_t)1, sizeof(*whose.use));
	add_unknown(whose.samples, whose.use, &whose.n);
	bool *agreed = memory_grow(NULL, whose.n, sizeof(*agreed));
	for (uint32_t i = 0; i < whose.n; i++)
		agreed[i] = whose.use[i].uid != SHARE_UNKNOWN &&
			    rule_has_agreed(p, whose.use[i].uid);
	*out = share_judge(whose.use, agreed, whose.n, m->owner, p->share_layouts);
	free(agreed);
	free(whose.use);
	return 0;
}

int work_apply_share(struct work *w, struct err *err)
{
	bool on = policy_asks_whose(w->policy);
	const struct userset_source source = { work_whose, w };

	ingest_whose(w->ingest, &source, on);
	w->asks_whose = on;
	return on ? 0 : store_whose_clear(w->store, err);
}
