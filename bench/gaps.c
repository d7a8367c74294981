/* gaps.c - CPU time that a program loses to a sampler's interrupts, in many short slices
 *
 *	gaps [-n PAIRS] [-m MS] [-k KIB] [-c CPU] [-z HZ] 'ON' 'OFF'
 *
 * A pair is a slice of MS (200) after ON, a command that switches the sampler on, and one after
 * OFF, in turns the one and the other first.  In a slice a piece of work is done again and
 * again on one CPU, and each time the time-stamp counter tells how long it took: what an
 * interrupt takes, and what it displaces from the caches and has to be fetched again, makes
 * that piece longer.  The piece is KIB of additions, one after the other, as in strawman.c;
 * with KIB 0 (default) nothing, so that the tick's own code stays in the caches.
 *
 * A piece longer than the slice's median piece by SHORT_CYCLES and a sixteenth was interrupted;
 * lost is what these took beyond the median, as a part of the slice.  One longer by over
 * LONG_US is another program's turn, or the hypervisor's: it is left out.  Of the interrupted
 * ones those are the clock's ticks that come at the same time of each HZ-th (-z, 250) of a
 * second, which is the time at which most of them come, within LATE_US behind the one that
 * /proc/timer_list tells: the hypervisor has ticks of its own, at another time.  Prints, in one
 * line,
 *
 *	lost_off_pct MEAN lost_on_pct MEAN added_pct ESTIMATE low LOW high HIGH
 *	tick_off_us MEAN tick_on_us MEAN tick_pct ESTIMATE tick_low LOW tick_high HIGH
 *	interrupts_off_s N interrupts_on_s N ticks_off_s N ticks_on_s N away_pct SHARE pairs N
 *
 * where ESTIMATE is Hodges and Lehmann's of the pairs' differences, LOW .. HIGH its interval of
 * 95 % (bench/shift.h): added in all, and what a tick takes longer, times HZ; _s are numbers in
 * a second, and away is what was left out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench/pin.h"
#include "bench/shift.h"

enum { PAIRS_MAX = 2000, SOME = 1 << 14, LONGER_MAX = 1 << 18, SHORT_CYCLES = 300, LONG_US = 50,
       SETTLE_US = 20000, FIRST_MS = 20, BINS = 400, LATE_US = 60 };

static const uint8_t add[] = { 0x48, 0x83, 0xc0, 0x01 };	/* add $1, %rax */

struct options {
	unsigned pairs, ms, kib, hz;
	int cpu;
	const char *on, *off;
	void (*piece)(void);
	double per_us;		/* cycles of the time-stamp counter */
	uint64_t tick_ns;	/* when there was one, by CLOCK_MONOTONIC; 0: not known */
};

/* What a slice has seen. */
struct slice {
	double lost_pct, away_pct, interrupts_s, ticks_s, tick_us;
};

/* A piece that was interrupted: when it ended, since the slice began, and how long it took, in
 * cycles of the time-stamp counter. */
struct longer {
	uint64_t at;
	uint32_t took;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint64_t time_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);	/* cannot fail for these clocks */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A time at which the CPU had a tick; 0: the kernel does not tell. */
static uint64_t some_tick_ns(int cpu)
{
	FILE *f = fopen("/proc/timer_list", "r");
	unsigned long long tick = 0;
	int at = -1;
	char line[256];

	while (f && !tick && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "cpu: %d", &at);
		if (at == cpu)
			(void)sscanf(line, " .last_tick : %llu", &tick);
	}
	if (f)
		(void)fclose(f);	/* only read */
	return tick;
}

static double cycles_per_us(void)
{
	uint64_t t0 = time_ns(CLOCK_MONOTONIC_RAW), c0 = __rdtsc(), t1;

	do
		t1 = time_ns(CLOCK_MONOTONIC_RAW);
	while (t1 - t0 < 200000000);
	return (double)(__rdtsc() - c0) * 1000.0 / (double)(t1 - t0);
}

/* The additions as a function; NULL: none. */
static void (*make_piece(unsigned kib))(void)
{
	size_t bytes = (size_t)kib << 10;
	void (*code)(void);

	if (!kib)
		return NULL;
	uint8_t *p = mmap(NULL, bytes + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < bytes; i += sizeof(add))
		memcpy(p + i, add, sizeof(add));
	p[bytes] = 0xc3;			/* ret */
	if (mprotect(p, bytes + 64, PROT_READ | PROT_EXEC) < 0)
		die("mprotect");
	memcpy(&code, &p, sizeof(code));
	return code;
}

static int by_cycles(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static unsigned bin_of(uint64_t at, double period)
{
	return (unsigned)(fmod((double)at, period) / period * BINS) % BINS;
}

/* The bin that ticks end in, which with the next one has most of the m pieces. */
static unsigned find_bin(const struct options *o, const struct longer *longer, unsigned m,
			 uint64_t begin_ns)
{
	const double period = o->per_us * 1e6 / o->hz;
	const int64_t since = (int64_t)(o->tick_ns - begin_ns), one = 1000000000 / o->hz;
	unsigned at[BINS] = { 0 }, first = 0, n = BINS, best;

	if (o->tick_ns) {
		first = (unsigned)((since % one + one) % one * BINS / one) % BINS;
		n = LATE_US * o->hz / (1000000 / BINS);
	}
	best = first;
	for (unsigned i = 0; i < m; i++)
		at[bin_of(longer[i].at, period)]++;
	for (unsigned i = 0; i < n; i++) {
		unsigned b = (first + i) % BINS;

		if (at[b] + at[(b + 1) % BINS] > at[best] + at[(best + 1) % BINS])
			best = b;
	}
	return best;
}

/* Adds to *out the ticks among the m pieces; `median` is what a piece takes otherwise. */
static void count_ticks(const struct options *o, const struct longer *longer, unsigned m,
			uint64_t begin_ns, double median, double seconds, struct slice *out)
{
	const unsigned best = find_bin(o, longer, m, begin_ns);
	double period = o->per_us * 1e6 / o->hz, sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < m; i++) {
		unsigned b = bin_of(longer[i].at, period);

		if (longer[i].took > median + LONG_US * o->per_us ||
		    (b != best && b != (best + 1) % BINS))
			continue;
		sum += longer[i].took - median;
		n++;
	}
	out->ticks_s = n / seconds;
	out->tick_us = n ? sum / n / o->per_us : 0;
}

/* `median`, of a slice before this one, tells which pieces were interrupted; it becomes this
 * one's. */
static struct slice measure(const struct options *o, unsigned ms, double *median)
{
	static uint32_t recent[SOME];
	static struct longer longer[LONGER_MAX];
	const uint64_t begin_ns = time_ns(CLOCK_MONOTONIC);
	uint64_t begin = __rdtsc(), last = begin;
	uint64_t end = begin + (uint64_t)(1000.0 * ms * o->per_us);
	uint64_t least = (uint64_t)(*median + SHORT_CYCLES + *median / 16);
	double lost = 0, away = 0, interrupts = 0;
	unsigned n = 0, m = 0;

	while (last < end) {
		if (o->piece)
			o->piece();
		uint64_t c = __rdtsc(), t = c - last;
		uint32_t took = t < UINT32_MAX ? (uint32_t)t : UINT32_MAX;
		recent[n++ % SOME] = took;
		if (took > least && m < LONGER_MAX)
			longer[m++] = (struct longer){ c - begin, took };
		last = c;
	}
	n = n < SOME ? n : SOME;
	qsort(recent, n, sizeof(*recent), by_cycles);
	*median = recent[n / 2];
	for (unsigned i = 0; i < m; i++) {
		if (longer[i].took > *median + LONG_US * o->per_us) {
			away += longer[i].took;
		} else {
			lost += longer[i].took - *median;
			interrupts++;
		}
	}
	double whole = (double)(last - begin), ours = whole - away;
	struct slice s = { .away_pct = 100 * away / whole };
	if (ours > 0) {
		double seconds = ours / o->per_us / 1e6;
		s.lost_pct = 100 * lost / ours;
		s.interrupts_s = interrupts / seconds;
		count_ticks(o, longer, m, begin_ns, *median, seconds, &s);
	}
	return s;
}

/* One half of a pair. */
static struct slice half(const struct options *o, bool on)
{
	double median = 0;

	pin(-1);
	if (system(on ? o->on : o->off) != 0) {
		fprintf(stderr, "gaps: '%s' failed\n", on ? o->on : o->off);
		exit(2);
	}
	pin(o->cpu);
	usleep(SETTLE_US);
	(void)measure(o, FIRST_MS, &median);	/* fills the caches */
	return measure(o, o->ms, &median);
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:m:k:c:z:")) != -1) {
		unsigned value = (unsigned)strtoul(optarg ? optarg : "", NULL, 10);

		if (opt == 'n')
			o->pairs = value;
		else if (opt == 'm')
			o->ms = value;
		else if (opt == 'k')
			o->kib = value;
		else if (opt == 'z')
			o->hz = value;
		else if (opt == 'c')
			o->cpu = (int)value;
		else
			return -1;
	}
	if (argc - optind != 2 || o->pairs < 1 || o->pairs > PAIRS_MAX || o->ms < 1 ||
	    o->hz < 1)
		return -1;
	o->on = argv[optind];
	o->off = argv[optind + 1];
	return 0;
}

static void add_to(struct slice *sum, struct slice s)
{
	sum->lost_pct += s.lost_pct;
	sum->away_pct += s.away_pct;
	sum->interrupts_s += s.interrupts_s;
	sum->ticks_s += s.ticks_s;
	sum->tick_us += s.tick_us;
}

int main(int argc, char **argv)
{
	struct options o = { .pairs = 300, .ms = 200, .hz = 250,
			     .cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	static double added[PAIRS_MAX], tick[PAIRS_MAX];
	struct slice sum[2] = { { 0 } };

	if (parse(&o, argc, argv) < 0) {
		fprintf(stderr, "usage: gaps [-n PAIRS] [-m MS] [-k KIB] [-c CPU] [-z HZ] "
			"'ON' 'OFF'\n");
		return 2;
	}
	/* Before all others, but not before the samplers on other CPUs; without it more is left
	 * out. */
	(void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
				 &(struct sched_param){ 1 });
	o.per_us = cycles_per_us();
	o.piece = make_piece(o.kib);
	o.tick_ns = some_tick_ns(o.cpu);
	for (unsigned i = 0; i < o.pairs; i++) {
		struct slice s[2];
		bool first = i % 2;

		s[first] = half(&o, first);
		s[!first] = half(&o, !first);
		add_to(&sum[0], s[0]);
		add_to(&sum[1], s[1]);
		added[i] = s[1].lost_pct - s[0].lost_pct;
		tick[i] = (s[1].tick_us - s[0].tick_us) * o.hz / 1e6 * 100;
	}
	struct shift d = shift_of(added, o.pairs), t = shift_of(tick, o.pairs);
	double n = o.pairs;
	printf("lost_off_pct %.4f lost_on_pct %.4f added_pct %.4f low %.4f "
	       "high %.4f ",
	       sum[0].lost_pct / n, sum[1].lost_pct / n, d.estimate, d.low, d.high);
	printf("tick_off_us %.3f tick_on_us %.3f tick_pct %.4f tick_low %.4f "
	       "tick_high %.4f ",
	       sum[0].tick_us / n, sum[1].tick_us / n, t.estimate, t.low, t.high);
	printf("interrupts_off_s %.0f interrupts_on_s %.0f ticks_off_s %.0f "
	       "ticks_on_s %.0f away_pct %.3f pairs %u\n", sum[0].interrupts_s / n,
	       sum[1].interrupts_s / n, sum[0].ticks_s / n, sum[1].ticks_s / n,
	       (sum[0].away_pct + sum[1].away_pct) / 2 / n, o.pairs);
	return 0;
}
