/* module.h - tells which module a file is, and whether its content has changed
 *
 * A mapped file is identified by device, inode and inode generation, a module by the SHA-256 of
 * its content, read through a descriptor that the privileged parent opens.  A digest that the
 * store knows as a generation of a module is that generation; one that it knows as an original
 * is generation 0.  Any other content makes the file a new module at its path, and what was
 * known of the old one is discarded.
 */
#ifndef MANAGER_STORE_MODULE_H
#define MANAGER_STORE_MODULE_H

#include <limits.h>

#include "manager/samples/attribute.h"
#include "manager/store/store.h"

struct err;
struct modules;

/* Of what is known of a module whose file is another one by now. */
enum module_passes {
	MODULE_PASSES_NOTHING,		/* it is discarded */
	MODULE_PASSES_ON,		/* to what is there now: so much of it as was given */
	MODULE_PASSES_FORMER,		/* what the version before it has left, still does */
};

/* Is a file a generation? */
enum module_made {
	MADE_NOT, MADE_KNOWN, MADE_ADOPTED,
	MADE_LATER,		/* to be asked again in MODULES_LATER_MS */
};
enum { MODULES_LATER_MS = 600000 };	/* chosen */

/* What the modules need of their user: morphd's Manager asks its parent, tests have their own.
 * All but `open`, `analyze` and `allows` may be NULL. */
struct module_services {
	/* O_RDONLY descriptor or -1 */
	int (*open)(void *ctx, const char *path, struct err *err);
	/* The pristine original that is not at its path any more; NULL: there is none. */
	int (*open_original)(void *ctx, const struct digest *original, struct err *err);
	/* A form of a generation for running processes; NULL: there is none. */
	int (*open_live)(void *ctx, const struct digest *generation, struct err *err);
	/* May mappings of files like this one name another device than fstat() does?  NULL:
	 * on those file systems that are known for it. */
	bool (*other_device)(int fd);
	/* Appends the block table of the original that `fd` holds to *table.  ERR_REFUSED:
	 * Morph will not touch this file; the reason is kept with the module. */
	int (*analyze)(void *ctx, const char *path, int fd, struct wr *table, struct err *err);
	/* Appends the edges that `states` (lib/statesample.h), all of the file in `fd`, show.
	 * If that file is a generation, `original` is a descriptor of its original, else -1.
	 * NULL: states are not interpreted. */
	int (*interpret)(void *ctx, int fd, int original, struct bytes states, struct wr *edges,
			 struct err *err);
	/* Is it worth to interpret the module's states?  NULL: always. */
	bool (*lacks)(void *ctx, const struct store_module *m);
	/* The file, of unknown content, may be a generation of which the store has no record:
	 * MADE_ADOPTED, it is shown to be one; *original, *number (0: it counts, and has none)
	 * and its block map, appended to *map.  MADE_NOT; MADE_LATER.  NULL: nobody can say. */
	enum module_made (*adopt)(void *ctx, const char *path, int fd, struct digest *original,
				  uint32_t *number, struct wr *map);
	/* Another file is at *m's path: what passes on to it; *legacy, zeroed before, is freed
	 * by who asks.  NULL: nothing does. */
	enum module_passes (*bequeath)(void *ctx, const struct store_module *m,
				       struct store_legacy *legacy);
	/* A file of that owner and size, which changed, is to be read as a whole: 0 do it now,
	 * else the milliseconds after which to ask again. */
	uint64_t (*wait_ms)(void *ctx, const char *path, uint32_t owner, uint64_t bytes);
	/* So many bytes of it are read; false: give it up. */
	bool (*go_on)(void *ctx, uint64_t bytes);
	/* What code is called that a process made, of a program that is allowed. */
	void (*made)(void *ctx, const struct madeset_question *q,
		     struct madeset_answer *answer);
	/* May samples of the file at the path be kept? */
	bool (*allows)(void *ctx, const char *path);
	void *ctx;
};

/* Keeps the store; copies *services.  Never NULL. */
struct modules *modules_new(struct store *s, const struct module_services *services);
void modules_free(struct modules *ms);		/* NULL is allowed */

enum module_look {
	MODULE_SAME,		/* as before */
	MODULE_NEW,		/* first seen */
	MODULE_CHANGED,		/* content changed other than by Morph: profile discarded */
	MODULE_SWAPPED,		/* content is another generation or the original again */
	MODULE_GONE,		/* no such file any more; *out is what was known */
	MODULE_LATER,		/* what it is now is told later; *out is what was known,
				 * but `seen` is what is there */
};

/* Looks at the path now and brings the store up to date (also refusals by ERR_REFUSED of
 * `open`).  *out is filled unless -1 is returned; out->id is 0 if GONE and never known. */
int modules_look(struct modules *ms, const char *path, enum module_look *look,
		 struct store_module *out, struct err *err);
/* After MODULE_LATER: for how long. */
uint64_t modules_wait_ms(const struct modules *ms);
/* A digest in slices between which others are served. */
int modules_digest(struct modules *ms, int fd, struct digest *out, struct err *err);
/* All modules of the store, e.g. at start.  `f` may be NULL. */
int modules_look_all(struct modules *ms,
		     void (*f)(void *ctx, enum module_look look, const struct store_module *m),
		     void *ctx, struct err *err);
/* Makes sure that a block table is in the store: 1 it is, 0 refused (m->refusal), -1 failed. */
int modules_analyze(struct modules *ms, struct store_module *m, struct err *err);
/* May a mapped file of that name be, or have been, what is at the path?  The kernel says of one
 * that is gone that it is "PATH (deleted)", and of one that a swap has taken away the name that
 * it had last, ".morph-" and more in that folder (manager/parent/install.c). */
bool modules_is_path(const char *path, const char *mapped);
/* Is the path no module's, but another name of the file of one?  Then out[] is that one's. */
bool modules_other_name(struct store *s, const char *path, char out[PATH_MAX]);
/* Which content a mapped file has, or had: 1; 0: it was never seen. */
int modules_content(struct modules *ms, const struct space_file *file, struct digest *out,
		    struct err *err);
/* The resolver for attribute_resolve(): it finds a mapped file's module, has new modules
 * analysed, and makes the address-to-block index unless an earlier file's is still kept. */
struct attribute_resolver modules_resolver(struct modules *ms);

#endif
