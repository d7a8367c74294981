#include "manager/parent/install_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"

static const char name[] = "journal", name_new[] = "journal.new";

enum { TEXT_MAX = PATH_MAX + 512 };

/* Appends the checksum line. */
static size_t seal(char text[TEXT_MAX], size_t n)
{
	struct digest sum = digest_of((struct bytes){ (const uint8_t *)text, n });
	char hex[65];

	digest_hex(&sum, hex);
	return n + (size_t)snprintf(text + n, TEXT_MAX - n, "sum %s\n", hex);
}

int install_journal_write(int originals, const struct install_journal *j, struct err *err)
{
	char text[TEXT_MAX], from[65], to[65];

	if (strchr(j->path, '\n'))
		return err_set(err, ERR_REFUSED, "its path has a line break");
	digest_hex(&j->from, from);
	digest_hex(&j->to, to);
	size_t n =
		(size_t)snprintf(text, sizeof(text),
				 "morph-journal 1\nfrom %s\nto %s\n"
				 "directory %" PRIu64 " %" PRIu64 "\ntemporary %s\npath %s\n",
				 from, to, j->dev, j->inode, j->temporary, j->path);
	n = seal(text, n);

	int fd = openat(originals, name_new,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, ERR_SYS, "journal: open: %s", strerror(errno));
	int rc = io_write_all(fd, text, n, err);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_set(err, ERR_SYS, "fsync: %s", strerror(errno));
	close(fd);
	if (rc == 0 && (renameat(originals, name_new, originals, name) < 0 ||
			fsync(originals) < 0))
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	return rc < 0 ? err_wrap(err, "journal") : 0;
}

/* The rest of the line that begins with `key` at *at; the line break becomes an end. */
static char *line(char **at, const char *key)
{
	size_t n = strlen(key);
	char *value = *at, *end = strchr(value, '\n');

	if (!end || strncmp(value, key, n) != 0)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return value + n;
}

static int parse(char *text, size_t n, struct install_journal *out)
{
	const size_t sum_len = 4 + 64 + 1;
	struct install_journal j = { 0 };
	struct digest told, sum;
	char *at = text + n - (n < sum_len ? n : sum_len), *value;

	value = line(&at, "sum ");
	if (!value || *at || digest_from_hex(value, &told) < 0)
		return -1;
	sum = digest_of((struct bytes){ (const uint8_t *)text, n - sum_len });
	if (!digest_equal(&sum, &told))
		return -1;
	at = text;
	if (!line(&at, "morph-journal 1") ||
	    !(value = line(&at, "from ")) || digest_from_hex(value, &j.from) < 0 ||
	    !(value = line(&at, "to ")) || digest_from_hex(value, &j.to) < 0 ||
	    !(value = line(&at, "directory ")) ||
	    sscanf(value, "%" SCNu64 " %" SCNu64, &j.dev, &j.inode) != 2 ||
	    !(value = line(&at, "temporary ")) || strlen(value) != TEMPORARY_LEN ||
	    strchr(value, '/') || strncmp(value, ".morph-", 7) != 0)
		return -1;
	memcpy(j.temporary, value, TEMPORARY_LEN + 1);
	value = line(&at, "path ");
	if (!value || strlen(value) >= sizeof(j.path))
		return -1;
	memcpy(j.path, value, strlen(value) + 1);
	*out = j;
	return 0;
}

int install_journal_read(int originals, struct install_journal *out, struct err *err)
{
	char text[TEXT_MAX + 1];
	int fd = openat(originals, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, ERR_SYS, "journal: open: %s", strerror(errno));
	do
		n = read(fd, text, TEXT_MAX);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n < 0)
		return err_set(err, ERR_SYS, "journal: read: %s", strerror(errno));
	text[n] = '\0';
	if (strlen(text) != (size_t)n || parse(text, (size_t)n, out) < 0)
		return err_set(err, ERR_INPUT, "originals/journal: damaged");
	return 1;
}

int install_journal_remove(int originals, struct err *err)
{
	if ((unlinkat(originals, name, 0) < 0 && errno != ENOENT) || fsync(originals) < 0)
		return err_set(err, ERR_SYS, "journal: unlink: %s", strerror(errno));
	return 0;
}

int install_journal_set_aside(int originals, char kept[JOURNAL_KEPT_LEN + 1], struct err *err)
{
	static const char first[JOURNAL_KEPT_LEN + 1] = "journal.damaged-1";
	unsigned flags = RENAME_NOREPLACE;

	memcpy(kept, first, sizeof(first));
	for (char n = '1'; n <= '9'; n++) {
		kept[JOURNAL_KEPT_LEN - 1] = n;
		if (n == '9')
			flags = 0;	/* so many tell no more than eight do */
		if (renameat2(originals, name, originals, kept, flags) == 0)
			break;
		if (errno != EEXIST)
			return err_set(err, ERR_SYS, "journal: rename: %s", strerror(errno));
	}
	return fsync(originals) < 0 ? err_set(err, ERR_SYS, "fsync: %s", strerror(errno)) : 0;
}
