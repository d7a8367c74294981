/* descriptors.h - how many the process has, to see that nothing stays open */
#ifndef TESTS_UNIT_DESCRIPTORS_H
#define TESTS_UNIT_DESCRIPTORS_H

#include <dirent.h>

static inline unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	assert_int_equal(closedir(d), 0);
	return n;
}

#endif
