/* ctl_packages.c - morphctl verify --packages: are the originals of rewritten files what
 * packages delivered?
 *
 * dpkg -V and debsums see the generation at a path and report it as changed.  Its original is
 * what counts: the daemon tells its MD5, and dpkg's lists
 * (ROOT/var/lib/dpkg/info/PACKAGE.md5sums, one
 * "MD5  PATH" a line, PATH without the first '/') tell what was delivered.
 *
 * A path of a list may lead through a link of a merged /usr: /bin/sh is usr/bin/sh or bin/sh
 * there.  So folders are compared as what they are resolved to, for those lines only whose last
 * component is a rewritten file's.  Several packages may list a path (a diversion): it is
 * enough that one of them delivered the original.
 *
 * Tested by tests/e2e/upgrade.sh.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/say.h"
#include "lib/table.h"
#include "manager/ctl/ctl.h"

static const char suffix[] = ".md5sums";
static const size_t suffix_len = sizeof(suffix) - 1;

enum { CELL_PATH, CELL_GENERATION, CELL_MD5, CELL_TROUBLE, NCELL };

struct rewritten {
	const char *path, *name, *generation, *md5, *trouble;	/* in the daemon's table */
	/* the one that delivered it, or the last that lists it; "" none */
	char package[256];
	bool listed, same;
};

struct check {
	const char *root;		/* without a '/' at its end */
	struct rewritten *file;		/* sorted by name */
	int n;
};

static int by_name(const void *a, const void *b)
{
	const struct rewritten *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int take_checksums(struct check *c, const struct table *t, struct err *err)
{
	if (table_ncol(t) != NCELL || strcmp(table_title(t), "checksums") != 0)
		return err_set(err, ERR_INPUT, "the daemon's answer is no list of checksums");
	c->file = calloc((size_t)table_nrow(t) + 1, sizeof(*c->file));
	if (!c->file)
		return err_set(err, ERR_SYS, "out of memory");
	for (int i = 0; i < table_nrow(t); i++) {
		const char *path = table_cell(t, i, CELL_PATH), *slash = strrchr(path, '/');

		c->file[c->n++] = (struct rewritten){
			.path = path, .name = slash ? slash + 1 : path,
			.generation = table_cell(t, i, CELL_GENERATION),
			.md5 = table_cell(t, i, CELL_MD5),
			.trouble = table_cell(t, i, CELL_TROUBLE),
		};
	}
	if (c->n)
		qsort(c->file, (size_t)c->n, sizeof(*c->file), by_name);
	return 0;
}

/* Does the listed path lead to this file? */
static bool leads_to(const struct check *c, const char *listed, const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(listed, '/'), *last = strrchr(path, '/');

	if (snprintf(dir, sizeof(dir), "%s/%.*s", c->root, slash ? (int)(slash - listed) : 0,
		     listed) >= (int)sizeof(dir))
		return false;
	char *real = realpath(dir, NULL);
	size_t n = last ? (size_t)(last - path) : 0;
	bool same = real && strncmp(real, path, n) == 0 && (!real[n] || (n == 0 && !real[1]));

	free(real);
	return same;
}

static void take_line(struct check *c, const char *package, const char *line)
{
	enum { MD5_LEN = 32, PATH_AT = MD5_LEN + 2 };
	size_t n = strcspn(line, "\n");
	char path[PATH_MAX];

	if (n <= PATH_AT || n - PATH_AT >= sizeof(path) || line[MD5_LEN] != ' ')
		return;
	/* fits */
	(void)snprintf(path, sizeof(path), "%.*s", (int)(n - PATH_AT), line + PATH_AT);
	const char *slash = strrchr(path, '/');
	struct rewritten key = { .name = slash ? slash + 1 : path };
	struct rewritten *f = bsearch(&key, c->file, (size_t)c->n, sizeof(key), by_name);
	if (!f)
		return;
	while (f > c->file && strcmp(f[-1].name, key.name) == 0)
		f--;
	for (; f < c->file + c->n && strcmp(f->name, key.name) == 0; f++) {
		if (f->same || !leads_to(c, path, f->path))
			continue;
		f->listed = true;
		f->same = strncmp(line, f->md5, MD5_LEN) == 0 && strlen(f->md5) == MD5_LEN;
		/* dpkg's are shorter */
		(void)snprintf(f->package, sizeof(f->package), "%s", package);
	}
}

static int read_list(struct check *c, const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX], package[256], *line = NULL;
	size_t size = 0;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return err_set(err, ERR_INPUT, "'%s': path too long", name);
	FILE *f = fopen(path, "re");
	if (!f)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	(void)snprintf(package, sizeof(package), "%.*s", (int)(strlen(name) - suffix_len),
		       name);
	while (getline(&line, &size, f) >= 0)
		take_line(c, package, line);
	int rc = ferror(f) ? err_set(err, ERR_SYS, "'%s': read failed", path) : 0;
	free(line);
	(void)fclose(f);		/* only read */
	return rc;
}

static int read_lists(struct check *c, struct err *err)
{
	char dir[PATH_MAX];
	int rc = 0;

	if (snprintf(dir, sizeof(dir), "%s/var/lib/dpkg/info", c->root) >= (int)sizeof(dir))
		return err_set(err, ERR_USAGE, "'%s': path too long", c->root);
	DIR *d = opendir(dir);
	if (!d)
		return err_set(err, ERR_SYS, "'%s': no lists of dpkg: %s", dir,
			       strerror(errno));
	for (struct dirent *e; rc == 0 && (e = readdir(d)); ) {
		size_t n = strlen(e->d_name);

		if (n > suffix_len && strcmp(e->d_name + n - suffix_len, suffix) == 0)
			rc = read_list(c, dir, e->d_name, err);
	}
	(void)closedir(d);		/* only read */
	return rc;
}

/* 1 when an original is not what was delivered. */
static int report(const struct check *c, struct ctl_tables *out)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "generation", TABLE_UINT }, { "package", TABLE_TEXT },
		{ "original", TABLE_TEXT },
	};
	int code = 0;

	out->whole = true;
	out->at[out->n++] = table_new("packages", 4, col);
	for (int i = 0; i < c->n; i++) {
		const struct rewritten *f = &c->file[i];
		const char *cell[] = { f->path, f->generation, f->package,
				       f->trouble[0] ? f->trouble
				       : f->same     ? "as delivered"
				       : f->listed   ? "DIFFERS"
						     : "in no package" };

		if (f->trouble[0] || (f->listed && !f->same))
			code = 1;
		table_row_text(out->at[0], cell);
	}
	return code;
}

static int verify_packages(const struct ctl *ctl, const char *root)
{
	const char *request = "checksums";
	struct ctl_tables answer, shown = { 0 };
	struct check c = { .root = strcmp(root, "/") == 0 ? "" : root };
	struct err err;
	int code = ctl_fetch(ctl, 1, &request, &answer);

	if (code == 0 && answer.n == 1) {
		if (take_checksums(&c, answer.at[0], &err) < 0 || read_lists(&c, &err) < 0) {
			say_line(stderr, "morphctl: %s", err.text);
			code = err_exit_code(&err);
		} else {
			code = report(&c, &shown);
			if (!c.n)
				say_line(stderr, "no module has a generation");
		}
	}
	code = ctl_print(ctl, &shown, code);
	free(c.file);
	ctl_tables_free(&answer);
	return code;
}

int ctl_verify(const struct ctl *ctl, int argc, char **argv)
{
	static const char option[] = "--packages";
	const size_t n = sizeof(option) - 1;

	if (argc == 2 && strncmp(argv[1], option, n) == 0) {
		if (!argv[1][n])
			return verify_packages(ctl, "/");
		if (argv[1][n] == '=' && argv[1][n + 1] == '/')
			return verify_packages(ctl, argv[1] + n + 1);
		return ctl_usage(ctl);
	}
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], option, n) == 0) {
			say_line(stderr, "morphctl verify: %s stands alone", option);
			return ctl_usage(ctl);
		}
	return ctl_ask_paths(ctl, argc, argv);
}
