/* interpreters.c - the ways in which interpreters keep and jump to labels
 *
 * Prints what each computed.  `interpreters where` prints in which text those run that keep
 * labels in relocated tables only: "new" when the handler's call returns behind the original's
 * text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char etext[];

static const char *text;

static __attribute__((noinline)) long note(long x)
{
	text = (const char *)__builtin_return_address(0) > etext ? "new" : "original";
	return x;
}

enum { ADD, TRIPLE, FLIP, JUMP, NOTE, HALT, NOPS };

/* By a table of labels, indexed each time. */
static __attribute__((noinline)) long by_token(const unsigned char *p, long x)
{
	static const void *const op[NOPS] = { &&add, &&triple, &&flip, &&jump, &&note, &&halt };

	goto *op[*p++];
add:	x += 1;
	goto *op[*p++];
triple:	x *= 3;
	goto *op[*p++];
flip:	x ^= 0x55;
	goto *op[*p++];
jump:	p += x & 1 ? 1 : 0;
	goto *op[*p++];
note:	x = note(x);
	goto *op[*p++];
halt:	return x;
}

union cell {
	const void *op;
	long value;
};

/* Labels in code on the heap; with no code tells the labels, as such interpreters do. */
static __attribute__((noinline)) long by_label(const union cell *p, long x,
					       const void *const **labels)
{
	static const void *const op[NOPS] = { &&add, &&triple, &&flip, &&jump, &&note, &&halt };

	if (labels) {
		*labels = op;
		return 0;
	}
	goto *p++->op;
add:	x += p++->value;
	goto *p++->op;
triple:	x *= 3;
	goto *p++->op;
flip:	x ^= 0x55;
	goto *p++->op;
jump:	p += x & 1 ? 1 : 0;
	goto *p++->op;
note:	x = note(x);
	goto *p++->op;
halt:	return x;
}

static long translate(const unsigned char *code, size_t n, long x)
{
	const void *const *op;
	union cell *cell = malloc(2 * n * sizeof(*cell));
	unsigned equal = 0;

	(void)by_label(NULL, 0, &op);
	for (size_t i = 0, k = 0; i < n; i++) {
		cell[k++].op = op[code[i]];
		if (code[i] == ADD)
			cell[k++].value = 1;
	}
	for (size_t i = 0; i < NOPS; i++)
		for (size_t k = 0; k < NOPS; k++)
			equal += op[i] == op[k];
	x = by_label(cell, x, NULL) * 100 + equal;
	free(cell);
	return x;
}

/* By distances between labels. */
static __attribute__((noinline)) long by_distance(const unsigned char *p, long x)
{
	static const int op[NOPS] = { &&add - &&add,  &&triple - &&add, &&flip - &&add,
				      &&jump - &&add, &&note - &&add,	&&halt - &&add };

	goto *(&&add + op[*p++]);
add:	x += 1;
	goto *(&&add + op[*p++]);
triple:	x *= 3;
	goto *(&&add + op[*p++]);
flip:	x ^= 0x55;
	goto *(&&add + op[*p++]);
jump:	p += x & 1 ? 1 : 0;
	goto *(&&add + op[*p++]);
note:	x = note(x);
	goto *(&&add + op[*p++]);
halt:	return x;
}

/* By distances from one of the labels that data holds, calculated at run time. */
static __attribute__((noinline)) long by_difference(const unsigned char *p, long x)
{
	static const void *const volatile op[NOPS] = { &&add,  &&triple, &&flip,
						       &&jump, &&note,	 &&halt };
	const char *base = op[ADD];
	long distance[NOPS];

	for (int i = 0; i < NOPS; i++)
		distance[i] = (const char *)op[i] - base;
	goto *(base + distance[*p++]);
add:	x += 1;
	goto *(base + distance[*p++]);
triple:	x *= 3;
	goto *(base + distance[*p++]);
flip:	x ^= 0x55;
	goto *(base + distance[*p++]);
jump:	p += x & 1 ? 1 : 0;
	goto *(base + distance[*p++]);
note:	x = note(x);
	goto *(base + distance[*p++]);
halt:	return x;
}

/* One label is formed by code: kept with those of the table, compared with them. */
static __attribute__((noinline)) long by_both(const unsigned char *p, long x)
{
	static const void *const op[NOPS] = { &&add, &&triple, &&flip, &&jump, &&note, &&halt };
	const void *volatile last = &&halt;
	const void *next;

	do {
		next = op[*p++];
		if (next == last)
			return x;
		goto *next;
add:		x += 1;
		continue;
triple:		x *= 3;
		continue;
flip:		x ^= 0x55;
		continue;
jump:		p += x & 1 ? 1 : 0;
		continue;
note:		x = note(x);
		continue;
halt:		return -1;
	} while (1);
}

/* Labels and a switch. */
static __attribute__((noinline)) long by_switch(const unsigned char *p, long x)
{
	static const void *const op[NOPS] = { &&add, &&more, &&more, &&jump, &&more, &&halt };

	goto *op[*p++];
add:	x += 1;
	goto *op[*p++];
jump:	p += x & 1 ? 1 : 0;
	goto *op[*p++];
more:	switch (p[-1] + (x & 0x10000 ? 9 : 0)) {
	case TRIPLE:		x *= 3; break;
	case FLIP:		x ^= 0x55; break;
	case NOTE:		x = note(x); break;
	case 9 + TRIPLE:	x = x * 3 % 1009; break;
	case 9 + FLIP:		x ^= 0xaa; break;
	case 9 + NOTE:		x = -note(-x); break;
	case 7: case 8:		x = ~x; break;
	}
	goto *op[*p++];
halt:	return x;
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = { ADD,    TRIPLE, JUMP,   FLIP,   ADD,    NOTE,
					      TRIPLE, JUMP,   TRIPLE, FLIP,   TRIPLE, TRIPLE,
					      TRIPLE, TRIPLE, TRIPLE, TRIPLE, NOTE,   FLIP,
					      JUMP,   FLIP,   TRIPLE, ADD,    HALT };
	int where = argc > 1 && strcmp(argv[1], "where") == 0;

	long x = by_token(code, argc);
	printf("token %s\n", where ? text : "");
	printf("%ld\n", where ? 0 : x);
	x = translate(code, sizeof(code), 1);
	printf("label %s\n", where ? text : "");
	printf("%ld\n", where ? 0 : x);
	if (where)
		return 0;
	printf("distance %ld\n", by_distance(code, 1));
	printf("difference %ld\n", by_difference(code, 1));
	printf("both %ld\n", by_both(code, 1));
	printf("switch %ld\n", by_switch(code, 1));
	return 0;
}
