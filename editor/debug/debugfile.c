/* debugfile.c - the debug file of a generation, step by step
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c; with the tools that people use, by
 * tests/programs/debugfile.sh; with damaged input by tests/fuzz/fuzz_debugfile.c.
 */
#include "editor/debug/debugfile.h"

#include <stdio.h>

#include "binary/mapsection.h"
#include "editor/debug/debug.h"
#include "editor/debug/debugelf.h"
#include "editor/debug/debugsource.h"
#include "editor/debug/debugsymbols.h"
#include "lib/digest.h"
#include "lib/err.h"

/* Entries of lists and tables that may be read: many times those of the largest programs.
 * Chosen: a file whose lists overlap keeps a job busy for seconds, not hours. */
#define MAX_READ ((uint64_t)1 << 31)

static const char *const section_name[DEBUG_NSECTION] = {
	[DEBUG_INFO] = ".debug_info", [DEBUG_TYPES] = ".debug_types",
	[DEBUG_ABBREV] = ".debug_abbrev", [DEBUG_LINE] = ".debug_line",
	[DEBUG_ADDR] = ".debug_addr", [DEBUG_ARANGES] = ".debug_aranges",
	[DEBUG_RANGES] = ".debug_ranges", [DEBUG_RNGLISTS] = ".debug_rnglists",
	[DEBUG_LOC] = ".debug_loc", [DEBUG_LOCLISTS] = ".debug_loclists",
	[DEBUG_MACRO] = ".debug_macro",
};

int debug_malformed(struct debug *d, enum debug_section_id s, uint64_t off, const char *why)
{
	if (d->err->kind != ERR_NONE)
		return -1;		/* said before, and better */
	return err_set(d->err, ERR_INPUT, "bad debug information: %s at offset 0x%llx: %s",
		       section_name[s], (unsigned long long)off, why);
}

int debug_count(struct debug *d, uint64_t n)
{
	d->nread += n;
	return d->nread > MAX_READ ?
		       err_set(d->err, ERR_REFUSED, "its debug information says the same again "
			       "and again") : 0;
}

struct making {
	struct arena *a;
	struct image orig, gen;
	struct blockmap map;
	struct bytes file;		/* with the debug information */
	struct debugsource source;
	struct debugsymbols_names names;
	struct debug debug;
	VEC(struct debugelf_section) section;
	struct wr symbols, strings;
	struct err *err;
};

static int read_files(struct making *m, struct bytes original, struct bytes generation)
{
	struct digest digest = digest_of(original);

	if (image_parse(original, m->a, &m->orig, m->err) < 0)
		return err_wrap(m->err, "the original");
	if (image_parse(generation, m->a, &m->gen, m->err) < 0 ||
	    mapsection_read(&m->gen, &m->map, m->err) < 0)
		return err_wrap(m->err, "the generation");
	if (!digest_equal(&digest, &m->map.original))
		return err_set(m->err, ERR_REFUSED,
			       "the generation is not one of this original");
	if (image_section(&m->gen, ".morph.counters"))
		return err_set(m->err, ERR_REFUSED, "the generation counts: its instructions "
			       "are not those of the original");
	if (debugsource_read(m->file, m->a, &m->source, m->err) < 0)
		return -1;
	debugsymbols_names(&m->source, m->a, &m->names);
	return debugsource_check(&m->source, &m->orig, m->err);
}

/* The content of a section, which may have its older name. */
static int read_section(struct making *m, enum debug_section_id id)
{
	char older[32];
	struct debug_section *s = &m->debug.section[id];

	if (debugsource_content(m->file, section_name[id], m->a, &s->was, m->err) < 0)
		return -1;
	(void)snprintf(older, sizeof(older), ".z%s", section_name[id] + 1);	/* it fits */
	if (s->was.n == 0 &&
	    debugsource_content(m->file, older, m->a, &s->was, m->err) < 0)
		return -1;
	if (id == DEBUG_INFO || id == DEBUG_TYPES || id == DEBUG_ADDR || id == DEBUG_MACRO)
		wr_raw(&s->now, s->was.p, s->was.n);
	return 0;
}

static const char *function_name(void *ctx, vaddr at)
{
	const struct making *m = ctx;

	return debugsymbols_name(&m->names, at);
}

static const char *unique_name(void *ctx, vaddr at)
{
	const struct making *m = ctx;

	return debugsymbols_unique(&m->names, at);
}

static int translate(struct making *m)
{
	struct debug *d = &m->debug;

	*d = (struct debug){ .a = m->a, .err = m->err };
	addresses_init(&d->addresses, &m->orig, &m->gen, &m->map, m->a);
	debug_lists_init(d);
	for (int i = 0; i < DEBUG_NSECTION; i++)
		if (read_section(m, (enum debug_section_id)i) < 0)
			return -1;
	if (debugsource_content(m->file, ".debug_str_offsets", m->a, &d->str_offsets,
				m->err) < 0)
		return -1;
	if (d->section[DEBUG_INFO].was.n == 0)
		return err_set(m->err, ERR_REFUSED, "no debug information (.debug_info) in it; "
			       "where it is in a separate file, that is given by --debug");
	if (debug_find_jumps(d) < 0 || debug_read_units(d) < 0 ||
	    debug_translate_abbrevs(d) < 0 || debug_translate_units(d) < 0 ||
	    debug_add_originals(d, function_name, m) < 0 ||
	    debug_name_callees(d, unique_name, m) < 0 ||
	    debug_finish_lists(d, &d->ranges) < 0 || debug_finish_lists(d, &d->locations) < 0 ||
	    debug_translate_lines(d) < 0)
		return -1;
	return debug_translate_aranges(d);
}

static void add_translated(struct making *m)
{
	for (int i = 0; i < DEBUG_NSECTION; i++) {
		struct bytes now = wr_bytes(&m->debug.section[i].now);
		struct debugelf_section s = { .name = section_name[i], .type = SHT_PROGBITS,
					      .align = 1, .content = now };

		if (now.n > 0)
			vec_push(m->a, &m->section, s);
	}
}

static bool is_translated(const char *name)
{
	for (int i = 0; i < DEBUG_NSECTION; i++)
		if (strcmp(name, section_name[i]) == 0 ||
		    (strncmp(name, ".z", 2) == 0 && strcmp(name + 2, section_name[i] + 1) == 0))
			return true;
	return false;
}

/* Debug information that stays as it is.  Indices by name and address are left out: debuggers
 * make their own. */
static bool is_kept(const struct debugsource_section *s)
{
	if ((s->h.sh_flags & SHF_ALLOC) || s->raw.n == 0 || is_translated(s->name))
		return false;
	if (strcmp(s->name, ".debug_names") == 0)
		return false;
	return strncmp(s->name, ".debug_", 7) == 0 || strncmp(s->name, ".zdebug_", 8) == 0 ||
	       strcmp(s->name, ".gnu_debugaltlink") == 0;
}

static void add_kept(struct making *m)
{
	for (uint32_t i = 0; i < m->source.n; i++) {
		const struct debugsource_section *s = &m->source.section[i];
		struct debugelf_section kept = { .name = s->name, .type = SHT_PROGBITS,
						 .flags = s->h.sh_flags,
						 .align = s->h.sh_addralign,
						 .entsize = s->h.sh_entsize,
						 .content = s->raw };

		if (is_kept(s))
			vec_push(m->a, &m->section, kept);
	}
}

/* Those of the generation if it has any, else those of the original. */
static int add_symbols(struct making *m)
{
	const struct section *have = image_section(&m->gen, ".symtab");
	struct debugelf_section symbols = { .name = ".symtab", .type = SHT_SYMTAB, .align = 8,
					    .entsize = sizeof(Elf64_Sym) };
	struct debugelf_section strings = { .name = ".strtab", .type = SHT_STRTAB, .align = 1 };

	if (have && have->h.sh_link < m->gen.nsh) {
		const Elf64_Shdr *names = &m->gen.sh[have->h.sh_link].h;

		symbols.content = bytes_at(m->gen.file, have->h.sh_offset, have->h.sh_size);
		strings.content = bytes_at(m->gen.file, names->sh_offset, names->sh_size);
		symbols.info = have->h.sh_info;
	} else {
		int rc = debugsymbols_write(&m->source, &m->debug.addresses, &m->symbols,
					    &m->strings, &symbols.info, m->err);

		if (rc <= 0)
			return rc;
		symbols.content = wr_bytes(&m->symbols);
		strings.content = wr_bytes(&m->strings);
	}
	vec_push(m->a, &m->section, symbols);
	vec_push(m->a, &m->section, strings);
	return 0;
}

int debugfile_make(struct bytes original, struct bytes generation, struct bytes debug,
		   struct arena *a, struct wr *out, struct err *err)
{
	enum { MAX_SECTIONS = 0xff00 };	/* where numbers with a meaning begin */
	struct making m = { .a = a, .file = debug.n ? debug : original, .err = err };
	int rc = -1;

	/* libelf changes headers of sections that it decompresses */
	m.file.p = arena_dup(a, m.file.p, m.file.n);

	if (read_files(&m, original, generation) < 0 || translate(&m) < 0)
		goto out;
	add_translated(&m);
	add_kept(&m);
	if (add_symbols(&m) < 0)
		goto out;
	if (m.gen.nsh + m.section.n + 1 >= MAX_SECTIONS) {
		err_set(err, ERR_REFUSED, "too many sections");
		goto out;
	}
	debugelf_write(&m.gen, m.section.v, m.section.n, out);
	rc = 0;
out:
	debug_free_lists(&m.debug.ranges);
	debug_free_lists(&m.debug.locations);
	for (int i = 0; i < DEBUG_NSECTION; i++)
		wr_free(&m.debug.section[i].now);
	wr_free(&m.symbols);
	wr_free(&m.strings);
	blockmap_free(&m.map);
	return rc;
}
