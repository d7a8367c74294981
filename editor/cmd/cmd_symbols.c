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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "editor/exchange/bfdfile.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/say.h"

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

static void print_file(bfd *abfd)
{
	long nsym, ndyn;
	asymbol **sym = bfdfile_symbols(abfd, false, &nsym);
	asymbol **dyn = bfdfile_symbols(abfd, true, &ndyn);
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
	for (int i = 0; i < job->nin; i++) {
		bfd *abfd = bfdfile_open(&job->in[i].bytes, job->in[i].arg, err);

		if (!abfd)
			return -1;
		if (i == 0)
			print_links(abfd);
		print_file(abfd);
		bfdfile_close(abfd);
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
