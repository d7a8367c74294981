/* pid.h - the number of a process as people write it */
#ifndef LIB_PID_H
#define LIB_PID_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* In decimal, from 1 on; 0: the text is no such number. */
static inline pid_t pid_read(const char *text)
{
	size_t n = strspn(text, "0123456789");
	unsigned long long number = n <= 10 ? strtoull(text, NULL, 10) : 0;

	return n && !text[n] && number <= INT_MAX ? (pid_t)number : 0;
}

#endif
