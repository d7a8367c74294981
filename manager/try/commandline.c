/* commandline.c - finds the program that a command line starts */
#include "manager/try/commandline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"

/* The kernel's: a longer first line is no script, nor is a script of scripts deeper. */
enum { LINE_MAX_BYTES = 255, DEPTH_MAX = 5 };

/* False with errno, as execve(2) has it. */
static bool is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return access(path, X_OK) == 0;
	errno = EACCES;
	return false;
}

/* By PATH, unless there is a slash in it; NULL with errno. */
static char *find(const char *name)
{
	const char *path = getenv("PATH");
	char *all = NULL, *found = NULL;

	if (strchr(name, '/'))
		return memory_need(strdup(name));
	for (const char *p = path ? path : "/bin:/usr/bin"; !found; p++) {
		size_t n = strcspn(p, ":");

		if (asprintf(&all, "%.*s%s%s", (int)n, p, n ? "/" : "./", name) < 0)
			memory_exhausted();
		if (is_program(all))
			found = all;
		else
			free(all);
		p += n;
		if (!*p)
			break;
	}
	if (!found)
		errno = ENOENT;
	return found;
}

static unsigned count(char *const *argv)
{
	unsigned n = 0;

	while (argv[n])
		n++;
	return n;
}

static char **copy(char *const *argv)
{
	unsigned n = count(argv);
	char **out = memory_new(n + 1, sizeof(*out));

	for (unsigned i = 0; i < n; i++)
		out[i] = memory_need(strdup(argv[i]));
	return out;
}

static void free_words(char **argv)
{
	for (unsigned i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* "#! INTERPRETER ARGUMENT": the words, allocated; false: it is no script. */
static bool read_script(const char *path, char **interpreter, char **argument)
{
	char line[LINE_MAX_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, line, LINE_MAX_BYTES, 0);

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	size_t length = strcspn(line, "\n");
	if (n < 2 || line[0] != '#' || line[1] != '!' || !line[length])
		return false;
	line[length] = '\0';
	char *p = line + 2 + strspn(line + 2, " \t");
	size_t word = strcspn(p, " \t");
	if (!word)
		return false;
	char *rest = p + word + strspn(p + word, " \t");
	size_t end = strlen(rest);
	while (end && (rest[end - 1] == ' ' || rest[end - 1] == '\t'))
		rest[--end] = '\0';
	*interpreter = memory_need(strndup(p, word));
	*argument = end ? memory_need(strdup(rest)) : NULL;
	return true;
}

/* The words become INTERPRETER ARGUMENT SCRIPT and what followed the first one. */
static void put_in_front(struct commandline *c, char *interpreter, char *argument)
{
	unsigned n = count(c->argv), k = 0;
	char **out = memory_new(n + 3, sizeof(*out));

	out[k++] = memory_need(strdup(interpreter));
	if (argument)
		out[k++] = argument;
	out[k++] = c->program;
	for (unsigned i = 1; i < n; i++)
		out[k++] = c->argv[i];
	if (n)
		free(c->argv[0]);
	free(c->argv);
	c->argv = out;
	c->program = interpreter;
}

int commandline_resolve(char *const *argv, struct commandline *out, struct err *err)
{
	struct commandline c = { .program = find(argv[0]), .argv = copy(argv) };
	char *interpreter, *argument;
	int depth = 0;

	while (c.program && depth < DEPTH_MAX && is_program(c.program) &&
	       read_script(c.program, &interpreter, &argument)) {
		put_in_front(&c, interpreter, argument);
		depth++;
	}
	char *real = c.program && is_program(c.program) ? realpath(c.program, NULL) : NULL;
	if (!real || depth == DEPTH_MAX) {
		err_set(err, ERR_SYS, "'%s': %s", argv[0],
			real ? "scripts of scripts" : strerror(errno));
		free(real);
		commandline_free(&c);
		return -1;
	}
	free(c.program);
	c.program = real;
	*out = c;
	return 0;
}

void commandline_free(struct commandline *c)
{
	free(c->program);
	free_words(c->argv);
	*c = (struct commandline){ 0 };
}
