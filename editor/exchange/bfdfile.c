/* bfdfile.c - libbfd on the bytes of a file */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "editor/exchange/bfdfile.h"
#include "lib/err.h"

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

static void say_nothing(const char *fmt, va_list ap)
{
	(void)fmt;
	(void)ap;
}

struct bfd *bfdfile_open(struct bytes *b, const char *name, struct err *err)
{
	if (bfd_init() != BFD_INIT_MAGIC) {
		err_set(err, ERR_SYS, "libbfd does not match its header");
		return NULL;
	}
	(void)bfd_set_error_handler(say_nothing);	/* the former one is of no use */
	bfd *abfd = bfd_openr_iovec(name, "elf64-x86-64", mem_open, b, mem_pread, mem_close,
				    mem_stat);

	if (abfd)
		abfd->flags |= BFD_DECOMPRESS;
	if (!abfd || !bfd_check_format(abfd, bfd_object)) {
		err_set(err, ERR_INPUT, "'%s': %s", name, bfd_errmsg(bfd_get_error()));
		bfdfile_close(abfd);
		return NULL;
	}
	asection *other = bfd_get_section_by_name(abfd, ".gnu_debugaltlink");
	if (other)
		(void)bfd_rename_section(other, ".hidden");	/* it has no result in old
								 * versions */
	return abfd;
}

void bfdfile_close(struct bfd *abfd)
{
	if (abfd)
		(void)bfd_close(abfd);		/* opened for reading: nothing to lose */
}

struct bfd_symbol **bfdfile_symbols(struct bfd *abfd, bool dynamic, long *n)
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

bool bfdfile_has_lines(struct bfd *abfd)
{
	return bfd_get_section_by_name(abfd, ".debug_info") ||
	       bfd_get_section_by_name(abfd, ".zdebug_info");
}
