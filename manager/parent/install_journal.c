/* install_journal.c - the journals' format: written, read, listed, removed, set aside
 *
 * What is done with a journal (when it is written, and how a swap that was interrupted is
 * finished or undone) is in install.c and install_recover.c.
 *
 * Tested by tests/unit/manager/parent/test_install_journal.c and test_faults.c.
 */
#include "manager/parent/install_journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/folders.h"
#include "manager/parent/sumtext.h"

static const char name_new[] = "journal.new", name_before[] = "journal";

enum { LETTERS = 6 };

void install_journal_name(const struct install_journal *j, char out[JOURNAL_LEN + 1])
{
	(void)snprintf(out, JOURNAL_LEN + 1, "journal-%.*s", LETTERS,
		       j->temporary + TEMPORARY_LEN - LETTERS);		/* fits */
}

struct install_journal_name install_journal_nth(const struct install_journal *j, unsigned i)
{
	struct install_journal_name name = { .path = j->path, .at = { j->dev, j->inode, "" } };

	if (i)
		return (struct install_journal_name){ names_at(&j->also, i - 1),
						      j->also_at[i - 1] };
	memcpy(name.at.temporary, j->temporary, sizeof(name.at.temporary));
	return name;
}

bool install_journal_is_of(const struct install_journal *j, const char *path)
{
	return strcmp(j->path, path) == 0 || names_have(&j->also, path);
}

static void format(const struct install_journal *j, struct sumtext *out)
{
	char from[65], to[65];
	bool has_owner = j->owner != JOURNAL_ANYBODY;
	int version = !has_owner ? 1 : j->also.n ? 3 : 2;

	digest_hex(&j->from, from);
	digest_hex(&j->to, to);
	out->n = 0;
	sumtext_add(out, "morph-journal %d\nfrom %s\nto %s\n", version, from, to);
	if (has_owner)
		sumtext_add(out, "owner %" PRIu32 "\n", j->owner);
	sumtext_add(out, "directory %" PRIu64 " %" PRIu64 "\ntemporary %s\npath %s\n", j->dev,
		   j->inode, j->temporary, j->path);
	for (unsigned i = 0; i < j->also.n; i++) {
		const struct install_journal_at *at = &j->also_at[i];

		sumtext_add(out, "also %" PRIu64 " %" PRIu64 " %s %s\n", at->dev, at->inode,
			    at->temporary, names_at(&j->also, i));
	}
	sumtext_close(out);
}

int install_journal_write(int originals, const struct install_journal *j, struct err *err)
{
	char name[JOURNAL_LEN + 1];
	struct sumtext s;

	if (strchr(j->path, '\n') ||
	    memchr(j->also.text, '\n', j->also.bytes))
		return err_set(err, ERR_REFUSED, "its path has a line break");
	format(j, &s);
	install_journal_name(j, name);
	if (sumtext_write(originals, name, name_new, &s, err) < 0)
		return err_wrap(err, "journal");
	return 0;
}

static bool is_temporary(const char *value)
{
	return value && strlen(value) == TEMPORARY_LEN && strncmp(value, ".morph-", 7) == 0 &&
	       strspn(value + 7, "0123456789abcdefghijklmnopqrstuv") == LETTERS;
}

/* The lines of further names, as many as there are. */
static int parse_also(char **at, struct install_journal *j)
{
	for (char *value; (value = sumtext_line(at, "also ")); ) {
		struct install_journal_at *to = &j->also_at[j->also.n];
		char temporary[TEMPORARY_LEN + 1];
		unsigned before = j->also.n;
		int path = 0;

		if (before == NAMES_MOST - 1 ||
		    sscanf(value, "%" SCNu64 " %" SCNu64 " %13s %n", &to->dev, &to->inode,
			   temporary, &path) != 3 || !path || !is_temporary(temporary) ||
		    folders_spelled(value + path, NULL) < 0 ||
		    names_add(&j->also, value + path) < 0 || j->also.n == before)
			return -1;
		memcpy(to->temporary, temporary, sizeof(temporary));
	}
	return j->also.n ? 0 : -1;
}

/* The lines, but for the last one; what sscanf() is lenient about is found by writing it
 * again. */
static int parse(char *at, struct install_journal *out)
{
	struct install_journal j = { .owner = JOURNAL_ANYBODY };
	const char *value;
	bool several = sumtext_line(&at, "morph-journal 3") != NULL;

	if (several || sumtext_line(&at, "morph-journal 2"))
		j.owner = 0;
	else if (!sumtext_line(&at, "morph-journal 1"))
		return -1;
	if (!(value = sumtext_line(&at, "from ")) || digest_from_hex(value, &j.from) < 0 ||
	    !(value = sumtext_line(&at, "to ")) || digest_from_hex(value, &j.to) < 0)
		return -1;
	if (j.owner == 0 && (!(value = sumtext_line(&at, "owner ")) ||
			     sscanf(value, "%" SCNu32, &j.owner) != 1))
		return -1;
	if (!(value = sumtext_line(&at, "directory ")) ||
	    sscanf(value, "%" SCNu64 " %" SCNu64, &j.dev, &j.inode) != 2 ||
	    !is_temporary(value = sumtext_line(&at, "temporary ")))
		return -1;
	memcpy(j.temporary, value, TEMPORARY_LEN + 1);
	value = sumtext_line(&at, "path ");
	if (!value || strlen(value) >= sizeof(j.path) || folders_spelled(value, NULL) < 0)
		return -1;
	memcpy(j.path, value, strlen(value) + 1);
	if (several && parse_also(&at, &j) < 0)
		return -1;
	*out = j;
	return 0;
}

int install_journal_read(int originals, const char *name, struct install_journal *out,
			 struct err *err)
{
	struct sumtext s, copy, again;
	struct install_journal j;
	char right[JOURNAL_LEN + 1];
	int rc = sumtext_read(originals, name, &s, err);

	if (rc < 0)
		return err_wrap(err, "originals");
	if (rc == 0)
		return 0;
	copy = s;
	if (parse(copy.text, &j) < 0)
		return err_set(err, ERR_INPUT, "originals/%s: damaged", name);
	format(&j, &again);
	install_journal_name(&j, right);
	if (!sumtext_same(&s, &again) ||
	    strcmp(name, j.owner == JOURNAL_ANYBODY ? name_before : right) != 0)
		return err_set(err, ERR_INPUT, "originals/%s: damaged", name);
	*out = j;
	return 1;
}

int install_journal_remove(int originals, const char *name, struct err *err)
{
	if ((unlinkat(originals, name, 0) < 0 && errno != ENOENT) || fsync(originals) < 0)
		return err_set(err, ERR_SYS, "journal: unlink: %s", strerror(errno));
	return 0;
}

int install_journal_set_aside(int originals, const char *name, char kept[JOURNAL_KEPT_LEN + 1],
			      struct err *err)
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

static int is_journal(const struct dirent *d)
{
	return strcmp(d->d_name, name_before) == 0 ||
	       (strlen(d->d_name) == JOURNAL_LEN && strncmp(d->d_name, "journal-", 8) == 0);
}

int install_journal_list(int originals, char ***out, struct err *err)
{
	struct dirent **list;
	int n = scandirat(originals, ".", &list, is_journal, alphasort);

	if (n < 0)
		return err_set(err, ERR_SYS, "originals: %s", strerror(errno));
	char **name = calloc((size_t)n + 1, sizeof(*name));
	for (int i = 0; i < n; i++) {
		if (name)
			name[i] = strdup(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	*out = name;
	return name ? n : err_set(err, ERR_SYS, "out of memory");
}
