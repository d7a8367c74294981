/* plan.c - what the proof of a generation says of its place in memory
 *
 * Tested by tests/unit/live/test_plan.c.
 */
#include "live/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"

/* The highest address of programs. */
static const uint64_t TOP = (uint64_t)1 << 47;

static bool is_range(uint64_t addr, uint64_t size, uint64_t offset)
{
	return addr % LIVE_PAGE == 0 && size % LIVE_PAGE == 0 && offset % LIVE_PAGE == 0 &&
	       size > 0 && size < TOP && addr < TOP - size && offset < TOP;
}

static bool take_text(const char *line, struct live_plan *p)
{
	int end = 0;

	return sscanf(line, "text %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 "%n", &p->text,
		      &p->text_size, &p->original_offset, &p->generation_offset, &end) == 4 &&
	       line[end] == '\0' && is_range(p->text, p->text_size, p->original_offset) &&
	       is_range(p->text, p->text_size, p->generation_offset);
}

static bool take_new(const char *line, struct live_plan *p)
{
	struct live_new s = { 0 };
	char how[3];
	int end = 0;

	if (p->nfresh == LIVE_MAX_NEW ||
	    sscanf(line, "new %" SCNx64 " %" SCNx64 " %" SCNx64 " %2[rwx]%n", &s.addr, &s.size,
		   &s.offset, how, &end) != 4 || line[end] != '\0' ||
	    !is_range(s.addr, s.size, s.offset))
		return false;
	s.exec = strcmp(how, "rx") == 0;
	s.counters = strcmp(how, "rw") == 0;
	const struct live_new *last = p->nfresh ? &p->fresh[p->nfresh - 1] : NULL;
	uint64_t from = last ? last->addr + last->size : p->text + p->text_size;
	if (s.addr < from || (s.counters && (last || s.offset)) ||
	    (!s.exec && !s.counters && strcmp(how, "r") != 0))
		return false;
	p->fresh[p->nfresh++] = s;
	return true;
}

static bool take_digest(const char *line, struct live_plan *p)
{
	char hex[65];
	unsigned n;

	return sscanf(line, "generation %u of %64[0-9a-f]:", &n, hex) == 2 &&
	       digest_from_hex(hex, &p->original) == 0;
}

int live_plan_parse(char *text, struct live_plan *out, struct err *err)
{
	struct live_plan p = { 0 };
	char *rest = NULL;
	uint32_t n = 0;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest), n++)
		if (!(n == 0 ? take_digest(line, &p) :
		      n == 1 ? take_text(line, &p) : take_new(line, &p)))
			return err_set(err, ERR_INPUT, "line %u of the plan", n + 1);
	if (p.nfresh == 0)
		return err_set(err, ERR_INPUT, "the plan ends in line %u", n);
	*out = p;
	return 0;
}

uint64_t live_plan_fresh_size(const struct live_plan *p)
{
	const struct live_new *last = &p->fresh[p->nfresh - 1];

	return last->addr + last->size - p->fresh[0].addr;
}
