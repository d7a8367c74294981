/* names.h - the library of names.c */
#ifndef NAMES_H
#define NAMES_H

int lib_first(int n, void (*look)(const char *where));
int lib_second(int n, void (*look)(const char *where));
int lib_versioned(int n);

#endif
