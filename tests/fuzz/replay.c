/* replay.c - a fuzz target without libFuzzer: every file of its corpus once
 *
 * The corpus of fuzz_NAME is tests/fuzz/corpus/NAME; other files or folders may be given as
 * arguments.  Besides every input itself, each is tried cut short at a few places, which costs
 * little and finds most unchecked reads.  One TAP line for the target; a crash prints no plan,
 * and the last file named on stderr is the culprit.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CUTS = 8, INPUT_SECONDS = 20, INPUT_MAX = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned files, inputs;

static void run(const uint8_t *p, size_t n)
{
	/* so that a sanitizer sees reads past the end */
	uint8_t *exact = malloc(n ? n : 1);

	if (!exact)
		exit(1);
	memcpy(exact, p, n);
	alarm(INPUT_SECONDS);
	(void)LLVMFuzzerTestOneInput(exact, n);	/* always 0 */
	alarm(0);
	free(exact);
	inputs++;
}

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = malloc(INPUT_MAX);

	fprintf(stderr, "# %s\n", path);
	if (!f || !p) {
		perror(path);
		exit(1);
	}
	size_t n = fread(p, 1, INPUT_MAX, f);
	(void)fclose(f);	/* only read */
	run(p, n);
	for (size_t i = 0; i < CUTS; i++)
		run(p, n * i / CUTS);
	free(p);
	files++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void replay(const char *path)
{
	struct dirent **entry;
	struct stat st;
	int n;

	if (stat(path, &st) < 0) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path);
		return;
	}
	n = scandir(path, &entry, NULL, by_name);
	for (int i = 0; i < n; i++) {
		char sub[4096];

		(void)snprintf(sub, sizeof(sub), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.')
			replay(sub);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	char corpus[4096];

	(void)snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s",
		       strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name);
	if (argc < 2)
		replay(corpus);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	run((const uint8_t *)"", 0);
	printf("%sok 1 - %s: %u files, %u inputs\n1..1\n", files ? "" : "not ", name, files,
	       inputs);
	return files ? 0 : 1;
}
