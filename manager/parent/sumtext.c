/* sumtext.c - text files with a checksum; see sumtext.h
 *
 * Tested by tests/unit/manager/parent/test_ledger.c, test_install.c and test_faults.c.
 */
#include "manager/parent/sumtext.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "lib/io.h"

enum { SUM_BYTES = 4 + 64 + 1 };	/* "sum ", digits, line break */

void sumtext_add(struct sumtext *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(s->text + s->n, sizeof(s->text) - s->n, fmt, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < sizeof(s->text) - s->n);
	s->n += (size_t)n;
}

static void sum_line(const char *text, size_t n, char out[SUM_BYTES + 1])
{
	struct digest sum = digest_of((struct bytes){ (const uint8_t *)text, n });
	char hex[65];

	digest_hex(&sum, hex);
	(void)snprintf(out, SUM_BYTES + 1, "sum %s\n", hex);	/* fits */
}

void sumtext_close(struct sumtext *s)
{
	char line[SUM_BYTES + 1];

	sum_line(s->text, s->n, line);
	sumtext_add(s, "%s", line);
}

bool sumtext_same(const struct sumtext *x, const struct sumtext *y)
{
	return x->n == y->n && memcmp(x->text, y->text, x->n) == 0;
}

int sumtext_write(int dir, const char *name, const char *temporary, const struct sumtext *s,
		 struct err *err)
{
	int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		return err_set(err, ERR_SYS, "open: %s", strerror(errno));
	int rc = io_write_all(fd, s->text, s->n, err);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_set(err, ERR_SYS, "fsync: %s", strerror(errno));
	close(fd);
	if (rc == 0 && renameat(dir, temporary, dir, name) < 0)
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	if (rc < 0) {
		(void)unlinkat(dir, temporary, 0);	/* the next one overwrites it */
		return -1;
	}
	return fsync(dir) < 0 ? err_set(err, ERR_SYS, "fsync: %s", strerror(errno)) : 0;
}

int sumtext_read(int dir, const char *name, struct sumtext *out, struct err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char line[SUM_BYTES + 1];
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", name, strerror(errno));
	do
		n = read(fd, out->text, SUMTEXT_MAX);
	while (n < 0 && errno == EINTR);
	int e = errno;
	close(fd);
	if (n < 0)
		return err_set(err, ERR_SYS, "'%s': read: %s", name, strerror(e));
	out->text[n] = '\0';
	out->n = (size_t)n;
	if (n < SUM_BYTES || strlen(out->text) != out->n)
		return err_set(err, ERR_INPUT, "'%s': damaged", name);
	sum_line(out->text, out->n - SUM_BYTES, line);
	if (strcmp(out->text + out->n - SUM_BYTES, line) != 0)
		return err_set(err, ERR_INPUT, "'%s': damaged", name);
	return 1;
}

char *sumtext_line(char **at, const char *key)
{
	size_t n = strlen(key);
	char *value = *at, *end = strchr(value, '\n');

	if (!end || strncmp(value, key, n) != 0)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return value + n;
}
