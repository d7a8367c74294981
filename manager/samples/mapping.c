/* mapping.c - keeps mappings in a treap, and in a sorted list while nothing changes
 *
 * WHY      Any process can map and unmap as fast as it likes, at addresses of its choice. With
 *          a sorted array every event would move half of it; here it costs O(log n) whatever
 *          the order. Nodes refer to each other by index, so a copy for a forked child is one
 *          memcpy.
 *
 *          Most processes map their files when they begin, and are sampled ever after.  So
 *          after some searches without a change the starts are listed in order: a search of the
 *          list does not wait for what it compares, one of the tree does at every node.
 *
 * INVARIANTS
 *   I1  node[0] is the empty tree; a child index of 0 is no child;
 *   I2  in order, starts ascend and ranges are disjoint;
 *   I3  no node has a priority above its parent's; priorities come from a generator that the
 *       input cannot steer, so the expected depth is O(log n);
 *   I4  a set with refs > 1 is not changed, but for its list;
 *   I5  the list is there, [count], or it is NULL; node numbers in it are those of the starts.
 *
 * Tested by tests/unit/manager/samples/test_space.c.
 */
#include "manager/samples/mapping.h"
#include "lib/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct mapping m;
	uint32_t prio;
	uint32_t left, right;
};

struct mappings {
	uint32_t refs;
	uint32_t root;
	uint32_t count;
	uint32_t used, cap;	/* of node[]; 0 is taken */
	uint32_t free;		/* list through .left */
	struct node *node;
	uint32_t round;		/* of the last mappings_renumber() */
	uint32_t searches;	/* since the last change */
	struct listed *list;
};

struct listed {
	uint64_t start;
	uint32_t node;
};

static uint32_t next_prio(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32);
}

static struct mappings *new_set(uint32_t cap)
{
	struct mappings *t = memory_new(1, sizeof(*t));

	t->refs = 1;
	t->used = 1;
	t->cap = cap;
	t->node = memory_new(cap, sizeof(*t->node));
	return t;
}

struct mappings *mappings_share(struct mappings *t)
{
	if (t)
		t->refs++;
	return t;
}

void mappings_drop(struct mappings *t)
{
	if (!t || --t->refs)
		return;
	free(t->list);
	free(t->node);
	free(t);
}

static struct mappings *writable(struct mappings *t)
{
	if (!t)
		return new_set(8);
	if (t->refs == 1) {
		free(t->list);
		t->list = NULL;
		t->searches = 0;
		return t;
	}
	struct mappings *copy = new_set(t->used + 8);
	struct node *node = copy->node;
	uint32_t cap = copy->cap;

	memcpy(node, t->node, t->used * sizeof(*node));
	*copy = *t;
	copy->node = node;
	copy->cap = cap;
	copy->refs = 1;
	copy->list = NULL;
	copy->searches = 0;
	t->refs--;
	return copy;
}

static uint32_t new_node(struct mappings *t, const struct mapping *m)
{
	uint32_t i = t->free;

	if (i) {
		t->free = t->node[i].left;
	} else {
		if (t->used == t->cap) {
			t->cap *= 2;
			t->node = memory_grow(t->node, t->cap, sizeof(*t->node));
		}
		i = t->used++;
	}
	t->node[i] = (struct node){ .m = *m, .prio = next_prio() };
	t->count++;
	return i;
}

static void free_tree(struct mappings *t, uint32_t i)
{
	if (!i)
		return;
	free_tree(t, t->node[i].left);
	free_tree(t, t->node[i].right);
	t->node[i].left = t->free;
	t->free = i;
	t->count--;
}

/* *below: ranges that start before `at`; *above: the rest. */
static void split(struct mappings *t, uint32_t i, uint64_t at, uint32_t *below, uint32_t *above)
{
	if (!i) {
		*below = *above = 0;
	} else if (t->node[i].m.start < at) {
		uint32_t right;

		split(t, t->node[i].right, at, &right, above);
		t->node[i].right = right;
		*below = i;
	} else {
		uint32_t left;

		split(t, t->node[i].left, at, below, &left);
		t->node[i].left = left;
		*above = i;
	}
}

static uint32_t join(struct mappings *t, uint32_t low, uint32_t high)
{
	if (!low || !high)
		return low | high;
	if (t->node[low].prio >= t->node[high].prio) {
		uint32_t right = join(t, t->node[low].right, high);

		t->node[low].right = right;
		return low;
	}
	uint32_t left = join(t, low, t->node[high].left);

	t->node[high].left = left;
	return high;
}

/* The part of the last range of tree i that reaches over `end`, as a mapping of its own;
 * what is left of the range ends at `at`. */
static bool cut_last(struct mappings *t, uint32_t i, uint64_t at, uint64_t end,
		     struct mapping *rest)
{
	if (!i)
		return false;
	while (t->node[i].right)
		i = t->node[i].right;

	struct mapping *last = &t->node[i].m;
	bool over = last->end > end;

	if (over) {
		*rest = *last;
		rest->start = end;
		rest->pgoff += end - last->start;
	}
	if (last->end > at)
		last->end = at;
	return over;
}

/* Cuts [start, end) out and enters `add`, which is that, or NULL. */
static struct mappings *change(struct mappings *t, uint64_t start, uint64_t end,
			       const struct mapping *add)
{
	uint32_t below, above, covered;
	struct mapping rest;
	bool has_rest;

	assert(start < end);
	t = writable(t);
	split(t, t->root, start, &below, &above);
	split(t, above, end, &covered, &above);
	has_rest = cut_last(t, below, start, end, &rest);
	if (!has_rest && covered)
		has_rest = cut_last(t, covered, end, end, &rest);
	free_tree(t, covered);
	if (add)
		below = join(t, below, new_node(t, add));
	if (has_rest)
		below = join(t, below, new_node(t, &rest));
	t->root = join(t, below, above);
	return t;
}

struct mappings *mappings_put(struct mappings *t, const struct mapping *add)
{
	return change(t, add->start, add->end, add);
}

struct mappings *mappings_cut(struct mappings *t, uint64_t start, uint64_t end)
{
	return mappings_count(t) ? change(t, start, end, NULL) : t;
}

static void renumber(struct mappings *t, uint32_t i, const uint32_t *number, uint32_t first)
{
	if (!i)
		return;
	renumber(t, t->node[i].left, number, first);
	if (t->node[i].m.file >= first)
		t->node[i].m.file = number[t->node[i].m.file - first] + first;
	renumber(t, t->node[i].right, number, first);
}

void mappings_renumber(struct mappings *t, const uint32_t *number, uint32_t first,
		       uint32_t round)
{
	if (!t || t->round == round)
		return;
	t->round = round;
	renumber(t, t->root, number, first);
}

static const struct mapping *find_in_tree(const struct mappings *t, uint64_t addr)
{
	for (uint32_t i = t->root; i; ) {
		const struct node *n = &t->node[i];

		if (addr < n->m.start)
			i = n->left;
		else if (addr < n->m.end)
			return &n->m;
		else
			i = n->right;
	}
	return NULL;
}

static void list_tree(struct mappings *t, uint32_t i, uint32_t *n)
{
	if (!i)
		return;
	list_tree(t, t->node[i].left, n);
	t->list[(*n)++] = (struct listed){ t->node[i].m.start, i };
	list_tree(t, t->node[i].right, n);
}

static const struct mapping *find_in_list(const struct mappings *t, uint64_t addr)
{
	const struct listed *at = t->list;

	/* It is before, or in at[0 .. n). */
	for (uint32_t n = t->count, half; n > 1; n -= half) {
		half = n / 2;
		at += at[half].start <= addr ? half : 0;
	}
	const struct mapping *m = &t->node[at->node].m;
	return addr >= m->start && addr < m->end ? m : NULL;
}

/* Making the list costs about as much as searching the tree a quarter as often. */
const struct mapping *mappings_find(struct mappings *t, uint64_t addr)
{
	uint32_t n = 0;

	if (!t || !t->count)
		return NULL;
	if (!t->list && ++t->searches > t->count / 4) {
		t->list = memory_grow(NULL, t->count, sizeof(*t->list));
		list_tree(t, t->root, &n);
	}
	return t->list ? find_in_list(t, addr) : find_in_tree(t, addr);
}

uint32_t mappings_count(const struct mappings *t)
{
	return t ? t->count : 0;
}

static void walk(const struct mappings *t, uint32_t i,
		 void (*f)(void *ctx, const struct mapping *m), void *ctx)
{
	if (!i)
		return;
	walk(t, t->node[i].left, f, ctx);
	f(ctx, &t->node[i].m);
	walk(t, t->node[i].right, f, ctx);
}

void mappings_each(const struct mappings *t, void (*f)(void *ctx, const struct mapping *m),
		   void *ctx)
{
	if (t)
		walk(t, t->root, f, ctx);
}
