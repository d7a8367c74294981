/* memgrep.c - how often do these bytes stand in the memory of a process, or in a file?
 *
 *	memgrep PID HEX...	in all that the process has mapped
 *	memgrep PATH HEX...	in the file
 *
 * Prints one number for each HEX (bytes in the order in which they stand in memory).  Left out
 * are the kernel's own pages, which nobody can read, and its rings of samples, which nobody but
 * the kernel can write or wipe.  It is not to be dumped itself: a daemon that takes registers
 * and memory of what runs would have the bytes from here.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PIECE = 1 << 20, NEEDLE_MAX = 64, NEEDLES_MAX = 16 };

static struct needle {
	unsigned char b[NEEDLE_MAX];
	size_t n;
	uint64_t found;
} needle[NEEDLES_MAX];

static int read_hex(const char *hex, struct needle *out)
{
	for (size_t n = strlen(hex); out->n < n / 2; out->n++) {
		unsigned v;

		if (out->n == NEEDLE_MAX || sscanf(hex + 2 * out->n, "%2x", &v) != 1)
			return -1;
		out->b[out->n] = (unsigned char)v;
	}
	return out->n ? 0 : -1;
}

/* Those that begin in [p, p + n); `more` bytes follow, which a needle may reach into. */
static void count(const unsigned char *p, size_t n, size_t more, int nneedle)
{
	for (int i = 0; i < nneedle; i++) {
		const unsigned char *at = p, *end = p + n + more;

		while ((at = memmem(at, (size_t)(end - at), needle[i].b, needle[i].n)) &&
		       at < p + n) {
			needle[i].found++;
			at++;
		}
	}
}

static void look(int fd, uint64_t from, uint64_t to, int nneedle)
{
	static unsigned char piece[PIECE + NEEDLE_MAX];

	while (from < to) {
		uint64_t left = to - from;
		size_t want = left < sizeof(piece) ? (size_t)left : sizeof(piece);
		ssize_t k = pread(fd, piece, want, (off_t)from);

		if (k <= 0)		/* the kernel's own, or the end of a file */
			return;
		size_t n = (size_t)k < PIECE ? (size_t)k : PIECE;

		count(piece, n, (size_t)k - n, nneedle);
		from += n;
	}
}

static int look_process(const char *pid, int nneedle)
{
	char path[64], line[4096];

	(void)snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	int fd = open(path, O_RDONLY);
	(void)snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	FILE *maps = fopen(path, "r");
	if (fd < 0 || !maps) {
		fprintf(stderr, "memgrep: process %s: %s\n", pid, strerror(errno));
		return -1;
	}
	while (fgets(line, sizeof(line), maps)) {
		uint64_t from, to;

		if (strstr(line, "[perf_event]"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 &&
		    from < (uint64_t)INT64_MAX)
			look(fd, from, to, nneedle);
	}
	fclose(maps);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc - 2, rc = 0;

	if (n < 1 || n > NEEDLES_MAX) {
		fprintf(stderr, "usage: memgrep PID|PATH HEX...\n");
		return 2;
	}
	if (prctl(PR_SET_DUMPABLE, 0) < 0) {
		perror("memgrep: prctl");
		return 2;
	}
	for (int i = 0; i < n; i++)
		if (read_hex(argv[2 + i], &needle[i]) < 0) {
			fprintf(stderr, "memgrep: '%s': not bytes in hex\n", argv[2 + i]);
			return 2;
		}
	if (strspn(argv[1], "0123456789") == strlen(argv[1])) {
		rc = look_process(argv[1], n);
	} else {
		int fd = open(argv[1], O_RDONLY);

		if (fd < 0)
			perror(argv[1]);
		else
			look(fd, 0, INT64_MAX, n);
		rc = fd < 0 ? -1 : 0;
	}
	for (int i = 0; i < n; i++)
		printf("%" PRIu64 "%c", needle[i].found, i + 1 < n ? ' ' : '\n');
	return rc < 0;
}
