/* undo_names.c - which original a file names, read in a child that can only write its answer
 *
 * The reader knows of ELF what it takes to find one section by its name.  It runs with root's
 * rights until the file is in its memory, as bytes, and has none when it looks at them
 * (lib/confine.h).  Its answer is 32 bytes, which are believed as far as there is an original
 * of that digest and the file is one that it may be put in the place of (undo_file.c); or that
 * there are none, and whether the file is a whole one.
 *
 * Tested by tests/unit/manager/ctl/test_undo.c and test_undo_broken.c.
 */
#include "manager/ctl/undo_names.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confine.h"
#include "lib/err.h"
#include "lib/io.h"

static const char section[] = ".morph.map";

enum { READ_S = 20 };
enum { FOUND = 0, NOT_ONE = 10, FAILED = 11, BROKEN = 12 };	/* exit codes of the child */

/* --- in the child --- */

static bool header(struct bytes table, uint64_t i, uint64_t entry, Elf64_Shdr *out)
{
	struct bytes b = bytes_at(table, i * entry, sizeof(*out));

	if (b.p)
		memcpy(out, b.p, sizeof(*out));
	return b.p != NULL;
}

static bool has_name(struct bytes names, uint64_t at)
{
	struct bytes b = bytes_at(names, at, sizeof(section));

	return b.p && memcmp(b.p, section, sizeof(section)) == 0;
}

static bool read_map(struct bytes map, struct digest *out)
{
	struct rd r = rd_of(map);
	const uint8_t *magic = rd_skip(&r, 8);

	/* version and number of the generation: in every version the digest is behind them */
	(void)rd_u64(&r);
	const uint8_t *original = rd_skip(&r, sizeof(out->b));
	if (r.bad || memcmp(magic, "MORPHMAP", 8) != 0)
		return false;
	memcpy(out->b, original, sizeof(out->b));
	return true;
}

bool undo_find_original(struct bytes file, struct digest *out)
{
	struct bytes b = bytes_at(file, 0, sizeof(Elf64_Ehdr));
	Elf64_Shdr names, sh;
	Elf64_Ehdr eh;

	if (!b.p)
		return false;
	memcpy(&eh, b.p, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_shentsize < sizeof(Elf64_Shdr))
		return false;
	struct bytes table = bytes_at(file, eh.e_shoff,
				      (uint64_t)eh.e_shnum * eh.e_shentsize);
	if (!header(table, eh.e_shstrndx, eh.e_shentsize, &names))
		return false;
	struct bytes text = bytes_at(file, names.sh_offset, names.sh_size);
	for (uint64_t i = 0; header(table, i, eh.e_shentsize, &sh); i++)
		if (has_name(text, sh.sh_name) &&
		    read_map(bytes_at(file, sh.sh_offset, sh.sh_size), out))
			return true;
	return false;
}

static bool is_zero(struct bytes b)
{
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i])
			return false;
	return true;
}

/* Everything that headers of an ELF file name, and that is in the file, is there. */
static bool has_all(struct bytes file, const Elf64_Ehdr *eh)
{
	struct bytes table = bytes_at(file, eh->e_phoff,
				      (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr));
	Elf64_Phdr ph;

	if (!table.p || (eh->e_shoff && !bytes_at(file, eh->e_shoff, (uint64_t)eh->e_shnum *
						  eh->e_shentsize).p))
		return false;
	for (size_t i = 0; i < eh->e_phnum; i++) {
		memcpy(&ph, table.p + i * sizeof(ph), sizeof(ph));
		if (!bytes_at(file, ph.p_offset, ph.p_filesz).p)
			return false;
	}
	return true;
}

bool undo_is_broken(struct bytes file)
{
	size_t n = file.n < sizeof(Elf64_Ehdr) ? file.n : sizeof(Elf64_Ehdr);
	Elf64_Ehdr eh = { .e_phnum = 0 };

	if (n)
		memcpy(&eh, file.p, n);
	if (is_zero((struct bytes){ (const uint8_t *)&eh, n }))
		return true;
	if (n < SELFMAG || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	return n < sizeof(eh) || (eh.e_ident[EI_CLASS] == ELFCLASS64 && !has_all(file, &eh));
}

static int answer(int fd, int to)
{
	struct arena *a = arena_new();
	struct digest d;
	struct bytes b;
	struct err err;

	if (io_read_all(fd, DIGEST_MAX_BYTES, a, &b, &err) < 0 ||
	    confine_job(0, READ_S, &err) < 0)
		return FAILED;
	if (!undo_find_original(b, &d))
		return undo_is_broken(b) ? BROKEN : NOT_ONE;
	return io_write_all(to, d.b, sizeof(d.b), &err) < 0 ? FAILED : FOUND;
}

/* --- outside --- */

static int collect(int from, pid_t pid, struct digest *original, bool *broken, struct err *err)
{
	struct digest d = { { 0 } };
	int status;
	ssize_t n;

	do
		n = read(from, d.b, sizeof(d.b));
	while (n < 0 && errno == EINTR);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, ERR_SYS, "waitpid: %s", strerror(errno));
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
	if (broken)
		*broken = code == BROKEN;
	if (code == NOT_ONE || code == BROKEN)
		return 0;
	if (code != FOUND || n != (ssize_t)sizeof(d.b))
		return err_set(err, ERR_SYS, "it cannot be read");
	*original = d;
	return 1;
}

int undo_names(int fd, struct digest *original, bool *broken, struct err *err)
{
	int end[2];

	if (pipe(end) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		close(end[0]);
		_exit(answer(fd, end[1]));
	}
	close(end[1]);
	int rc = pid < 0 ? err_set(err, ERR_SYS, "fork: %s", strerror(errno))
			 : collect(end[0], pid, original, broken, err);
	close(end[0]);
	return rc;
}
