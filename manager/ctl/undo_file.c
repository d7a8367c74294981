/* undo_file.c - the original back at one path, by what the file says and root's ledger knows
 *
 * Which original comes back:
 *
 *   the ledger has the file's content at this path	its original, to its owner only
 *   else what the file names (undo_names.c)		a claim, by whoever wrote the file:
 *	it is root's, or the caller's own		believed: who can write root's files
 *							needs no trick
 *	it is another user's				only after a proof (morph-verify): a
 *							generation has all of its original in
 *							it, so nothing is told that its owner
 *							does not have
 *
 * It comes back under all names that the file has, in its folder or by the ledger, as one file
 * with these names again (install_back.c).  That takes a few of them at a time: if there are
 * more, those that are left have the generation's inode still, and come next (undo_links.h),
 * also when this or the daemon's undo was killed between.
 *
 * What somebody edited, after the ledger knew it, needs --force; so does what is left of a
 * generation that was destroyed, by a crash or a full disk: no whole file, in the folder and of
 * the owner that the ledger has for the generation that was seen last at that path.  What names
 * nothing else is left alone, whatever was there before: a package's newer file above all.
 *
 * Tested by tests/e2e/undo.sh.
 */
#include "manager/ctl/undo_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/ctl/undo_known.h"
#include "manager/ctl/undo_links.h"
#include "manager/ctl/undo_names.h"
#include "manager/parent/install.h"
#include "manager/parent/install_back.h"
#include "manager/parent/install_file.h"
#include "manager/parent/job.h"
#include "manager/parent/ledger.h"
#include "manager/parent/names.h"

enum { PROOF_S = 600 };

/* What an undo of the file at `path` is about. */
struct looked {
	struct install_file f;
	const char *path;		/* as it is opened */
	const char *known_as;		/* as it was called where it was rewritten */
	struct digest present, original;
	bool known;			/* the ledger has this content at this path */
	bool edited;			/* another one of the same original */
	bool broken;			/* what is left of one: known by the path alone */
	uint32_t owner;			/* as the ledger has it, if known */
	bool kept;			/* the content is an original in originals */
	struct install_done done;	/* by put_back() */
	/* other names that its generations had, by the ledger; as they are opened */
	struct names names;
	const struct digest *only_of;	/* nothing is done unless that is its original */
};

/* The ledger knows names without the folder where the other system's root is. */
static void find_names(const struct undo_store *s, struct looked *k,
		       const struct digest *original)
{
	char path[PATH_MAX];
	struct names known;

	undo_known_also(s->ledger_fd, k->known_as, original, &known);
	for (unsigned i = 0; i < known.n; i++)
		if (snprintf(path, sizeof(path), "%s%s", s->root, names_at(&known, i)) <
		    (int)sizeof(path))
			(void)names_add(&k->names, path);	/* as many as fit */
}

static bool is_kept(const struct undo_store *s, const struct digest *d)
{
	char hex[65];

	digest_hex(d, hex);
	return faccessat(s->originals_fd, hex, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- no generation --- */

/* A killed undo has left a file beside this one, which is an original.  Did somebody's newer
 * file come out of its exchange?  Copies that were not finished have mode 0600, finished ones
 * the same content. */
static int is_newer(const struct looked *k, int left, bool *newer, struct err *err)
{
	struct digest names, content;
	struct stat st;
	int rc = undo_names(left, &names, NULL, err);

	if (rc < 0 || fstat(left, &st) < 0 || digest_fd(left, &content, err) < 0)
		return -1;
	*newer = rc == 0 && (st.st_mode & 07777) != 0600 &&
		 !digest_equal(&content, &k->present);
	return 0;
}

static int finish_former(const struct undo_store *s, const struct looked *k, bool kept,
			 struct err *err)
{
	int left = back_open_left(&k->f), rc = 0;
	bool newer = false;

	if (left >= 0) {
		if (kept)
			rc = is_newer(k, left, &newer, err);
		close(left);
		if (rc == 0)
			rc = back_clear_left(&k->f, newer, err);
	}
	if (rc == 0 && kept)
		rc = back_apart(&k->f, &k->present, s->originals_fd, err);
	return rc < 0 ? -1 : 0;
}

static int no_generation(const struct undo_store *s, struct looked *k,
			 char said[UNDO_SAID], struct err *err)
{
	bool kept = k->kept = is_kept(s, &k->present);

	if (kept)
		find_names(s, k, &k->present);
	if (!s->dry_run && finish_former(s, k, kept, err) < 0)
		return err_wrap(err, "'%s'", k->path);
	const char *what = kept ? "is the original already"
				: "no generation made by Morph; left as it is";
	if (!kept && undo_known_path(s->ledger_fd, k->known_as))
		what = "another file is there now, which is no generation; left as it is";
	(void)snprintf(said, UNDO_SAID, "%s", what);
	return 0;
}

/* --- a generation --- */

static int prove(const struct undo_store *s, const struct looked *k, struct err *err)
{
	struct job_spec spec = {
		.kind = JOB_VERIFY, .morph_verify = s->morph_verify, .user = { false, 0, 0 },
		.memory_bytes = UINT64_MAX, .file_bytes = 1 << 20, .cpu_s = PROOF_S,
		.wall_s = PROOF_S, .nin = 2, .prompt = true,
	};
	int out[JOB_MAX_OUT];

	if (!s->morph_verify)
		return err_set(err, ERR_REFUSED, "it names an original, and is not root's: "
			       "without morph-verify that cannot be shown to be true");
	spec.in[0] = install_open_original(s->originals_fd, &k->original, err);
	if (spec.in[0] < 0)
		return -1;
	spec.in[1] = k->f.fd;
	int rc = job_run(&spec, out, err);
	struct err other;
	spec.a = 1;			/* else perhaps one that counts */
	if (rc < 0 && err->kind == ERR_REFUSED)
		rc = job_run(&spec, out, &other);
	close(spec.in[0]);
	if (rc < 0)
		return err_wrap(err, "not shown to be a generation of the original that it "
				"names");
	close(out[0]);
	return 0;
}

/* May the original that the file names take its place? */
static int may_restore(const struct undo_store *s, struct looked *k, struct err *err)
{
	uid_t uid = k->f.st.st_uid;
	struct err unproven;

	if (k->known && k->owner != uid)
		return err_set(err, ERR_REFUSED, "it belonged to user %u when it was "
			       "rewritten, and belongs to user %u now", k->owner, uid);
	if (k->broken && !s->force)
		return err_set(err, ERR_REFUSED, "empty or cut off: neither the generation "
			       "that was put there nor its original; --force puts the "
			       "original back");
	/* or one that this ledger is too old for */
	if (k->edited && !s->force && prove(s, k, &unproven) == 0)
		k->edited = false;
	if (k->edited && !s->force)
		return err_set(err, ERR_REFUSED, "a generation, edited by somebody; --force "
			       "puts its original back, without what they changed");
	if (!is_kept(s, &k->original)) {
		char hex[65];

		digest_hex(&k->original, hex);
		return err_set(err, ERR_REFUSED, "a generation of %s, which is not in "
			       "'%s/originals' (--store names another folder)", hex, s->folder);
	}
	return k->known || uid == 0 || uid == geteuid() ? 0 : prove(s, k, err);
}

static int put_back(const struct undo_store *s, struct looked *k, char said[UNDO_SAID],
		    struct err *err)
{
	static const char *const became[] = {
		[BACK_COPIED] = "restored",
		[BACK_MOVED] = "restored; for want of room the kept original itself was put "
			       "there, and is kept no longer",
		[BACK_SHARED] = "restored; for want of room it shares its content with the "
				"kept original: undo it again when there is room",
	};
	struct back_request r = {
		.path = k->path, .beneath = strlen(s->root), .names = &k->names,
		.expected = k->present, .original = k->original,
		.originals_fd = s->originals_fd, .ledger_fd = s->ledger_fd, .done = &k->done,
	};
	enum back_how how;

	if (s->dry_run) {
		(void)snprintf(said, UNDO_SAID, "would get its original back%s",
			       k->edited ? ", and what somebody changed would be lost" : "");
		return 0;
	}
	if (install_back(&r, &how, err) < 0)
		return -1;
	(void)snprintf(said, UNDO_SAID, "%s", became[how]);
	return 0;
}

/* No whole file is there: which original was, in that folder and of that owner? */
static int identify_broken(const struct undo_store *s, struct looked *k)
{
	struct ledger_entry e;
	struct stat dir;

	if (!undo_known_last(s->ledger_fd, k->known_as, &e) || e.owner != k->f.st.st_uid ||
	    fstat(k->f.dir, &dir) < 0 || dir.st_ino != e.dir_inode || !is_kept(s, &e.original))
		return 0;
	k->known = k->broken = true;
	k->owner = e.owner;
	k->original = e.original;
	return 1;
}

/* Fills original, known, edited, broken, owner: 1; 0 the file is no generation. */
static int identify(const struct undo_store *s, struct looked *k, struct err *err)
{
	bool broken;

	int rc = undo_known_find(s->ledger_fd, k->known_as, &k->present, &k->original,
				 &k->owner, err);

	if (rc < 0)
		return -1;
	k->known = rc > 0;
	if (k->known)
		return 1;
	rc = undo_names(k->f.fd, &k->original, &broken, err);
	if (rc > 0)
		k->edited = undo_known_original(s->ledger_fd, k->known_as, &k->original);
	return rc == 0 && broken ? identify_broken(s, k) : rc;
}

static int look_and_restore(const struct undo_store *s, struct looked *k,
			    enum undo_result *result, char said[UNDO_SAID], struct err *err)
{
	if (!S_ISREG(k->f.st.st_mode)) {
		(void)snprintf(said, UNDO_SAID, "not a regular file; left as it is");
		return 0;
	}
	int rc = digest_fd(k->f.fd, &k->present, err);
	if (rc == 0)
		rc = identify(s, k, err);
	if (rc < 0)
		return err_wrap(err, "'%s'", k->path);
	if (rc == 0)
		return no_generation(s, k, said, err);
	if (k->only_of && !digest_equal(&k->original, k->only_of)) {
		(void)snprintf(said, UNDO_SAID, "another program's generation");
		return 0;
	}
	find_names(s, k, &k->original);
	if (may_restore(s, k, err) < 0)
		return err_wrap(err, "'%s'", k->path);
	if (put_back(s, k, said, err) < 0)
		return -1;
	*result = UNDO_RESTORED;
	return 0;
}

/* Not the file that was looked at, or not as it was then. */
static bool is_another_now(const struct install_file *f)
{
	struct stat st;

	return f->dir >= 0 && fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_dev != f->st.st_dev || st.st_ino != f->st.st_ino ||
		st.st_ctim.tv_sec != f->st.st_ctim.tv_sec ||
		st.st_ctim.tv_nsec != f->st.st_ctim.tv_nsec);
}

static int undo_once(const struct undo_store *s, struct looked *k, enum undo_result *result,
		     char said[UNDO_SAID], struct err *err)
{
	struct err why;

	*result = UNDO_NOTHING;
	if (install_file_open(k->path, &k->f, &why) < 0 && why.kind != ERR_INPUT)
		return err_set(err, why.kind, "%s", why.text);
	if (k->f.fd >= 0)
		return look_and_restore(s, k, result, said, err);
	*result = UNDO_GONE;
	(void)snprintf(said, UNDO_SAID, "%s", k->f.st.st_mode ? "not a regular file"
							      : "no such file");
	return 0;
}

/* The original is at this name, but an undo of all names that was killed may have left others
 * with the generation, or something of its own beside them. */
static int undo_others(const struct undo_store *s, const struct looked *k,
		       enum undo_result *result, char said[UNDO_SAID], struct err *err)
{
	for (unsigned i = 0; i < k->names.n; i++) {
		const char *path = names_at(&k->names, i);
		struct looked other = { .f = { .dir = -1, .fd = -1 }, .path = path,
					.known_as = path + strlen(s->root),
					.only_of = &k->present };
		char ignored[UNDO_SAID];
		enum undo_result one;

		int rc = undo_once(s, &other, &one, ignored, err);
		install_file_close(&other.f);
		if (rc < 0)
			return -1;
		if (one != UNDO_RESTORED)
			continue;
		*result = UNDO_RESTORED;
		(void)snprintf(said, UNDO_SAID, "is the original already; '%.200s', "
			       "another name of it, %s", path + strlen(s->root), s->dry_run ?
			       "would get it back" : "got it back");
	}
	return 0;
}

/* Names that still are the generation, in the folders of those that were put back or are known;
 * *n: how many got it back. */
static int undo_left(const struct undo_store *s, const struct looked *k,
		     const struct undo_links_of *of, unsigned long *n, struct err *err)
{
	struct undo_links left;
	struct stat st;

	if (undo_links_find(s, of, &left, err) < 0)
		return -1;
	int rc = 0;
	for (size_t i = 0; i < left.n && rc == 0; i++) {
		const char *path = left.at[i].path;
		struct looked other = { .f = { .dir = -1, .fd = -1 }, .path = path,
					.known_as = path + strlen(s->root),
					.names = k->names, .only_of = of->original };
		char ignored[UNDO_SAID];
		enum undo_result one;

		/* with one before, perhaps */
		if (lstat(path, &st) < 0 || st.st_ino != left.at[i].inode)
			continue;
		(void)names_add(&other.names, k->path);	/* or the others lead to that file */
		rc = undo_once(s, &other, &one, ignored, err);
		install_file_close(&other.f);
		if (rc == 0 && one == UNDO_RESTORED)
			*n += 1 + (s->dry_run ? 0 : other.done.also.n);
	}
	undo_links_free(&left);
	return rc;
}

/* All that is left to do when the original is at the first names, and what there is to say. */
static int finish(const struct undo_store *s, struct looked *k, enum undo_result *result,
		  char said[UNDO_SAID], struct err *err)
{
	bool restored = *result == UNDO_RESTORED;
	struct undo_links_of of = {
		.path = k->path, .known_as = k->known_as, .names = &k->names,
		.original = restored ? &k->original : &k->present,
		.inode = restored ? k->f.st.st_ino : 0,
	};
	unsigned long n = 0;

	if (restored && s->dry_run)
		return 0;
	if (!restored && undo_others(s, k, result, said, err) < 0)
		return -1;
	if ((!restored || k->done.others) && undo_left(s, k, &of, &n, err) < 0)
		return -1;
	size_t end = strlen(said);
	if (n && restored) {
		k->done.others -= n < k->done.others ? n : k->done.others;
		(void)snprintf(said + end, UNDO_SAID - end, ", and under %lu more names", n);
	} else if (n) {
		*result = UNDO_RESTORED;
		(void)snprintf(said + end, UNDO_SAID - end, "; %lu other name%s of it %s", n,
			       n == 1 ? "" : "s", s->dry_run ? "would get it back" :
			       "got it back");
	}
	end = strlen(said);
	if (restored)
		install_done_text(&k->done, said + end, UNDO_SAID - end);
	return 0;
}

int undo_file(const struct undo_store *s, const char *path, enum undo_result *result,
	      char said[UNDO_SAID], struct err *err)
{
	enum { TRIES = 3 };
	struct err why = { 0 };
	int rc = -1;

	/* Another undo, or a package, may have been there meanwhile: then that file counts. */
	for (int i = 0; i < TRIES && rc < 0; i++) {
		struct looked k = { .f = { .dir = -1, .fd = -1 }, .path = path,
				    .known_as = path + strlen(s->root) };

		rc = undo_once(s, &k, result, said, &why);
		if (rc == 0 && (k.kept || *result == UNDO_RESTORED))
			rc = finish(s, &k, result, said, &why);
		if (rc < 0 && (why.kind != ERR_REFUSED || !is_another_now(&k.f)))
			i = TRIES;
		install_file_close(&k.f);
	}
	return rc < 0 ? err_set(err, why.kind, "%s", why.text) : rc;
}

bool undo_file_is_broken(const struct undo_store *s, const char *path)
{
	struct looked k = { .f = { .dir = -1, .fd = -1 }, .path = path,
			    .known_as = path + strlen(s->root) };
	struct err ignored;

	if (install_file_open(path, &k.f, &ignored) == 0 && k.f.fd >= 0 &&
	    digest_fd(k.f.fd, &k.present, &ignored) == 0)
		(void)identify(s, &k, &ignored);
	install_file_close(&k.f);
	return k.broken;
}

int undo_file_kept(const struct undo_store *s, const char *path, char hex[65])
{
	struct ledger_entry e;

	if (!undo_known_last(s->ledger_fd, path + strlen(s->root), &e) ||
	    !is_kept(s, &e.original))
		return 0;
	digest_hex(&e.original, hex);
	return 1;
}
