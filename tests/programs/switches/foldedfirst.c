/* foldedfirst.c - in front of folded.c: constants that end with functions and a number */
volatile int sink;
extern int run(long, long, unsigned long, int (**)(int));

static int minus(int x)
{
	return x - sink;
}

const struct {
	int (*run)(long, long, unsigned long, int (**)(int)), (*back)(int);
	long limit;
} operations = { run, minus, 1000 };
