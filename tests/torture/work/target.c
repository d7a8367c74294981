/* target.c - what gdb looks at in the workload gdb.sh */
#include <stdio.h>
#include <stdlib.h>

struct tree {
	struct tree *left, *right;
	int value;
};

static int visited;

static struct tree *grow(int depth)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t)
		exit(1);
	t->value = depth;
	if (depth > 0) {
		t->left = grow(depth - 1);
		t->right = grow(depth - 1);
	}
	return t;
}

static struct tree *visit(struct tree *t)
{
	visited++;
	if (t->left)
		(void)visit(t->left);
	if (t->right)
		(void)visit(t->right);
	return t;
}

int main(void)
{
	struct tree *t = grow(5);

	return printf("%d %d\n", visit(t)->value, visited) < 0;
}
