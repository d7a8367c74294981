/* timedcall.h - what waits.c and fusewaits.c share: a call in the main thread or in another;
 * how it ended, which is the name of the error or "ok", and how long it took in ms */
#ifndef TESTS_E2E_TIMEDCALL_H
#define TESTS_E2E_TIMEDCALL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void *timedcall_here(void *which)
{
	long (*call)(void) = *(long (*const *)(void))which;
	uint64_t began = now_ms();

	errno = 0;
	long rc = call();
	(void)printf("%s %llu\n", rc < 0 ? strerrorname_np(errno) : "ok",
		     (unsigned long long)(now_ms() - began));
	(void)fflush(stdout);
	return NULL;
}

static void timedcall_run(long (*const *call)(void), bool in_thread)
{
	void *which = (void *)(uintptr_t)call;
	pthread_t t;

	if (!in_thread) {
		(void)timedcall_here(which);
		return;
	}
	(void)pthread_create(&t, NULL, timedcall_here, which);
	(void)pthread_join(t, NULL);
}

#endif
