/* hugepages.c - does the kernel map text of a file system with huge pages?  An experiment
 *
 * WHY      Which file systems can do so, and when, depends on mount options, on the version of
 *          the kernel and on how it was built; much of that can be read nowhere. But one can
 *          see.
 *
 * HOW      A file without a name beside the program is written as a generation would be, mapped
 *          as a loader would map its text, and /proc/self/smaps says what became of it. What
 *          the kernel holds in large pieces only because it has just been written is let go
 *          before: text is read from the disk again some day, and would have small pages then.
 *          Where the kernel gathers pages of files by itself (khugepaged, when "enabled" is
 *          "always") it need not wait for that.
 */
#include "manager/parent/hugepages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/install_file.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { SIZE = HUGEPAGES_BYTES };

/* A file without a name in the directory, for reading only, of which nothing is in memory. */
static int make_file(int dir, struct err *err)
{
	char path[64];
	void *text = malloc(SIZE);
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), to_read = -1;

	if (fd < 0 || !text) {
		err_set(err, ERR_SYS, "a file without a name: %s", strerror(errno));
		goto out;
	}
	memset(text, 0xcc, SIZE);
	if (io_write_all(fd, text, SIZE, err) < 0)
		goto out;
	if (fdatasync(fd) < 0 || (errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) != 0) {
		err_set(err, ERR_SYS, "a file without a name: %s", strerror(errno));
		goto out;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);	/* fits */
	to_read = open(path, O_RDONLY | O_CLOEXEC);
	if (to_read < 0)
		err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
out:
	if (fd >= 0)
		close(fd);
	free(text);
	return to_read;
}

/* Is the mapping that begins at `at` one huge page? */
static bool is_huge(const void *at)
{
	char *line = NULL, start[32];
	bool in_it = false;
	unsigned long kib = 0;
	size_t room = 0;
	FILE *f = fopen("/proc/self/smaps", "re");

	/* fits */
	(void)snprintf(start, sizeof(start), "%lx-", (unsigned long)(uintptr_t)at);
	while (f && getline(&line, &room, f) > 0) {
		const char *mapped = strstr(line, "PmdMapped:");

		if ((line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f'))
			in_it = strncmp(line, start, strlen(start)) == 0;
		if (in_it && mapped)
			kib += strtoul(mapped + strlen("PmdMapped:"), NULL, 10);
	}
	if (f)
		(void)fclose(f);	/* read only */
	free(line);
	return kib == SIZE >> 10;
}

static bool gathers_by_itself(void)
{
	char text[64] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return strstr(text, "[always]") != NULL;
}

static bool gets_huge_page(void *at)
{
	if (madvise(at, SIZE, MADV_POPULATE_READ) < 0)
		return false;
	if (is_huge(at))
		return true;
	return gathers_by_itself() && madvise(at, SIZE, MADV_COLLAPSE) == 0 &&
	       madvise(at, SIZE, MADV_POPULATE_READ) == 0 && is_huge(at);
}

/* Maps the file at an address that a huge page can have. */
static int look(int fd, struct err *err)
{
	uint8_t *room = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = room + (SIZE - (uintptr_t)room % SIZE) % SIZE;
	int rc = 0;

	if (room == MAP_FAILED)
		return err_set(err, ERR_SYS, "mmap: %s", strerror(errno));
	if (mmap(at, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		rc = err_set(err, ERR_SYS, "mmap: %s", strerror(errno));
	else if (!gets_huge_page(at))
		rc = err_set(err, ERR_REFUSED, "its file system has no huge pages for text");
	(void)munmap(room, 2 * SIZE);	/* all of it is ours */
	return rc;
}

int hugepages_try(const char *path, struct err *err)
{
	struct install_file f;
	int rc = -1;

	if (install_file_open(path, &f, err) < 0)
		return -1;
	if (install_file_check(&f, true, err) == 0) {
		int fd = make_file(f.dir, err);

		if (fd >= 0) {
			rc = look(fd, err);
			close(fd);
		}
	}
	install_file_close(&f);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}
