/* evidence_names.c - asks a confined job what stands at places of a module
 *
 * The job may have been taken over by a hostile program, so its answer is checked line by line
 * (editor/exchange/places.h has the form).  It can lie about names; it cannot name a function
 * that it has not told of, tell of more places than were asked for, or bring text that is not
 * fit to show.
 *
 * Tested by tests/unit/manager/report/test_evidence_names.c.
 */
#include "manager/report/evidence_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/utf8.h"

enum { WORDS = 4, FRAMES_MAX = 64 };

struct reader {
	struct evidence *e;
	struct evidence_module *m;
	VEC(struct evidence_function) function;
	struct evidence_frame frame[FRAMES_MAX];
	uint32_t nframe;
	uint32_t at;			/* place that comes next */
	uint32_t base;			/* functions that the module had before */
};

static bool parse_number(const char *s, int base, uint64_t max, uint64_t *out)
{
	char *end;

	if (base == 16 && strncmp(s, "0x", 2) != 0)
		return false;
	s += base == 16 ? 2 : 0;
	if (!(*s >= '0' && *s <= '9') && !(base == 16 && *s >= 'a' && *s <= 'f'))
		return false;
	errno = 0;
	*out = strtoull(s, &end, base);
	return !errno && !*end && *out <= max;
}

static bool take_function(struct reader *r, char *const *word)
{
	struct evidence_function f = { .name = word[3] };

	if (!parse_number(word[1], 16, UINT64_MAX, &f.entry) ||
	    !parse_number(word[2], 10, UINT64_MAX, &f.size) || !*word[3])
		return false;
	vec_push(r->e->arena, &r->function, f);
	return true;
}

static bool take_frame(struct reader *r, char *const *word)
{
	uint64_t line;

	if (r->nframe == FRAMES_MAX || !parse_number(word[1], 10, UINT32_MAX, &line))
		return false;
	r->frame[r->nframe++] = (struct evidence_frame){ word[3], word[2], (uint32_t)line };
	return true;
}

static bool take_place(struct reader *r, char *const *word)
{
	bool none = strcmp(word[3], "-") == 0;
	struct evidence_place *p;
	uint64_t function = 0;

	if (r->at == r->e->place.n)
		return false;
	p = &r->e->place.v[r->at++];
	if (!parse_number(word[1], 16, UINT64_MAX, &p->addr) ||
	    !parse_number(word[2], 16, UINT64_MAX, &p->block) ||
	    (!none && (!r->nframe || !r->function.n ||
		       !parse_number(word[3], 10, r->function.n - 1 - r->base, &function))))
		return false;
	p->function = none ? EVIDENCE_NONE : r->base + (uint32_t)function;
	p->frame = arena_dup(r->e->arena, r->frame, r->nframe * sizeof(*r->frame));
	p->nframe = r->nframe;
	r->nframe = 0;
	return true;
}

static bool take_line(struct reader *r, char *const *word, int n)
{
	if (n == 2 && strcmp(word[0], "build-id") == 0) {
		r->m->build_id = word[1];
		return strspn(word[1], "0123456789abcdef") == strlen(word[1]);
	}
	if (n == 2 && strcmp(word[0], "note") == 0) {
		r->m->note = word[1];
		return true;
	}
	if (n != 4)
		return false;
	if (strcmp(word[0], "function") == 0)
		return take_function(r, word);
	if (strcmp(word[0], "frame") == 0)
		return take_frame(r, word);
	return strcmp(word[0], "place") == 0 && take_place(r, word);
}

/* Nothing of an answer that is malformed is kept: its functions are not there either. */
static void forget(struct evidence *e, uint32_t first)
{
	for (uint32_t i = first; i < e->place.n; i++) {
		struct evidence_place *p = &e->place.v[i];

		p->function = EVIDENCE_NONE;
		p->addr = p->block = 0;
		p->nframe = 0;
	}
}

int evidence_read_names(struct evidence *e, struct bytes text, uint32_t first, struct err *err)
{
	struct evidence_module *m = &e->module.v[e->place.v[first].module];
	struct reader r = { .e = e, .m = m, .at = first, .base = m->nfunction };
	char *line = arena_alloc(e->arena, text.n + 1), *word[WORDS], *nl;
	bool good = !memchr(text.p, 0, text.n);

	memcpy(line, text.p, text.n);
	for (uint32_t i = 0; i < m->nfunction; i++)
		vec_push(e->arena, &r.function, m->function[i]);
	for (; good && *line; line = nl + 1) {
		int n = 0;

		nl = strchr(line, '\n');
		if (!nl)
			break;
		*nl = '\0';
		for (char *s = line; s && n < WORDS; s = s ? s + 1 : NULL) {
			word[n++] = s;
			s = n < WORDS ? strchr(s, '\t') : NULL;
			if (s)
				*s = '\0';
		}
		for (int i = 0; i < n; i++)
			good = good && utf8_all_shown(word[i]);
		good = good && take_line(&r, word, n);
	}
	if (!good || *line || r.at != e->place.n) {
		forget(e, first);
		return err_set(err, ERR_INPUT, "what its reader says is malformed");
	}
	m->function = r.function.v;
	m->nfunction = r.function.n;
	return 0;
}

int evidence_ask_made(struct evidence *e, const char *morph_edit, int fd,
		      const struct wr *places, uint32_t first, struct err *err)
{
	struct modulefile_job job = { .kind = JOB_CODE_NAMES, .nin = 2, .in = { fd, -1 } };
	struct bytes text;

	job.in[1] = io_memory_file(wr_bytes(places), err);
	if (job.in[1] < 0)
		return -1;
	int rc = modulefile_text(morph_edit, &job, e->arena, &text, err);
	if (rc == 0)
		rc = evidence_read_names(e, text, first, err);
	close(job.in[1]);
	return rc;
}

int evidence_places_text(struct arena *a, const char *morph_edit, int fd,
			 const struct wr *places, struct bytes *out, struct err *err)
{
	struct modulefile_job job = { .kind = JOB_PLACES, .nin = 2, .in = { fd, -1, -1 } };
	char id[2 * MODULEFILE_ID_MAX + 1] = "";
	struct err unused;

	job.in[1] = io_memory_file(wr_bytes(places), err);
	if (job.in[1] < 0)
		return -1;
	/* without it there is no debug file, and the other job says why */
	if (modulefile_build_id(morph_edit, fd, id, &unused) == 0)
		job.in[2] = modulefile_debug(id);
	job.nin += job.in[2] >= 0;
	int rc = modulefile_text(morph_edit, &job, a, out, err);
	close(job.in[1]);
	if (job.in[2] >= 0)
		close(job.in[2]);
	return rc;
}

int evidence_ask_names(struct evidence *e, const char *morph_edit, int fd,
		       const struct wr *places, uint32_t first, struct err *err)
{
	struct bytes text;

	if (evidence_places_text(e->arena, morph_edit, fd, places, &text, err) < 0)
		return -1;
	return evidence_read_names(e, text, first, err);
}
