#include "manager/counter.h"

const char *const counter_name[NCOUNTER] = {
#define COUNTER(id, name, help) name,
#include "manager/counter.def"
#undef COUNTER
};

const char *const counter_help[NCOUNTER] = {
#define COUNTER(id, name, help) help,
#include "manager/counter.def"
#undef COUNTER
};
