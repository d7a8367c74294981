/* evidence_set.c - the programs, modules and stacks of evidence, and what its places are
 * called */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/utf8.h"
#include "manager/report/evidence.h"

void evidence_init(struct evidence *e, struct arena *a)
{
	*e = (struct evidence){ .arena = a };
}

const char *evidence_shown(struct evidence *e, const char *text)
{
	char *s = utf8_escaped(text);
	const char *copy = arena_dup(e->arena, s, strlen(s) + 1);

	free(s);
	return copy;
}

const char *evidence_plain(const struct evidence *e, const char *shown)
{
	char *copy = arena_dup(e->arena, shown, strlen(shown) + 1);

	utf8_unescape(copy);
	return copy;
}

uint32_t evidence_program(struct evidence *e, const char *path)
{
	struct evidence_program p;

	for (uint32_t i = 0; i < e->program.n; i++)
		if (strcmp(e->program.v[i].path, path) == 0)
			return i;
	p.path = arena_dup(e->arena, path, strlen(path) + 1);
	p.shown = evidence_shown(e, path);
	vec_push(e->arena, &e->program, p);
	return e->program.n - 1;
}

uint32_t evidence_module(struct evidence *e, const char *path, bool file)
{
	struct evidence_module m = { .path = arena_dup(e->arena, path, strlen(path) + 1),
				     .build_id = "", .file = file };

	for (uint32_t i = 0; i < e->module.n; i++)
		if (e->module.v[i].file == file && strcmp(e->module.v[i].path, path) == 0)
			return i;
	m.shown = evidence_shown(e, path);
	vec_push(e->arena, &e->module, m);
	return e->module.n - 1;
}

int evidence_open_mapped(const struct evidence_source *source, const char *path,
			 uint64_t inode, struct err *err)
{
	struct stat st;

	for (uint32_t i = 0; i < source->nbinary; i++)
		if (strcmp(evidence_base(source->binary[i]), evidence_base(path)) == 0)
			return modulefile_open(source->binary[i], &st, err);
	if (path[0] != '/')
		return err_set(err, ERR_REFUSED, "not a file with a path");
	int fd = modulefile_open(path, &st, err);
	if (fd >= 0 && st.st_ino != inode) {
		close(fd);
		return err_set(err, ERR_REFUSED, "another file is there by now");
	}
	return fd;
}

double evidence_cut(const struct evidence *e)
{
	double sum = 0;

	for (uint32_t i = 0; e->with_stacks && i < e->stack.n; i++)
		sum += e->stack.v[i].cut ? e->stack.v[i].count : 0;
	return sum;
}

void evidence_add_alone(struct evidence *e, uint32_t place)
{
	struct evidence_stack s = { 1, arena_dup(e->arena, &place, sizeof(place)), true,
				    e->place.v[place].count };

	vec_push(e->arena, &e->stack, s);
}

const char *evidence_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

bool evidence_is_program(const struct evidence *e, const struct evidence_place *p)
{
	return p->program != EVIDENCE_NONE &&
	       strcmp(e->program.v[p->program].path, e->module.v[p->module].path) == 0;
}

const char *evidence_name(const struct evidence *e, const struct evidence_place *p)
{
	return p->nframe ? p->frame[p->nframe - 1].name : evidence_module_name(e, p);
}

const char *evidence_module_name(const struct evidence *e, const struct evidence_place *p)
{
	const struct evidence_module *m = &e->module.v[p->module];

	return m->file ? arena_printf(e->arena, "[%s]", evidence_base(m->shown)) : m->shown;
}
