/* place.h - a private folder with a program, a generation of it and a store, for tests of
 * swaps */
#ifndef TESTS_UNIT_PLACE_H
#define TESTS_UNIT_PLACE_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install.h"
#include "manager/parent/install_file.h"
#include "manager/parent/install_recover.h"
#include "manager/parent/ledger.h"

#ifndef PLACE_ROOT
#define PLACE_ROOT "/var/tmp"
#endif

/* A private folder with bin/prog (the original), gen (the generation) and store/. */
struct place {
	char root[64], dir[80], path[96], gen[80], store[80];
	struct digest original, generation;
	int originals_fd, ledger_fd, generation_fd;
	int fds;		/* that were open before */
	struct names names;		/* further ones that requests tell of; none at first */
	char twin[96], other[80], third[96];
};

static const char old_text[] = "#!/bin/sh\necho old\n",
		  new_text[] = "#!/bin/sh\necho new, longer\n";

static inline void write_bytes(const char *path, struct bytes b, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b.p, b.n), b.n);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static inline void write_file(const char *path, const char *text, mode_t mode)
{
	write_bytes(path, (struct bytes){ (const uint8_t *)text, strlen(text) }, mode);
}

static inline struct digest digest_path(const char *path)
{
	struct digest d;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(digest_fd(fd, &d, NULL), 0);
	close(fd);
	return d;
}

static inline int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = -2;		/* . and .. */

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static inline void place_fill(struct place *p)
{
	const struct timespec times[2] = { { 1000000000, 5 }, { 1111111111, 222222222 } };
	struct err err;

	p->fds = entries("/proc/self/fd");
	(void)snprintf(p->dir, sizeof(p->dir), "%s/bin", p->root);
	(void)snprintf(p->path, sizeof(p->path), "%s/prog", p->dir);
	(void)snprintf(p->gen, sizeof(p->gen), "%s/gen", p->root);
	(void)snprintf(p->store, sizeof(p->store), "%s/store", p->root);
	assert_int_equal(mkdir(p->dir, 0755), 0);
	assert_int_equal(mkdir(p->store, 0755), 0);
	write_file(p->path, old_text, 0751);
	assert_int_equal(utimensat(AT_FDCWD, p->path, times, 0), 0);
	write_file(p->gen, new_text, 0600);
	p->original = digest_path(p->path);
	p->generation = digest_path(p->gen);
	p->originals_fd = install_open_originals(p->store, &err);
	assert_true(p->originals_fd >= 0);
	p->ledger_fd = ledger_open(p->store, &err);
	assert_true(p->ledger_fd >= 0);
	p->generation_fd = open(p->gen, O_RDONLY);
	assert_true(p->generation_fd >= 0);
}

static inline struct place place_new(void)
{
	struct place p = { .root = PLACE_ROOT "/morph-install-XXXXXX" };

	assert_non_null(mkdtemp(p.root));
	assert_int_equal(chmod(p.root, 0755), 0);
	place_fill(&p);
	return p;
}

static inline int place_remove(const char *path, const struct stat *st, int kind,
			       struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* A folder and all in it: as `rm -rf`, but tests of faults make thousands of them. */
static inline void remove_all(const char *dir)
{
	assert_int_equal(nftw(dir, place_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Whatever was done there, no descriptor is left open. */
static inline void place_free(struct place *p)
{
	close(p->originals_fd);
	close(p->ledger_fd);
	close(p->generation_fd);
	assert_int_equal(entries("/proc/self/fd"), p->fds);
	remove_all(p->root);
}

/* bin/prog is bin/twin, too, which whoever looks into the folder finds, and other/third. */
static inline struct place place_with_names(void)
{
	struct place p = place_new();

	(void)snprintf(p.twin, sizeof(p.twin), "%s/twin", p.dir);
	(void)snprintf(p.other, sizeof(p.other), "%s/other", p.root);
	(void)snprintf(p.third, sizeof(p.third), "%s/third", p.other);
	assert_int_equal(link(p.path, p.twin), 0);
	assert_int_equal(mkdir(p.other, 0755), 0);
	assert_int_equal(link(p.path, p.third), 0);
	assert_int_equal(names_add(&p.names, p.third), 0);
	return p;
}

static inline struct install_request request_of(const struct place *p)
{
	return (struct install_request){
		.path = p->path, .expected = p->original, .original = p->original,
		.generation = p->generation, .generation_fd = p->generation_fd,
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd, .names = &p->names,
	};
}

static inline struct restore_request restore_of(const struct place *p)
{
	return (struct restore_request){
		.path = p->path, .expected = p->generation, .original = p->original,
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd,
	};
}

static inline void place_told(void *ctx, const struct install_recovered *r)
{
	struct install_recovered *out = ctx;

	assert_int_equal(out->outcome, INSTALL_NOTHING);	/* there is one at most */
	*out = *r;
}

/* Recovery where no more than one operation was under way; how many are stuck. */
static inline int place_recover(const struct place *p, struct install_recovered *out,
				struct err *err)
{
	*out = (struct install_recovered){ .outcome = INSTALL_NOTHING };
	return install_recover(p->originals_fd, place_told, out, err);
}

/* What the request asks for; ctx is the place. */
static inline int do_install(void *ctx)
{
	struct install_request r = request_of(ctx);

	return install_generation(&r, NULL);
}

static inline int do_restore(void *ctx)
{
	struct restore_request r = restore_of(ctx);

	return install_restore(&r, NULL);
}

static inline int do_recover(void *ctx)
{
	const struct place *p = ctx;
	struct install_recovered done;

	return place_recover(p, &done, NULL);
}

static inline bool holds(const char *path, const struct digest *d)
{
	struct digest got = digest_path(path);

	return digest_equal(&got, d);
}

#endif
