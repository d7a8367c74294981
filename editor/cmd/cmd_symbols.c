/* cmd_symbols.c - names of functions and text of instructions, through libbfd and libopcodes
 *
 * BFD reads from memory (bfd_openr_iovec), because the job may open nothing.  Names come from
 * .symtab, .dynsym and the PLT's synthetic symbols of the file, and from .symtab of a separate
 * debug file, one "ADDRESS NAME" line each (hexadecimal).  `build-id` and `debuglink` lines
 * tell the caller where such a file would be.
 */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <dis-asm.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/say.h"
#include "binary/image.h"

static void *mem_open(struct bfd *abfd, void *closure)
{
	(void)abfd;
	return closure;
}

static file_ptr mem_pread(struct bfd *abfd, void *stream, void *buf, file_ptr n, file_ptr off)
{
	const struct bytes *b = stream;

	(void)abfd;
	if (n < 0 || off < 0 || (uint64_t)off > b->n)
		return -1;
	if ((uint64_t)n > b->n - (uint64_t)off)
		n = (file_ptr)(b->n - (uint64_t)off);
	memcpy(buf, b->p + off, (size_t)n);
	return n;
}

static int mem_close(struct bfd *abfd, void *stream)
{
	(void)abfd;
	(void)stream;		/* the arena's */
	return 0;
}

static int mem_stat(struct bfd *abfd, void *stream, struct stat *st)
{
	const struct bytes *b = stream;

	(void)abfd;
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFREG | 0444;
	st->st_size = (off_t)b->n;
	return 0;
}

static bfd *open_bfd(struct bytes *b, const char *name, struct err *err)
{
	bfd *abfd = bfd_openr_iovec(name, "elf64-x86-64", mem_open, b, mem_pread, mem_close,
				    mem_stat);

	if (!abfd || !bfd_check_format(abfd, bfd_object)) {
		err_set(err, ERR_INPUT, "'%s': %s", name, bfd_errmsg(bfd_get_error()));
		if (abfd)
			(void)bfd_close(abfd);	/* opened for reading: nothing to lose */
		return NULL;
	}
	return abfd;
}

static void print_symbols(asymbol **sym, long n, bool synthetic)
{
	for (long i = 0; i < n; i++) {
		const asymbol *s = sym[i];

		if (!synthetic && !(s->flags & (BSF_FUNCTION | BSF_GNU_INDIRECT_FUNCTION)))
			continue;
		if (bfd_is_und_section(s->section) || !s->name || !*s->name)
			continue;
		say_line(stdout, "%" PRIx64 " %s", (uint64_t)bfd_asymbol_value(s), s->name);
	}
}

static asymbol **read_table(bfd *abfd, bool dynamic, long *n)
{
	long size = dynamic ? bfd_get_dynamic_symtab_upper_bound(abfd)
			    : bfd_get_symtab_upper_bound(abfd);

	*n = 0;
	if (size <= 0)
		return NULL;
	asymbol **sym = calloc(1, (size_t)size + sizeof(*sym));
	if (!sym)
		return NULL;
	long got = dynamic ? bfd_canonicalize_dynamic_symtab(abfd, sym)
			   : bfd_canonicalize_symtab(abfd, sym);
	if (got > 0)
		*n = got;
	return sym;
}

static void print_file(bfd *abfd)
{
	long nsym, ndyn;
	asymbol **sym = read_table(abfd, false, &nsym), **dyn = read_table(abfd, true, &ndyn);
	asymbol *synthetic = NULL;
	long nsynthetic = bfd_get_synthetic_symtab(abfd, nsym, sym, ndyn, dyn, &synthetic);

	print_symbols(sym, nsym, false);
	print_symbols(dyn, ndyn, false);
	for (long i = 0; i < nsynthetic; i++) {
		asymbol *one = &synthetic[i];

		print_symbols(&one, 1, true);
	}
	free(synthetic);
	free(sym);
	free(dyn);
}

/* The name in .gnu_debuglink, of which nobody says that it ends within the section.
 * libbfd's own reader takes a long or an uint32_t for a checksum, depending on its version. */
static void print_debuglink(bfd *abfd)
{
	asection *section = bfd_get_section_by_name(abfd, ".gnu_debuglink");
	bfd_byte *name = NULL;

	if (section && bfd_malloc_and_get_section(abfd, section, &name) &&
	    memchr(name, 0, bfd_section_size(section)))
		say_line(stdout, "debuglink %s", (const char *)name);
	free(name);
}

static void print_links(bfd *abfd)
{
	const struct bfd_build_id *id = abfd->build_id;

	if (id) {
		printf("build-id ");
		for (bfd_size_type i = 0; i < id->size; i++)
			printf("%02x", id->data[i]);
		printf("\n");
	}
	print_debuglink(abfd);
}

static int symbols(struct confinedjob *job, void *ctx, struct err *err)
{
	(void)ctx;
	if (bfd_init() != BFD_INIT_MAGIC)
		return err_set(err, ERR_SYS, "libbfd does not match its header");
	for (int i = 0; i < job->nin; i++) {
		bfd *abfd = open_bfd(&job->in[i].bytes, job->in[i].arg, err);

		if (!abfd)
			return -1;
		if (i == 0)
			print_links(abfd);
		print_file(abfd);
		(void)bfd_close(abfd);	/* opened for reading: nothing to lose */
	}
	return 0;
}

int cmd_symbols(int argc, char **argv)
{
	static const struct option options[] = { { "debug", required_argument, NULL, 'd' },
						 { 0 } };
	struct confinedjob job = { .nin = 1, .work = symbols };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'd')
			return CMD_USAGE;
		job.in[1].arg = optarg;
		job.nin = 2;
	}
	if (argc - optind != 1)
		return CMD_USAGE;
	job.in[0].arg = argv[optind];
	return confinedjob_run(&job);
}
