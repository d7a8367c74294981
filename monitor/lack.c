/* lack.c - notes what the machine does not offer the Monitor, and why */
#include "monitor/lack.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *loss;
} row[NLACK] = {
#define LACK(id, name, loss) [LACK_##id] = { name, loss },
#include "monitor/lack.def"
#undef LACK
};

const char *lack_name(enum lack what)
{
	return row[what].name;
}

const char *lack_loss(enum lack what)
{
	return row[what].loss;
}

void lack_note(struct lacks *l, const char *name, const char *why)
{
	size_t n = strlen(l->note);

	(void)snprintf(l->note + n, sizeof(l->note) - n, "%s%s: %s", n ? "; " : "", name, why);
}

void lack_add(struct lacks *l, enum lack what, const char *why)
{
	(void)snprintf(l->why[what], LACK_WHY_MAX, "%.*s", LACK_WHY_MAX - 1, why);
	lack_note(l, lack_name(what), why);
}
