/* test_mustrun.c - every small flow graph, with every choice of blocks that were seen to run
 *
 * What must hold is reckoned here from its definition: which blocks lead to no exit, how many
 * unseen blocks the best way has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/graph/mustrun.h"
#include "tests/unit/flowgraphs.h"

enum { MAX_JUMPS = 2 * FLOWGRAPH_MAX, FAR = 100 };

struct sample {				/* of blocks of one graph */
	struct mustrun m;
	struct mustrun_node node[FLOWGRAPH_MAX];
	struct mustrun_jump jump[MAX_JUMPS];
	uint32_t seen;			/* bit v: block v */
	uint32_t cases;
};

static void make(const struct flowgraph *g, struct sample *s)
{
	s->m = (struct mustrun){ g->n, 0, s->node, s->jump };
	for (uint32_t v = 0; v < g->n; v++) {
		s->node[v] = (struct mustrun_node){ .runs = s->seen >> v & 1 };
		for (int k = 0; k < 2; k++)
			if (g->way[v][k] != FLOWGRAPH_NONE)
				s->jump[s->m.njump++] =
					(struct mustrun_jump){ .from = v, .to = g->way[v][k] };
		if (g->way[v][0] == FLOWGRAPH_NONE)
			s->jump[s->m.njump++] =
				(struct mustrun_jump){ .from = v, .to = MUSTRUN_EXIT };
	}
}

/* Blocks that can be reached from those of `from`, by jumps that run or by all. */
static uint32_t reached(const struct sample *s, uint32_t from, bool running)
{
	for (uint32_t before = 0; from != before; ) {
		before = from;
		for (uint32_t j = 0; j < s->m.njump; j++)
			if (from >> s->jump[j].from & 1 && s->jump[j].to != MUSTRUN_EXIT &&
			    (!running || s->jump[j].runs))
				from |= 1u << s->jump[j].to;
	}
	return from;
}

static bool leaves(const struct sample *s, uint32_t from)
{
	for (uint32_t j = 0; j < s->m.njump; j++)
		if (from >> s->jump[j].from & 1 && s->jump[j].to == MUSTRUN_EXIT)
			return true;
	return false;
}

/* The fewest unseen blocks on a way from the entry to v (forward), or from v out. */
static uint32_t unseen_on_way(const struct sample *s, uint32_t v, bool forward)
{
	uint32_t least[FLOWGRAPH_MAX], best = FAR;

	for (uint32_t u = 0; u < s->m.nnode; u++)
		least[u] = u == (forward ? 0 : v) ? !(s->seen >> u & 1) : FAR;
	for (uint32_t round = 0; round < s->m.nnode; round++)
		for (uint32_t j = 0; j < s->m.njump; j++) {
			uint32_t to = s->jump[j].to;

			if (to == MUSTRUN_EXIT)
				continue;
			uint32_t n = least[s->jump[j].from] + !(s->seen >> to & 1);
			least[to] = n < least[to] ? n : least[to];
		}
	if (forward)
		return least[v];
	for (uint32_t u = 0; u < s->m.nnode; u++)
		if (leaves(s, 1u << u) && least[u] < best)
			best = least[u];
	return best == FAR ? 0 : best;
}

static void check(const struct sample *s)
{
	uint32_t running = 0, needed = 0, most = 0;

	for (uint32_t v = 0; v < s->m.nnode; v++)
		running |= (uint32_t)s->node[v].runs << v;
	assert_int_equal(running & s->seen, s->seen);
	for (uint32_t v = 0; v < s->m.nnode; v++) {
		uint32_t behind = reached(s, 1u << v, false);

		assert_int_equal(s->node[v].leads_to_abnormal,
				 !leaves(s, behind) && !(behind & s->seen));
		if (!s->node[v].runs)
			continue;
		assert_true(reached(s, 1, true) >> v & 1);
		needed += !(s->seen >> v & 1);
		if (!(s->seen >> v & 1))
			continue;
		assert_int_equal(leaves(s, reached(s, 1u << v, true)), leaves(s, behind));
		most += unseen_on_way(s, v, true) + unseen_on_way(s, v, false);
	}
	assert_true(needed <= most);
}

static void try_graph(const struct flowgraph *g, void *ctx)
{
	struct sample *s = ctx;

	for (s->seen = 0; s->seen < 1u << g->n; s->seen++) {
		make(g, s);
		mustrun_find(&s->m);
		check(s);
		s->cases++;
	}
}

static void what_is_seen_is_joined_by_few_others(void **state)
{
	static const uint32_t graphs[] = { 0, 2, 8, 70, 802, 12008 };
	struct sample s = { .cases = 0 };

	(void)state;
	for (uint32_t n = 1; n <= 5; n++)
		assert_int_equal(flowgraphs_each(n, try_graph, &s), graphs[n]);
	assert_int_equal(s.cases, 2 * 2 + 8 * 4 + 70 * 8 + 802 * 16 + 12008 * 32);
}

/* 0 leads to 1 over 3 and 4; the landing pad 2 leads there at once. */
static void exceptions_are_no_way_where_there_is_another(void **state)
{
	struct mustrun_node node[] = { { .runs = true }, { .runs = true },
				       { .entered = true, .thrown = true }, { 0 }, { 0 } };
	struct mustrun_jump jump[] = { { 0, 3, false, false }, { 3, 4, false, false },
				       { 4, 1, false, false }, { 2, 1, false, false },
				       { 1, MUSTRUN_EXIT, false, false } };
	struct mustrun m = { 5, 5, node, jump };

	(void)state;
	mustrun_find(&m);
	assert_true(node[3].runs && node[4].runs && !node[2].runs);
	node[3].runs = node[4].runs = false;
	jump[0].to = 0;
	mustrun_find(&m);
	assert_true(node[2].runs && jump[3].runs && !node[3].runs);
}

/* 1 is entered by computed jumps; it can abort, 2, or return, 3. */
static void ways_end_at_normal_exits(void **state)
{
	struct mustrun_node node[] = { { 0 }, { .runs = true, .entered = true }, { 0 }, { 0 } };
	struct mustrun_jump jump[] = { { 0, 2, false, false }, { 1, 2, false, false },
				       { 1, 3, false, false }, { 2, MUSTRUN_EXIT, true, false },
				       { 3, MUSTRUN_EXIT, false, false } };
	struct mustrun m = { 4, 5, node, jump };

	(void)state;
	mustrun_find(&m);
	assert_true(node[0].leads_to_abnormal && node[2].leads_to_abnormal);
	assert_false(node[1].leads_to_abnormal || node[3].leads_to_abnormal);
	assert_true(node[3].runs && jump[2].runs && !node[2].runs && !node[0].runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_seen_is_joined_by_few_others),
		cmocka_unit_test(exceptions_are_no_way_where_there_is_another),
		cmocka_unit_test(ways_end_at_normal_exits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
