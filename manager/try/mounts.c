/* mounts.c - reads lines of /proc/self/mountinfo
 *
 * "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": the fifth
 * word is the path, in which blanks, tabs, line feeds and backslashes are octal escapes; the
 * word behind " - " is the type.
 */
#include "manager/try/mounts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"

static bool octal(const char *p)
{
	return p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
	       p[3] >= '0' && p[3] <= '7';
}

static char *unescape(const char *p, size_t n)
{
	char *out = memory_new(n + 1, 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (i + 3 < n && octal(p + i)) {
			out[k++] = (char)((p[i + 1] - '0') * 64 + (p[i + 2] - '0') * 8 +
					  (p[i + 3] - '0'));
			i += 3;
		} else {
			out[k++] = p[i];
		}
	}
	return out;
}

static const char *word(const char *line, int which)
{
	for (int i = 0; line && i < which; i++) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	return line;
}

static void parse_line(const char *line, struct mounts *out)
{
	const char *at = word(line, 4), *dash = at ? strstr(at, " - ") : NULL;

	if (!dash || *at != '/')
		return;
	const char *type = dash + 3;
	out->item = memory_grow(out->item, out->n + 1, sizeof(*out->item));
	out->item[out->n++] = (struct mounts_item){
		.at = unescape(at, strcspn(at, " ")),
		.type = memory_need(strndup(type, strcspn(type, " "))),
	};
}

void mounts_parse(const char *text, struct mounts *out)
{
	*out = (struct mounts){ 0 };
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = memory_need(strndup(text, n));

		parse_line(line, out);
		free(line);
		text += n + (text[n] == '\n');
	}
}

void mounts_free(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->item[i].at);
		free(m->item[i].type);
	}
	free(m->item);
	*m = (struct mounts){ 0 };
}

const char *mounts_type(const struct mounts *m, const char *path)
{
	for (size_t i = m->n; i-- > 0;)
		if (strcmp(m->item[i].at, path) == 0)
			return m->item[i].type;
	return NULL;
}

bool mounts_below(const struct mounts *m, const char *path)
{
	size_t n = strcmp(path, "/") == 0 ? 0 : strlen(path);

	for (size_t i = 0; i < m->n; i++) {
		const char *at = m->item[i].at;

		if (strncmp(at, path, n) == 0 && at[n] == '/' && at[n + 1])
			return true;
	}
	return false;
}

bool mounts_is_ordinary(const char *type)
{
	static const char *const made_up[] = {
		"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "mqueue", "debugfs",
		"tracefs", "securityfs", "bpf", "pstore", "configfs", "fusectl", "hugetlbfs",
		"binfmt_misc", "autofs", "nsfs", "rpc_pipefs", "efivarfs", "selinuxfs", NULL
	};

	for (int i = 0; made_up[i]; i++)
		if (strcmp(type, made_up[i]) == 0)
			return false;
	return true;
}
