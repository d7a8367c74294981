/* insntext.c - the text of instructions, through libopcodes
 *
 * Tested by tests/e2e/annotate.sh and tests/e2e/page.sh.
 */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <dis-asm.h>
#include <inttypes.h>
#include <stdarg.h>

#include "binary/image.h"
#include "editor/exchange/insntext.h"
#include "lib/err.h"

static int print_plain(void *stream, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vfprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

static int print_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;

	(void)style;
	va_start(ap, fmt);
	int n = vfprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

int insntext_print(const struct image *img, vaddr start, uint64_t size, const char *prefix,
		   FILE *out, struct err *err)
{
	struct bytes code = image_at(img, start, size);
	struct disassemble_info info;

	if (!code.p)
		return err_set(err, ERR_INPUT, "0x%" PRIx64 " + %" PRIu64
			       " is not in the file", start, size);
	init_disassemble_info(&info, out, (fprintf_ftype)print_plain,
			      (fprintf_styled_ftype)print_styled);
	info.arch = bfd_arch_i386;
	info.mach = bfd_mach_x86_64;
	info.buffer = (bfd_byte *)(uintptr_t)code.p;	/* only read */
	info.buffer_vma = start;
	info.buffer_length = size;
	disassemble_init_for_target(&info);
	disassembler_ftype print = disassembler(bfd_arch_i386, false, bfd_mach_x86_64, NULL);
	if (!print)
		return err_set(err, ERR_SYS, "libopcodes has no x86-64");
	for (vaddr at = start; at < start + size; ) {
		fprintf(out, "%s%" PRIx64 "\t", prefix, at);
		int n = print(at, &info);

		fprintf(out, "\n");
		if (n <= 0)
			break;
		at += (uint64_t)n;
	}
	return 0;
}
