/* liar.c - in the place of morph-edit for tests/e2e/stacks.sh: a job that was taken over writes
 * to all that it may write to, ANSWER */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const unsigned char answer[] = { ANSWER };

int main(int argc, char **argv)
{
	int fd = -1;

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "fd:", 3) == 0)
			fd = atoi(argv[i] + 3);
	return write(fd, answer, sizeof(answer)) != (ssize_t)sizeof(answer);
}
