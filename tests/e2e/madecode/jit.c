/* jit.c - a program that makes code while it runs, and writes down what it is
 *
 * jit map|dump FOLDER N [NAME [stay]]: two loops, of which the second runs three times as long;
 * then it stays until its standard input ends.  With SHARED in the environment they are in
 * memory that is mapped shared, as PHP's are; with WAIT it tells its number before it runs
 * them, too, and waits for a line.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* dec %rdi; jnz; ret */
static const uint8_t loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

static void write_all(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		exit(2);
}

static void write_map(const char *path, uint8_t *const *code, const char *const *name)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(2);
	/* what was there before was other code */
	fprintf(f, "%lx 40 before\nhalf a line\n", (unsigned long)(uintptr_t)code[0]);
	for (int i = 0; i < 2; i++)
		fprintf(f, "%lx %zx %s\n", (unsigned long)(uintptr_t)code[i], sizeof(loop),
			name[i]);
	fclose(f);
}

static void write_dump(const char *path, uint8_t *const *code, const char *const *name)
{
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} head = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		exit(2);
	write_all(fd, &head, sizeof(head));
	/* how a recording learns of it */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(2);
	for (int i = 0; i < 2; i++) {
		uint32_t n = (uint32_t)strlen(name[i]) + 1;
		uint64_t start = (uint64_t)(uintptr_t)code[i];
		uint32_t record[] = { 0, (uint32_t)(16 + 40 + n + sizeof(loop)), 0, 0,
				      (uint32_t)getpid(), (uint32_t)getpid() };
		uint64_t load[] = { start, start, sizeof(loop), (uint64_t)i };

		write_all(fd, record, sizeof(record));
		write_all(fd, load, sizeof(load));
		write_all(fd, name[i], n);
		write_all(fd, loop, sizeof(loop));
	}
	close(fd);
}

/* Time in the program's own file. */
static void own(uint64_t n)
{
	for (volatile uint64_t i = 0; i < n; i = i + 1)
		;
}

int main(int argc, char **argv)
{
	const char *name[] = { "Quarter::run", argc > 4 ? argv[4] : "LazyCompile:*rest of it" };
	uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     (getenv("SHARED") ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS,
			     -1, 0);
	uint8_t *code[] = { page + 64, page + 4096 };
	char path[512];

	if (argc < 4 || page == MAP_FAILED)
		return 2;
	for (int i = 0; i < 2; i++)
		memcpy(code[i], loop, sizeof(loop));
	snprintf(path, sizeof(path), strcmp(argv[1], "map") == 0 ? "%s/perf-%d.map"
								 : "%s/jit-%d.dump",
		 argv[2], (int)getpid());
	if (strcmp(argv[1], "map") == 0)
		write_map(path, code, name);
	else
		write_dump(path, code, name);
	if (getenv("WAIT") &&
	    (printf("%d\n", (int)getpid()) < 0 || fflush(stdout) || getchar() != '\n'))
		return 2;
	uint64_t n = strtoull(argv[3], NULL, 10);
	own(n * 4);
	for (int round = 0; round < 40; round++)
		for (int i = 0; i < 2; i++) {
			void (*run)(uint64_t);

			memcpy(&run, &code[i], sizeof(run));
			run(n * (i ? 3 : 1));
		}
	printf("%d\n", (int)getpid());
	if (argc > 5 && (fflush(stdout) || getchar() != EOF))
		return 2;
	return 0;
}
