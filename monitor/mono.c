/* mono.c - corrects CLOCK_MONOTONIC by the offset of our time namespace (/proc) */
#include "monitor/mono.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* "monotonic SECONDS NANOSECONDS", and other clocks: what is added to the machine's. */
int64_t mono_shift_ns(void)
{
	char text[256];
	long long s = 0, ns = 0;

	int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *line = strstr(text, "monotonic");
	if (!line || sscanf(line, "monotonic %lld %lld", &s, &ns) != 2)
		return 0;
	return (int64_t)s * 1000000000 + ns;
}

uint64_t mono_now_ns(int64_t shift_ns)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - (uint64_t)shift_ns;
}
