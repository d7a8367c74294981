/* library.c - functions whose addresses go out through symbols, tables, structures and code */
#include "pointers.h"

enum { NFN = 4 };

static number_fn *kept;
static int constructed;

__attribute__((constructor)) static void construct(void)
{
	constructed = 1;
}

int twice(int n)
{
	return 2 * n;
}

int thrice(int n)
{
	return 3 * n;
}
extern number_fn thrice_alias __attribute__((alias("thrice")));

__attribute__((noinline)) static int hidden(int n)
{
	return n + constructed;
}

/* Reached by pointers in data only. */
static int hidden_too(int n)
{
	return n - 7;
}

static int plain_way(int n)
{
	return n ^ 0x55;
}

__attribute__((used)) static number_fn *resolve(void)
{
	return plain_way;
}
int resolved(int n) __attribute__((ifunc("resolve")));

struct operations exported_operations = { twice, hidden, "exported" };
static number_fn *const table[NFN] = { twice, thrice, hidden, hidden_too };
static const struct operations structure[2] = {
	{ twice, thrice, "first" }, { hidden, hidden_too, "second" },
};

number_fn *by_table(int which)
{
	return table[which];
}

number_fn *by_structure(int which)
{
	const struct operations *o = &structure[which / 2];

	return which % 2 ? o->second : o->first;
}

number_fn *by_code(int which)
{
	switch (which) {
	case 0:
		return twice;
	case 1:
		return thrice_alias;
	case 2:
		return hidden;
	case 3:
		return by_structure(3);
	default:
		return plain_way;
	}
}

int is_mine(int which, number_fn *f)
{
	return f == by_code(which) && f == table[which] && (which != 2 || f == hidden);
}

void keep_pointer(number_fn *f)
{
	kept = f;
}

number_fn *kept_pointer(void)
{
	return kept;
}

int call_kept(int n)
{
	return kept == twice || kept == hidden ? -kept(n) : kept(n);
}
