/* counter.h - what can become of a sample: a counter for each line of counter.def */
#ifndef MANAGER_SAMPLES_COUNTER_H
#define MANAGER_SAMPLES_COUNTER_H

enum counter {
#define COUNTER(id, name, help) COUNTER_##id,
#include "manager/samples/counter.def"
#undef COUNTER
	NCOUNTER
};

extern const char *const counter_name[NCOUNTER];
extern const char *const counter_help[NCOUNTER];

#endif
