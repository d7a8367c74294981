/* filekind.c - names the kind of a file that is no program or library for this machine
 *
 * Somebody who gives Morph a kernel module or a separate debug file should read that it is one,
 * and not at which header Morph failed.  So this check comes before all others, and it
 * relies on nothing: the bytes may be anything.
 *
 * Tested by tests/unit/binary/test_image.c.
 */
#include <string.h>

#include "lib/err.h"
#include "binary/image.h"

static bool begins(struct bytes file, const char *with)
{
	struct bytes b = bytes_at(file, 0, strlen(with));

	return b.p && memcmp(b.p, with, b.n) == 0;
}

static int refuse_other(struct bytes file, struct err *err)
{
	static const struct { const char *begin, *what; } kind[] = {
		{ "#!", "a script" },
		{ "!<arch>\n", "a static archive" },
		{ "!<thin>\n", "a static archive" },
	};

	if (file.n == 0)
		return err_set(err, ERR_REFUSED, "an empty file");
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		if (begins(file, kind[i].begin))
			return err_set(err, ERR_REFUSED, "%s, not an ELF file", kind[i].what);
	return err_set(err, ERR_REFUSED, "not an ELF file");
}

static bool section_at(struct bytes file, const Elf64_Ehdr *eh, uint32_t i, Elf64_Shdr *out)
{
	if (eh->e_shoff > file.n || eh->e_shentsize != sizeof(*out))
		return false;
	struct bytes b = bytes_at(file, eh->e_shoff, file.n - eh->e_shoff);
	b = bytes_at(b, (uint64_t)i * sizeof(*out), sizeof(*out));
	if (b.p)
		memcpy(out, b.p, sizeof(*out));
	return b.p != NULL;
}

/* Kernel modules have a section of this name; it is found by the name alone. */
static bool has_section(struct bytes file, const Elf64_Ehdr *eh, const char *name)
{
	Elf64_Shdr names, s;

	if (!section_at(file, eh, eh->e_shstrndx, &names))
		return false;
	struct bytes all = bytes_at(file, names.sh_offset, names.sh_size);
	for (uint32_t i = 0; i < eh->e_shnum && section_at(file, eh, i, &s); i++) {
		struct bytes b = bytes_at(all, s.sh_name, strlen(name) + 1);

		if (b.p && memcmp(b.p, name, b.n) == 0)
			return true;
	}
	return false;
}

/* What `objcopy --only-keep-debug` leaves: sections of code, and none of their bytes. */
static bool is_debug_file(struct bytes file, const Elf64_Ehdr *eh)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	bool empty = false;
	Elf64_Shdr s;

	for (uint32_t i = 0; i < eh->e_shnum && section_at(file, eh, i, &s); i++) {
		if ((s.sh_flags & code) != code)
			continue;
		if (s.sh_type != SHT_NOBITS)
			return false;
		empty = true;
	}
	return empty;
}

int filekind_check(struct bytes file, struct err *err)
{
	struct bytes b = bytes_at(file, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr eh;

	if (!begins(file, ELFMAG))
		return refuse_other(file, err);
	if (file.n > EI_CLASS && file.p[EI_CLASS] == ELFCLASS32)
		return err_set(err, ERR_REFUSED, "a 32-bit file");
	if (!b.p)
		return err_set(err, ERR_INPUT, "shorter than an ELF header");
	memcpy(&eh, b.p, sizeof(eh));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh.e_machine != EM_X86_64)
		return err_set(err, ERR_REFUSED, "not for x86-64");
	switch (eh.e_type) {
	case ET_EXEC:
	case ET_DYN:
		break;
	case ET_REL:
		return err_set(err, ERR_REFUSED, has_section(file, &eh, ".modinfo") ?
			       "a kernel module" : "an object file, not yet linked");
	case ET_CORE:
		return err_set(err, ERR_REFUSED, "a core file: the memory of a process");
	default:
		return err_set(err, ERR_REFUSED, "neither a program nor a shared library");
	}
	if (is_debug_file(file, &eh))
		return err_set(err, ERR_REFUSED, "a separate debug file: it holds no code");
	return 0;
}
