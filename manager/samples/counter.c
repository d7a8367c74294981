/* counter.c - the table of names and help texts that counter.def makes */
#include "manager/samples/counter.h"

const char *const counter_name[NCOUNTER] = {
#define COUNTER(id, name, help) name,
#include "manager/samples/counter.def"
#undef COUNTER
};

const char *const counter_help[NCOUNTER] = {
#define COUNTER(id, name, help) help,
#include "manager/samples/counter.def"
#undef COUNTER
};
