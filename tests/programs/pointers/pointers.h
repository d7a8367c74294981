/* pointers.h - between the program and the library of tests/programs/pointers.sh */
#ifndef POINTERS_H
#define POINTERS_H

typedef int number_fn(int);

struct operations {
	number_fn *first, *second;
	const char *name;
};

/* Functions that the library exports: both sides take their address. */
number_fn twice, thrice, resolved;
extern number_fn thrice_alias;

/* The library's own view of function `which`, by the way that its name says. */
number_fn *by_code(int which);
number_fn *by_table(int which);
number_fn *by_structure(int which);
int is_mine(int which, number_fn *f);

/* Given to the library and given back. */
void keep_pointer(number_fn *f);
number_fn *kept_pointer(void);
int call_kept(int n);
extern struct operations exported_operations;

#endif
