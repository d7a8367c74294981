/* slow_if_spliced.c - a server that is slower while a generation is mapped in its process, or
 * faster
 *
 *   slow_if_spliced slow|fast	works without end, a line for each piece of work; `slow`: twice
 *				as long for each in its own code while its text is of a file
 *				in a folder `live`, `fast`: while it is not
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is kept of a program takes 5 % of its text: one of a few hundred bytes has no room
 * for a profile. */
__asm__(".text\n.skip 32768, 0x90");

static uint64_t turn(uint64_t x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x = x % 3 ? x * 6364136223846793005u + i : (x >> 7) + 1442695040888963407u;
	return x;
}

static bool is_spliced(void)
{
	static char text[1 << 16];
	int fd = open("/proc/self/maps", O_RDONLY);
	size_t n = 0;
	ssize_t got;

	while (fd >= 0 && n < sizeof(text) - 1 &&
	       (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		unsigned long from, to;

		line += *line == '\n';
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= (uintptr_t)turn &&
		    (uintptr_t)turn < to)
			return memmem(line, strcspn(line, "\n"), "/live/", 6) != NULL;
	}
	return false;
}

int main(int argc, char **argv)
{
	bool slow = argc > 1 && strcmp(argv[1], "slow") == 0, spliced = false;
	uint64_t x = 1;

	for (unsigned i = 0;; i++) {
		if (i % 16 == 0) {
			spliced = is_spliced();
			(void)usleep(40000);	/* others want the CPU, too */
		}
		x = turn(x, (spliced == slow ? 2 : 1) * 100000);
		if (write(1, "same\n", 5) != 5)
			return x & 1;
	}
}
