/* saving.c - speed times use; see saving.h
 *
 * Tested by tests/unit/policy/test_saving.c.
 */
#include "policy/saving.h"

#include <math.h>

enum side { LOW, ESTIMATE, HIGH };

/* Little is saved where the shift is large. */
static double shift_of(const struct saving_link *l, enum side side)
{
	return side == LOW ? l->high : side == HIGH ? l->low : l->estimate;
}

static double saved(double process_s, double module_s, const struct saving_link *link,
		    uint32_t n, enum side side)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		double of = link[i].of_module ? module_s : process_s;
		double more = of * expm1(-shift_of(&link[i], side));

		sum += more;
		process_s += more;
		module_s = fmax(0, module_s + more);
	}
	return sum;
}

struct saving saving_of(double process_s, double module_s, const struct saving_link *link,
			uint32_t n)
{
	return (struct saving){ saved(process_s, module_s, link, n, LOW),
				saved(process_s, module_s, link, n, ESTIMATE),
				saved(process_s, module_s, link, n, HIGH) };
}

void saving_add(struct saving *to, const struct saving *more)
{
	to->low_s += more->low_s;
	to->estimate_s += more->estimate_s;
	to->high_s += more->high_s;
}
