/* trail.h - what the unwinding tests say: every event in order, and whether claims hold
 *
 * A program prints what happened (same bytes from the original and a generation) and checks it
 * against what the language says; a false claim is printed and makes the exit code 1.
 */
#ifndef TRAIL_H
#define TRAIL_H

#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

static char trail[1 << 16];
static size_t trail_n;
static int trail_bad;

/* Adds a word to the trail. */
static inline void mark(const char *word)
{
	size_t n = strlen(word);

	if (trail_n + n + 2 > sizeof(trail))
		return;
	if (trail_n)
		trail[trail_n++] = ' ';
	memcpy(trail + trail_n, word, n + 1);
	trail_n += n;
}

static inline void mark_number(const char *word, long n)
{
	char text[80];

	(void)snprintf(text, sizeof(text), "%s%ld", word, n);
	mark(text);
}

/* The trail since the last call must be `want`. */
static inline void expect(const char *name, const char *want)
{
	int same = strcmp(trail, want) == 0;

	printf("%s %s: %s\n", same ? "ok" : "BAD", name, trail);
	if (!same)
		printf("  want: %s\n", want);
	trail_bad |= !same;
	trail[trail_n = 0] = 0;
}

static inline void claim(const char *name, int holds)
{
	printf("%s %s\n", holds ? "ok" : "BAD", name);
	trail_bad |= !holds;
}

static inline int trail_end(void)
{
	(void)fflush(stdout);
	return trail_bad;
}

/* Values that the compiler cannot know. */
static inline int opaque(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

#ifdef __cplusplus
struct Guard {		/* says when its scope is left */
	const char *name;
	explicit Guard(const char *n) : name(n) {}
	Guard(const Guard &) = delete;
	~Guard() { mark(name); }
};
#endif
#endif
