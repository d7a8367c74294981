/* store.h - what Morph remembers: modules, profiles, generations, history
 *
 * A directory:
 *   DIR/morph.db            SQLite, WAL; schema version in user_version, migrations.def
 *   DIR/spool/              spool files, see monitor/spool.h
 *   DIR/originals/          pristine originals by digest and the swap journal, see install.h;
 *                           only the privileged parent reads or writes there
 *
 * Owned by the Manager, one connection.  Functions return -1 with *err naming the database; the
 * ones that look something up return 1 found, 0 not there.  What is read back is range-checked.
 * Samples in profiles are fixed point, in 1/STORE_UNIT.
 */
#ifndef MANAGER_STORE_STORE_H
#define MANAGER_STORE_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/digest.h"
#include "lib/wr.h"
#include "manager/samples/counter.h"
#include "manager/samples/edgecounts.h"
#include "manager/samples/topnames.h"
#include "manager/samples/usersums.h"
#include "policy/speedtest.h"

enum { STORE_UNIT = 256 };	/* so many are one sample */

struct attribution;
struct blocktable;
struct err;
struct store;

/* Makes DIR, DIR/spool and the database when missing. */
struct store *store_open(const char *dir, struct err *err);
/* What store_open() refuses as damaged gets another name, "morph.db.damaged-N", in kept[]: the
 * next store_open() begins anew. */
int store_set_aside(const char *dir, char kept[PATH_MAX], struct err *err);
/* Has a call found the database damaged? */
bool store_is_damaged(const struct store *s);
void store_close(struct store *s);		/* NULL is allowed */
const char *store_dir(const struct store *s);
int store_schema_version(void);
uint64_t store_now_ns(void);			/* as in all its rows: since 1970 */
uint64_t store_day_before(uint64_t ns);

/* A transaction; calls nest, only the outermost one counts.  After a rollback inside, the outer
 * commit fails. */
int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* --- modules --- */

struct store_seen {		/* of the file at the path when it was looked at last */
	uint64_t dev, inode, size, mtime_ns, ctime_ns;
};

enum { STORE_REFUSAL_MAX = 512 };

struct store_module {
	int64_t id;			/* 0: not in the store yet */
	char path[PATH_MAX];
	struct digest original;		/* of generation 0 */
	struct digest present;		/* of what is at the path: original or a generation */
	uint32_t generation;		/* number of what is at the path, 0 = original */
	struct store_seen seen;
	uint32_t owner;			/* uid of that file */
	/* why Morph leaves it alone, "" if it does not */
	char refusal[STORE_REFUSAL_MAX];
	uint64_t text_bytes;		/* 0: not analysed */
	uint32_t functions, movable;
	double samples, outside, states;	/* read only: of its profile */
	uint64_t updated_ns;		/* read only: when its profile grew last, 0 never */
};

int store_module_by_path(struct store *s, const char *path, struct store_module *out,
			 struct err *err);
int store_module_by_id(struct store *s, int64_t id, struct store_module *out, struct err *err);
/* Inserts (id == 0, id is filled in) or updates all but the read-only fields. */
int store_module_put(struct store *s, struct store_module *m, struct err *err);
/* With profile and generations; not its history. */
int store_module_delete(struct store *s, int64_t id, struct err *err);
/* Discards its profile, window of use, speed test, and what it has inherited. */
int store_module_discard(struct store *s, int64_t module, struct err *err);
/* By samples, descending.  f returns false to stop; it may use the store. */
int store_module_each(struct store *s, bool (*f)(void *ctx, const struct store_module *m),
		      void *ctx, struct err *err);

/* --- files: the content of inodes, for processes that run a file no longer at its path --- */

struct store_file {
	uint64_t dev, inode;
	uint64_t inode_generation;	/* only if has_generation */
	bool has_generation;		/* the file system tells it */
	char path[PATH_MAX];
	struct digest digest;		/* content */
};

int store_file_put(struct store *s, const struct store_file *f, struct err *err);
/* The latest record of that inode (and path, if dev_any: device numbers of mappings differ from
 * those of files on some file systems). */
int store_file_find(struct store *s, uint64_t dev, bool dev_any, uint64_t inode,
		    const char *path, struct store_file *out, struct err *err);

/* --- block tables (lib/blocktable.h), by original --- */

/* Replacing one by different bytes discards the profiles that refer to it. */
int store_table_put(struct store *s, const struct digest *original, struct bytes table,
		    struct err *err);
/* Deletes those, and signatures, of originals that no module has any more. */
int store_table_prune(struct store *s, struct err *err);
/* *out is the caller's, wr_free(). */
int store_table_has(struct store *s, const struct digest *original, struct err *err);
int store_table_get(struct store *s, const struct digest *original, struct wr *out,
		    struct err *err);
/* The same, as a table, without its bytes; range-checked. */
int store_table_load(struct store *s, const struct digest *original, struct blocktable *out,
		     struct err *err);

/* --- block profiles, one per module --- */

struct store_count {		/* ascending by block, every block once */
	uint32_t block;		/* index in the block table */
	uint64_t samples;	/* 1/STORE_UNIT */
};

struct store_profile {
	uint64_t outside;	/* 1/STORE_UNIT */
	uint64_t states;	/* 1/STORE_UNIT: of samples whose states were interpreted */
	uint32_t ncount;
	struct store_count *count;
	struct edgecounts edges;	/* counts in 1/STORE_UNIT */
};

int store_profile_get(struct store *s, int64_t module, struct store_profile *out,
		      struct err *err);
/* Replaces; at most `max_bytes` (0: no limit) are kept, by rounding counts as far as needed. */
int store_profile_put(struct store *s, int64_t module, const struct store_profile *p,
		      uint64_t max_bytes, struct err *err);
/* Multiplies the module's samples by `factor` (0..1), except those of `keep` (may be NULL),
 * which are a part of them. */
int store_profile_fade(struct store *s, int64_t module, double factor,
		       const struct store_profile *keep, struct err *err);
/* The sum of the samples in its blocks, in samples. */
double store_profile_samples(const struct store_profile *p);
/* Adds so much of the samples and edges of `from`; of what has any, something stays. */
void store_profile_mix(struct store_profile *to, const struct store_profile *from,
		       double factor);
void store_profile_free(struct store_profile *p);

/* --- which instructions had them (store_place.c), of the blocks of all modules that have most
 * samples --- */

enum { STORE_PLACES_MAX = 32768 };	/* some 20 bytes each; chosen */

struct store_place {
	uint32_t block;			/* index in the block table */
	vaddr addr;			/* in the original */
	double samples;
};
/* In the order of blocks and addresses; f may not use the store. */
int store_place_each(struct store *s, int64_t module,
		     void (*f)(void *ctx, const struct store_place *p), void *ctx,
		     struct err *err);

/* --- how a module is used lately; see policy/decide.h --- */

struct store_use {
	struct store_profile recent;	/* samples of the window */
	uint64_t known_ns;		/* the first window began, wall clock */
	uint64_t begun_ns;		/* this one */
	uint64_t machine_begun;		/* samples of the whole machine before the window */
	double unfaded_s;		/* sampled time since its profile was faded last */
	char verdict[256];		/* what was decided last, in words; "" before */
};

/* Empty, begun now, when there is none.  out->recent is the caller's to free. */
int store_use_get(struct store *s, int64_t module, struct store_use *out, struct err *err);
int store_use_put(struct store *s, int64_t module, const struct store_use *h,
		    struct err *err);
/* Begins a new window; `verdict` is what was decided at the end of the old one. */
int store_use_begin(struct store *s, int64_t module, const char *verdict, struct err *err);
/* The module's share of all samples of the machine since the window began, 0..1. */
int store_use_share(struct store *s, const struct store_use *h, double *out,
		      struct err *err);

/* Modules whose window has so many samples, most first; *module is malloc'd. */
int store_use_full(struct store *s, double samples, int64_t **module, uint32_t *n,
		     struct err *err);

/* --- how fast its processes run; see policy/speedtest.h --- */

/* Empty when there is none. */
int store_speed_get(struct store *s, int64_t module, struct speedtest *out, struct err *err);
int store_speed_put(struct store *s, int64_t module, const struct speedtest *p,
		    struct err *err);

/* --- what a spool file brought, in one transaction --- */

struct store_fading {
	double span_s, half_life_s;	/* half_life_s > 0 */
	double observe_s;		/* least time that an observation of speed covers */
	uint64_t begun_ns;		/* when the file was, by the wall clock; 0: now */
};

/* Adds the attribution (module = id in the store) to profiles, windows of use, speed tests and
 * counters, remembers `spaces` and that `spool_file`, any text that names the file, is done.
 * The file covers `span_s`: what was known of its modules fades by that much, a half in
 * half_life_s.  The last one done is refused with ERR_USAGE: files are taken in order and
 * deleted, so no other can come twice. */
int store_add_attribution(struct store *s, const char *spool_file, const struct attribution *a,
			  struct bytes spaces, const struct store_fading *fading,
			  struct err *err);
/* Text of the last spool file done; out is "" when none; n > 256. */
int store_spool_last(struct store *s, char *out, size_t n, struct err *err);
/* Samples in the kernel (COUNTER_KERNEL), by procedure; *out zeroed before, and the caller's to
 * free. */
int store_kernel(struct store *s, struct topnames *out, struct err *err);
/* All samples by user (manager/samples/userset.h), likewise. */
int store_user_samples(struct store *s, struct usersums *out, struct err *err);
int store_spaces_get(struct store *s, struct wr *out, struct err *err);
/* What each process has mapped, a row for each (manager/samples/space.h): puts one or, row.p
 * NULL, deletes it, or with pid 0 all; ctx is the store.  Then calls f with each; -1 ends it
 * and is returned. */
int store_space_change(void *ctx, uint32_t pid, struct bytes row, struct err *err);
int store_space_each(struct store *s,
		     int (*f)(void *ctx, uint32_t pid, struct bytes row, struct err *err),
		     void *ctx, struct err *err);
int store_counters(struct store *s, uint64_t out[NCOUNTER], struct err *err);
int store_counter_add(struct store *s, enum counter c, uint64_t n, struct err *err);

/* --- whose samples a module's profile has (store_whose.c); see policy/share.h --- */

struct share_use;
/* Malloc'd, ascending by uid; they fade as the profile does. */
int store_whose_get(struct store *s, int64_t module, struct share_use **out, uint32_t *n,
		    struct err *err);
/* Of all modules: what comes in is not told apart any more. */
int store_whose_clear(struct store *s, struct err *err);

/* --- exact counts (store_counted.c): a counting generation is at the path of a module, or in
 * a process of it, or was until it had counted enough, and what such a one has brought --- */

/* How long its processes took, and would have taken by what was observed of the original; of
 * kinds (policy/speedtest.h) of which that is known. */
struct store_counting_speed {
	double all_s;			/* time of all in the module */
	uint64_t samples;		/* of the same */
	double run_s, usual_run_s;	/* of those that ended */
	double module_s, usual_module_s;
};

struct store_counting {
	int64_t module;
	struct digest generation, original;
	uint64_t begun_ns;
	uint64_t ended_ns;		/* the original came back; 0: not so far */
	uint32_t runs;			/* whose counts have come */
	double took_s;			/* CPU time of these */
	double expected_s;		/* CPU time that it should cost in all */
	double most_s;			/* that it may cost; 0: not known */
	double gain;			/* of the machine's time, that it should bring */
	/* for so long, in a process that does not end; 0: runs of what is at the path */
	double burst_s;
	struct store_counting_speed speed;
};

int store_counting_put(struct store *s, const struct store_counting *c, struct err *err);
int store_counting_get(struct store *s, int64_t module, struct store_counting *out,
		       struct err *err);
int store_counting_by_generation(struct store *s, const struct digest *generation,
				 struct store_counting *out, struct err *err);
/* All modules that have one, malloc'd; the one that began first is the first. */
int store_counting_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err);
int store_counting_end(struct store *s, int64_t module, struct err *err);

/* What counting a module (0: all) has cost in the 24 hours before now_ns, and should yet. */
int store_counting_spent(struct store *s, int64_t module, uint64_t now_ns, double *cpu_s,
			 struct err *err);
int store_counting_spend(struct store *s, int64_t module, uint64_t now_ns, double cpu_s,
			 struct err *err);

/* Counts of an original, until the module changes.  They fade with its samples. */
struct store_counted {
	struct digest original;
	uint32_t runs;
	double weight;			/* 1 when they were made, 1/2 a half-life later */
	double cost_s;			/* CPU time that it took from programs */
	double gain, burst_s;		/* as of struct store_counting */
	struct wr profile;		/* for optimize --counted; empty: it was tried */
	struct store_profile use;	/* the samples at that time, roughly */
};

int store_counted_put(struct store *s, int64_t module, const struct store_counted *c,
		      struct err *err);
/* 1: *out, the caller's to free; 0: there are none of that original, and *out is zeroed. */
int store_counted_get(struct store *s, int64_t module, const struct digest *original,
		      struct store_counted *out, struct err *err);
void store_counted_free(struct store_counted *c);
/* Their weight alone; 0 without any. */
int store_counted_weight(struct store *s, int64_t module, const struct digest *original,
			 double *weight, struct err *err);
int store_counted_delete(struct store *s, int64_t module, struct err *err);

/* --- from one version to the next (store_inherit.c) --- */

/* Bytes of one signature, and of all of them as they are kept; chosen. */
enum { STORE_SIGNATURE_MAX = 64 << 20, STORE_SIGNATURES_MAX = 256 << 20 };

/* What can be recognised of that original in another version; nobody but a confined job reads
 * it.  Empty: it was tried in vain.  1; 0: there is no room, and an empty one is kept. */
int store_signature_put(struct store *s, const struct digest *original, struct bytes signature,
			struct err *err);
/* 1; 0: there is none that is of use. */
int store_signature_get(struct store *s, const struct digest *original, struct wr *out,
			struct err *err);
int store_signature_delete(struct store *s, const struct digest *original, struct err *err);
/* Analysed modules with so many samples, inherited ones among them, most of their own first,
 * whose originals have none, not even an empty one; malloc'd. */
int store_signature_lacking(struct store *s, double samples, int64_t **module, uint32_t *n,
			    struct err *err);

/* Of a version that was replaced, until its successor has inherited it. */
struct store_legacy {
	struct digest original;
	uint32_t tries;
	double samples;			/* of the profile */
	/* share of them that is not itself missing what an older version did not pass on */
	double known;
	double unseen;			/* policy/usage.h */
	struct wr signature;
	struct wr profile;		/* as text */
	struct wr counted;		/* the same of exact counts; may be empty */
	struct share_use *whose;	/* where the policy asks */
	uint32_t nwhose;
};

/* In the place of a former one of the module. */
int store_legacy_put(struct store *s, int64_t module, const struct store_legacy *l,
		     struct err *err);
/* *out is zeroed where there is none. */
int store_legacy_get(struct store *s, int64_t module, struct store_legacy *out,
		     struct err *err);
/* So often it has been tried. */
int store_legacy_try(struct store *s, int64_t module, uint32_t tries, struct err *err);
int store_legacy_delete(struct store *s, int64_t module, struct err *err);
/* Least tried first; malloc'd. */
int store_legacy_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err);
void store_legacy_free(struct store_legacy *l);

/* Beside a module's own samples, until it changes; fades with them. */
struct store_inherited {
	struct digest original, from;	/* that it is for, and that it came from */
	double samples;			/* of `from` */
	double matched;			/* share of them that was recognised, 0..1 */
	double unseen;			/* of `from` */
	double weight;			/* 1 when it was made, 1/2 a half-life later */
	bool counted;			/* exact counts are in it */
	uint32_t functions, recognised;	/* that ran, and of them */
	struct store_profile profile;	/* in blocks of `original` */
	struct share_use *whose;
	uint32_t nwhose;
};

int store_inherited_put(struct store *s, int64_t module, const struct store_inherited *i,
			struct err *err);
/* 1; 0: none for that original, and *out is zeroed. */
int store_inherited_get(struct store *s, int64_t module, const struct digest *original,
			struct store_inherited *out, struct err *err);
int store_inherited_delete(struct store *s, int64_t module, struct err *err);
int store_inherited_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err);
void store_inherited_free(struct store_inherited *i);
/* All of it, of all modules. */
int store_inherit_clear(struct store *s, struct err *err);

/* --- the fleet (store_fleet.c): evidence to be given, by epoch, and what was taken --- */

enum { STORE_MACHINE = 16, STORE_CLASS = 33 };

/* As whom this machine gives, in which week. */
struct store_giver {
	uint8_t machine[STORE_MACHINE];
	char class[STORE_CLASS];
	uint32_t epoch;
};
/* Fills g->machine, a number that chance chose, for the class and the running week that *g has.
 * It is another one when the system's number `id` is, or `to`, where it is given, or when rows
 * of this week may have been forgotten under the one before (head of store_fleet.c). */
int store_giver(struct store *s, struct bytes id, const char *to, struct store_giver *g,
		struct err *err);

struct store_epoch {
	struct digest original;
	uint32_t kind, epoch;		/* as lib/fleetfile.h has them */
	uint8_t machine[STORE_MACHINE];	/* who gives it */
	char class[STORE_CLASS];
	uint64_t sequence;		/* rises with each change */
	struct store_profile profile;
};

struct attribute_module;
/* Adds a module's new samples, of that original, to what this epoch has of them. */
int store_epoch_add(struct store *s, const struct store_giver *g,
		    const struct digest *original, const struct attribute_module *m,
		    struct err *err);
/* The same of counts, which take the place of those before. */
int store_epoch_put(struct store *s, const struct store_giver *g,
		    const struct digest *original, uint32_t kind,
		    const struct store_profile *p, struct err *err);
/* What has changed since it was given last, oldest epochs first; f returns false to stop. */
int store_epoch_each(struct store *s, bool (*f)(void *ctx, const struct store_epoch *e),
		     void *ctx, struct err *err);
/* With that sequence it is where it belongs. */
int store_epoch_given(struct store *s, const struct store_epoch *e, struct err *err);
/* What was given and is of an epoch before g->epoch goes, and the oldest beyond so many bytes;
 * *dropped: how many of these were not given.  *g may not be who gives any more. */
int store_epoch_prune(struct store *s, const struct store_giver *g, uint64_t max_bytes,
		      uint32_t *dropped, struct err *err);
struct store_epochs {
	uint64_t rows, bytes, waiting;
};
int store_epoch_size(struct store *s, struct store_epochs *out, struct err *err);

struct store_fleet {
	uint32_t contributors, epoch;	/* of the newest in it */
	struct store_profile profile;	/* counts of kind 0 in 1/STORE_UNIT, of kind 1 whole */
};
int store_fleet_put(struct store *s, const struct digest *original, uint32_t kind,
		    const struct store_fleet *f, uint64_t max_bytes, struct err *err);
/* 1: out->profile is the caller's to free; 0: there is none, and *out is zeroed. */
int store_fleet_get(struct store *s, const struct digest *original, uint32_t kind,
		    struct store_fleet *out, struct err *err);
/* Of originals that no module has any more. */
int store_fleet_prune(struct store *s, struct err *err);
/* Modules that have a fleet's samples and no layout yet; *module is the caller's. */
int store_fleet_first(struct store *s, int64_t **module, uint32_t *n, struct err *err);
/* Nothing is shared any more. */
int store_fleet_clear(struct store *s, struct err *err);
/* When an exchange succeeded last, wall clock; 0: never. */
int store_exchanged(struct store *s, uint64_t *out_ns, struct err *err);
int store_exchanged_put(struct store *s, uint64_t ns, struct err *err);

/* --- generations --- */

enum store_state {
	STATE_MADE = 1, STATE_INSTALLED, STATE_RESTORED, STATE_REFUSED, STATE_REPLACED,
	STATE_CRASHED,			/* restored because a process of it died */
	STATE_SLOWER,			/* restored because its processes became slower */
	STATE_BURST,			/* never at its path: a process counted by it */
};
extern const char *const store_state_name[];	/* by enum; [0] is "" */

enum { STORE_STATS_MAX = 16384 };

struct store_generation {
	int64_t id;
	int64_t module;
	uint32_t number;		/* 1, 2, ... */
	struct digest digest;		/* of the generation's file */
	struct digest original;
	enum store_state state;
	char passes[64];
	char stats[STORE_STATS_MAX];	/* lines "name value" */
	char reason[STORE_REFUSAL_MAX];	/* STATE_REFUSED: why */
	double samples;			/* of the profile that it was made from */
	double inherited;		/* of them, of the version before */
	uint64_t size_bytes;
	uint64_t made_ns;
	double cpu_s;			/* CPU time of the job that made it */
};

/* Inserts; fills id.  map (lib/blockmap.h) may be empty for refused ones; made_from NULL: it is
 * no layout, so that of the one before it stays. */
int store_generation_add(struct store *s, struct store_generation *g, struct bytes map,
			 const struct store_profile *made_from, struct err *err);
/* The profile that it was made from, roughly, and empty unless it is the module's newest;
 * the caller's to free. */
int store_generation_made_from(struct store *s, int64_t id, struct store_profile *out,
			       struct err *err);
int store_generation_state(struct store *s, int64_t id, enum store_state state,
			   const char *reason, struct err *err);
/* The latest of that digest. */
int store_generation_by_digest(struct store *s, const struct digest *d,
			       struct store_generation *out, struct err *err);
int store_generation_by_number(struct store *s, int64_t module, uint32_t number,
			       struct store_generation *out, struct err *err);
/* The generation of that original that was made last, whatever became of it. */
int store_generation_newest(struct store *s, int64_t module, const struct digest *original,
			    struct store_generation *out, struct err *err);
/* The same without what only counted in a process. */
int store_generation_newest_layout(struct store *s, int64_t module,
				   const struct digest *original, struct store_generation *out,
				   struct err *err);
/* Has a generation of the module crashed, of whichever original? */
int store_generation_crashed(struct store *s, int64_t module, bool *out, struct err *err);
/* Number for the next generation of the module. */
int store_generation_next(struct store *s, int64_t module, uint32_t *out, struct err *err);
int store_generation_map(struct store *s, const struct digest *d, struct wr *out,
			 struct err *err);
/* Ascending by number. */
int store_generation_each(struct store *s, int64_t module,
			  bool (*f)(void *ctx, const struct store_generation *g), void *ctx,
			  struct err *err);

/* --- forms of generations for running processes (store_live.c) --- */

/* Over a former one of that digest; `generation` is the id of the one that it is a form of. */
int store_live_put(struct store *s, const struct digest *digest, int64_t generation,
		   struct bytes map, struct err *err);
/* The generation, which has another digest; its map is appended to *out. */
int store_live_generation(struct store *s, const struct digest *digest,
			  struct store_generation *out, struct err *err);
int store_live_map(struct store *s, const struct digest *digest, struct wr *out,
		   struct err *err);

/* --- what generations cost (store_spent.c) --- */

struct store_cost {
	int64_t module;			/* 0: of one that is not known */
	uint32_t owner;			/* of the file, or who asked */
	double cpu_s;			/* of jobs */
	uint64_t bytes;			/* written */
};
int store_spent_add(struct store *s, const struct store_cost *c, uint64_t time_ns,
		    struct err *err);
/* All that was done for one owner since then. */
int store_spent_by(struct store *s, uint32_t owner, uint64_t since_ns, double *cpu_s,
		   double *bytes, struct err *err);
/* CPU time, and bytes of the generations made, since then, for the module or (0) for all files
 * of root. */
int store_spent(struct store *s, int64_t module, uint64_t since_ns, double *cpu_s,
		double *bytes, struct err *err);

/* --- crashes: processes that a fault killed, by module and by who ran them --- */

enum { STORE_CRASHES_MAX = 64 };	/* kept, of a module's generation and a user */

int store_crash_add(struct store *s, int64_t module, uint32_t generation, uint32_t uid,
		    struct err *err);
struct blame_user;
/* Of that generation of the module and of its original since then, by user: *n of them in *out,
 * the caller's to free(). */
int store_crash_users(struct store *s, int64_t module, uint32_t generation, uint64_t since_ns,
		      struct blame_user **out, uint32_t *n, struct err *err);
/* When the store was made, or first asked this. */
int store_born(struct store *s, uint64_t *out_ns, struct err *err);

/* --- processes that get no generation, or not yet (store_live.c) --- */

struct store_left {
	char boot[40];			/* as /proc/sys/kernel/random/boot_id has it */
	int32_t pid;
	uint64_t start;			/* as /proc/PID/stat has it */
	int64_t module, generation;	/* generation 0: any of the module */
	uint64_t until_ns;		/* STORE_LEFT_FOREVER: as long as it runs */
};
#define STORE_LEFT_FOREVER ((uint64_t)INT64_MAX)

/* Those of other boots go, and enough of this one are kept. */
int store_left_put(struct store *s, const struct store_left *l, struct err *err);
/* By all but l->until_ns, which is filled in. */
int store_left_get(struct store *s, struct store_left *l, struct err *err);

/* --- generations compared with their originals in turns, in a process (store_live.c) --- */

struct store_turns {
	int64_t module;
	uint32_t generation;		/* its number */
	enum speedtest_verdict verdict;
	char text[256];			/* for people */
};

int store_turns_put(struct store *s, const struct store_turns *t, struct err *err);
int store_turns_get(struct store *s, int64_t module, uint32_t generation,
		    struct store_turns *out, struct err *err);

/* --- intents: operations begun and not ended, found again after a crash --- */

struct store_intent {
	int64_t id;
	char what[16];			/* "install", "restore", "analyze", "optimize" */
	char path[PATH_MAX];
	struct digest from, to;		/* content before and after */
	uint64_t begun_ns;
};

int store_intent_begin(struct store *s, struct store_intent *i, struct err *err); /* fills id */
int store_intent_end(struct store *s, int64_t id, struct err *err);
int store_intent_each(struct store *s, bool (*f)(void *ctx, const struct store_intent *i),
		      void *ctx, struct err *err);

/* --- history --- */

/* The event at which a file became another user's: to its owner its history begins there. */
#define STORE_GIVEN_AWAY "given away"

struct store_event {
	uint64_t time_ns;
	char path[PATH_MAX];
	char event[32];			/* "installed", "restored", "refused", "changed", ... */
	char detail[1024];
};

int store_history_add(struct store *s, const char *path, const char *event, const char *detail,
		      struct err *err);
/* Newest first, at most `limit`; path == NULL: all. */
int store_history_each(struct store *s, const char *path, uint32_t limit,
		       bool (*f)(void *ctx, const struct store_event *e), void *ctx,
		       struct err *err);

/* Only of what is a module of that owner now, since it is. */
int store_history_of(struct store *s, const char *path, uint32_t owner, uint32_t limit,
		     bool (*f)(void *ctx, const struct store_event *e), void *ctx,
		     struct err *err);

#endif
