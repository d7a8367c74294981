/* sampler.c - the kernel's events as the Monitor opens them, and nothing else of it
 *
 *	sampler [-r] FILE
 *
 * SIGUSR1 opens them and switches them on, SIGUSR2 closes them; FILE says which it was last,
 * "on" or "off", when that is done.  The rings are emptied each second, and nothing is made of
 * it.  So what differs between on and off is what sampling takes of others' time, and it is all
 * of that: the daemon's pause leaves events open.  -r: with registers and memory, as while they
 * are wanted.  Needs root; ends at SIGTERM.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "monitor/perf.h"

static const struct perf_options as_the_monitor = {
	.clock = MONITOR_CLOCK_TICK, .rate_hz = 251, .pid = PERF_PID_ALL,
	.state = PERF_STATE_SWITCHED, .stack_bytes = 256, .crashes = true, .kernel_pcs = true,
	.memory = true, .guard = true,
};

static void die(const char *what)
{
	(void)fprintf(stderr, "sampler: %s\n", what);
	exit(2);
}

static void say(const char *file, const char *what)
{
	FILE *f = fopen(file, "w");

	if (!f || fprintf(f, "%s\n", what) < 0 || fclose(f) != 0)
		die(file);
}

static struct perf_set *begin(bool registers)
{
	struct err err;
	struct perf_set *set = perf_open(&as_the_monitor, &err);

	if (!set || perf_map(set, &err) < 0 || perf_enable(set, &err) < 0 ||
	    perf_set_state(set, registers, &err) < 0)
		die(err.text);
	return set;
}

static void empty(struct perf_set *set)
{
	for (unsigned i = 0; set && i < perf_nring(set); i++)
		perf_ring_consumed(set, i, perf_ring(set, i).head);
}

int main(int argc, char **argv)
{
	const struct timespec second = { 1, 0 };
	struct perf_set *set = NULL;
	sigset_t wanted;
	int got;

	const bool registers = argc == 3 && strcmp(argv[1], "-r") == 0;
	const char *file = argv[argc - 1];
	if (argc != 2 + registers)
		die("usage: sampler [-r] FILE");
	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGUSR1);
	(void)sigaddset(&wanted, SIGUSR2);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &wanted, NULL);
	say(file, "off");
	while ((got = sigtimedwait(&wanted, NULL, &second)) != SIGTERM) {
		empty(set);
		if (got == SIGUSR1 && !set)
			set = begin(registers);
		if (got == SIGUSR2) {
			perf_close(set);
			set = NULL;
		}
		if (got == SIGUSR1 || got == SIGUSR2)
			say(file, set ? "on" : "off");
	}
	perf_close(set);
	return 0;
}
