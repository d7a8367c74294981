/* procedure.c - procedures of a module by samples, with names from confined jobs
 *
 * Names are looked for in the output of a job line by line; a procedure without one keeps
 * fn_ADDRESS.
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include "manager/work/procedure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/utf8.h"

/* --- jobs that print text --- */

int procedures_text_job(struct work *w, const struct ask_job *job, struct wr *out,
			struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	int fd;

	if (ask_run_job(w->ask, job, &limits, &fd, 1, err) < 0)
		return -1;
	struct stat st;
	int rc = fstat(fd, &st) < 0 || st.st_size > PROCEDURES_TEXT_MOST
			 ? err_set(err, ERR_REFUSED, "more than %d MiB of text",
				   PROCEDURES_TEXT_MOST >> 20)
			 : work_read(fd, out, err);
	close(fd);
	return rc;
}

int procedures_check_shown(const struct procedures *l, uint32_t fn, bool instructions,
			   struct err *err)
{
	enum { INSN_BYTES = 8 };	/* more than most have; a block counts no NOPs */
	uint64_t blocks = 0, insns = 0;

	for (uint32_t i = 0; i < l->t.nblock; i++) {
		const struct blocktable_block *b = &l->t.block[i];

		if (b->fn != fn)
			continue;
		blocks++;
		insns += b->ninsn > b->size / INSN_BYTES ? b->ninsn : b->size / INSN_BYTES;
	}
	if (blocks <= PROCEDURES_SHOWN_MOST &&
	    (!instructions || insns <= PROCEDURES_SHOWN_MOST))
		return 0;
	return err_set(err, ERR_REFUSED, "a function of %" PRIu64 " blocks and %" PRIu64
		       " instructions is too large to be shown%s", blocks, insns,
		       instructions && blocks <= PROCEDURES_SHOWN_MOST ?
		       "; --blocks shows its blocks" : "");
}

bool procedures_next_line(struct bytes *b, char *line, size_t size)
{
	if (!b->n)
		return false;
	const uint8_t *nl = memchr(b->p, '\n', b->n);
	size_t n = nl ? (size_t)(nl - b->p) : b->n, keep = n < size ? n : size - 1;
	memcpy(line, b->p, keep);
	line[keep] = '\0';
	n += nl != NULL;
	b->p += n;
	b->n -= n;
	return true;
}

/* --- one module with its profile --- */

void procedures_free(struct procedures *l)
{
	if (!l)
		return;
	free(l->proc);
	store_profile_free(&l->profile);
	blocktable_free(&l->t);
	free(l);
}

static int by_samples(const void *a, const void *b)
{
	const struct procedure *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->fn > y->fn) - (x->fn < y->fn);
}

static int sum_procedures(struct procedures *l, struct err *err)
{
	double *sum = calloc((size_t)l->t.nfn + 1, sizeof(*sum));

	if (!sum)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < l->profile.ncount; i++) {
		const struct store_count *c = &l->profile.count[i];

		if (c->block < l->t.nblock)
			sum[l->t.block[c->block].fn] += (double)c->samples / STORE_UNIT;
	}
	for (uint32_t i = 0; i < l->t.nfn; i++)
		l->nproc += sum[i] > 0;
	l->proc = calloc((size_t)l->nproc + 1, sizeof(*l->proc));
	if (!l->proc) {
		free(sum);
		return err_set(err, ERR_SYS, "out of memory");
	}
	l->nproc = 0;
	for (uint32_t i = 0; i < l->t.nfn; i++)
		if (sum[i] > 0) {
			struct procedure *p = &l->proc[l->nproc++];

			p->fn = i;
			p->samples = sum[i];
			(void)snprintf(p->name, sizeof(p->name), "fn_%" PRIx64,
				       l->t.fn[i].entry);
		}
	free(sum);
	qsort(l->proc, l->nproc, sizeof(*l->proc), by_samples);
	return 0;
}

struct procedures *procedures_load(struct work *w, const struct store_module *m,
				   struct err *err)
{
	struct procedures *l = calloc(1, sizeof(*l));

	if (!l) {
		err_set(err, ERR_SYS, "out of memory");
		return NULL;
	}
	l->m = *m;
	if (work_table(w, m, &l->t, err) == 0 &&
	    store_profile_get(w->store, m->id, &l->profile, err) >= 0 &&
	    sum_procedures(l, err) == 0)
		return l;
	procedures_free(l);
	return NULL;
}

/* --- names --- */

/* The parent may open all; what a file's build-id or link says is its owner's to choose, and
 * what a debug file says he is told.  So it must be one that he can read himself. */
static int open_readable(struct work *w, const char *path, uint32_t owner)
{
	struct stat st;
	struct err err;
	int fd = ask_open_file(w->ask, path, &err);

	if (fd < 0 ||
	    (fstat(fd, &st) == 0 && ((st.st_mode & S_IROTH) || st.st_uid == owner)))
		return fd;
	close(fd);
	return -1;
}

int procedures_open_debug(struct work *w, const char *build_id, uint32_t owner)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 3 || strspn(build_id, "0123456789abcdef") != strlen(build_id) ||
	    strlen(build_id) > PATH_MAX / 2)
		return -1;
	(void)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		       build_id + 2);		/* length checked */
	return open_readable(w, path, owner);
}

/* The separate debug file that the symbols job's output points to; -1 if there is none. */
static int open_debug_file(struct work *w, const struct store_module *m, struct bytes text)
{
	char line[PROCEDURE_NAME_BYTES], path[PATH_MAX + 2 * PROCEDURE_NAME_BYTES];
	char id[PROCEDURE_NAME_BYTES] = "", link[PROCEDURE_NAME_BYTES] = "";

	while (procedures_next_line(&text, line, sizeof(line))) {
		if (strncmp(line, "build-id ", 9) == 0)
			(void)snprintf(id, sizeof(id), "%s", line + 9);
		else if (strncmp(line, "debuglink ", 10) == 0)
			(void)snprintf(link, sizeof(link), "%s", line + 10);
	}
	int fd = procedures_open_debug(w, id, m->owner);
	if (fd < 0 && *link && !strchr(link, '/')) {
		int n = (int)(strrchr(m->path, '/') - m->path);

		(void)snprintf(path, sizeof(path), "/usr/lib/debug%.*s/%s", n, m->path, link);
		fd = strlen(path) < PATH_MAX ? open_readable(w, path, m->owner) : -1;
	}
	return fd;
}

/* Appends what morph-edit knows of names: lines "ADDRESS NAME". */
static int symbols(struct work *w, const struct store_module *m, struct wr *out,
		   struct err *err)
{
	int file = work_open_pristine(w, m, err);

	if (file < 0)
		return -1;
	struct ask_job job = { .kind = JOB_SYMBOLS, .nin = 1, .in = { file } };
	int rc = procedures_text_job(w, &job, out, err);
	int debug = rc < 0 ? -1 : open_debug_file(w, m, wr_bytes(out));
	if (debug >= 0) {
		struct wr more = { 0 };
		struct err why;

		job.nin = 2;
		job.in[1] = debug;
		/* else: what we have must do */
		if (procedures_text_job(w, &job, &more, &why) == 0) {
			wr_free(out);
			*out = more;
		} else {
			wr_free(&more);
		}
		close(debug);
	}
	close(file);
	return rc;
}

/* "ADDRESS NAME", which becomes plain; a symbol version is cut off. */
static bool parse_symbol(char *line, vaddr *addr, const char **name)
{
	char *end;

	*addr = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return false;
	*name = end + 1;
	char *version = strchr(end + 1, '@');
	if (version && strcmp(version, "@plt") != 0 && version != end + 1)
		*version = '\0';
	utf8_unescape(end + 1);
	return true;
}

struct by_entry {
	vaddr entry;
	struct procedure *proc;
};

static int compare_entry(const void *a, const void *b)
{
	const struct by_entry *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

void procedures_name(struct work *w, struct procedures *l, uint32_t n)
{
	struct by_entry *sorted = calloc((size_t)n + 1, sizeof(*sorted));
	char line[PROCEDURE_NAME_BYTES + 32];
	struct wr text = { 0 };
	struct err err;

	if (!sorted || symbols(w, &l->m, &text, &err) < 0)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct by_entry){ l->t.fn[l->proc[i].fn].entry, &l->proc[i] };
	qsort(sorted, n, sizeof(*sorted), compare_entry);
	struct bytes rest = wr_bytes(&text);
	while (procedures_next_line(&rest, line, sizeof(line))) {
		struct by_entry key = { 0 };
		const char *name;

		if (!parse_symbol(line, &key.entry, &name))
			continue;
		struct by_entry *hit = bsearch(&key, sorted, n, sizeof(*sorted), compare_entry);
		if (hit && strncmp(hit->proc->name, "fn_", 3) == 0)
			(void)snprintf(hit->proc->name, sizeof(hit->proc->name), "%.*s",
				       PROCEDURE_NAME_BYTES - 1, name);
	}
out:
	free(sorted);
	wr_free(&text);
}

/* --- looking up --- */

uint32_t procedures_find(struct work *w, const struct procedures *l, const char *name)
{
	char line[PROCEDURE_NAME_BYTES + 32];
	struct wr text = { 0 };
	struct err err;
	vaddr addr = 0;
	bool found = true;

	if (strncmp(name, "fn_", 3) == 0 || strncmp(name, "0x", 2) == 0) {
		addr = strtoull(name + (name[0] == 'f' ? 3 : 2), NULL, 16);
	} else {
		const char *at;
		char *plain = memory_need(strdup(name));	/* as it was shown */

		utf8_unescape(plain);
		found = false;
		struct bytes rest = symbols(w, &l->m, &text, &err) < 0 ? (struct bytes){ 0 } :
				    wr_bytes(&text);
		while (!found && procedures_next_line(&rest, line, sizeof(line)))
			found = parse_symbol(line, &addr, &at) &&
				(strcmp(at, name) == 0 || strcmp(at, plain) == 0);
		wr_free(&text);
		free(plain);
	}
	for (uint32_t i = 0; found && i < l->t.nfn; i++)
		if (l->t.fn[i].entry == addr)
			return i;
	return UINT32_MAX;
}

double procedures_block_samples(const struct procedures *l, uint32_t block)
{
	uint32_t lo = 0, hi = l->profile.ncount;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->profile.count[mid].block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == l->profile.ncount || l->profile.count[lo].block != block)
		return 0;
	return (double)l->profile.count[lo].samples / STORE_UNIT;
}
