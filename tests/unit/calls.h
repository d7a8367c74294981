/* calls.h - runs something in a child and writes down the system calls that change files, or
 * that open them, in order (ptrace)
 *
 * One line a call, with names below a root.  Of what is made up at run time only the kind is
 * told: ".morph-?", "journal-?", and "DIGEST" for 64 hex digits.
 *
 *   open PATH FLAG...    only with a name: /proc/self/fd/N is left out, and folders
 *   write PATH           one line for all in a row
 *   fsync PATH, chmod PATH, chown PATH, times PATH, xattr PATH, unlink PATH
 *   link FROM TO
 *   rename PATH PATH, exchange PATH PATH
 */
#ifndef TESTS_UNIT_CALLS_H
#define TESTS_UNIT_CALLS_H

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "tests/unit/inject.h"

struct calls {
	const char *root;	/* left out of paths */
	char text[1 << 16];
	size_t n;
	int exit_code;
};

static inline void calls_get(pid_t pid, uint64_t at, void *out, size_t n)
{
	struct iovec local = { out, n }, remote = { (void *)(uintptr_t)at, n };

	memset(out, 0, n);
	(void)process_vm_readv(pid, &local, 1, &remote, 1, 0);	/* short at the stack's end */
}

/* What is made up at run time gets one name. */
static inline void calls_generic(char *path)
{
	char *p;

	if ((p = strstr(path, ".morph-")) != NULL)
		strcpy(p + 7, "?");
	if ((p = strstr(path, "journal-")) != NULL)
		strcpy(p + 8, "?");
	p = strrchr(path, '/');
	p = p ? p + 1 : path;
	if (strlen(p) == 64 && strspn(p, "0123456789abcdef") == 64)
		strcpy(p, "DIGEST");
}

static inline void calls_fd(pid_t pid, const char *root, int fd, char out[PATH_MAX])
{
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	ssize_t n = readlink(link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	size_t len = strlen(root);
	if (strncmp(out, root, len) == 0 && out[len] == '/')
		memmove(out, out + len + 1, strlen(out + len));
	calls_generic(out);
}

static inline void calls_at(pid_t pid, const char *root, int dir, uint64_t name,
			    char out[PATH_MAX])
{
	char given[PATH_MAX], in[PATH_MAX] = "";

	calls_get(pid, name, given, sizeof(given) - 1);
	given[sizeof(given) - 1] = '\0';
	if (given[0] != '/')
		calls_fd(pid, root, dir, in);
	size_t len = strlen(root);
	if (strncmp(given, root, len) == 0 && given[len] == '/')
		memmove(given, given + len + 1, strlen(given + len));
	(void)snprintf(out, PATH_MAX, "%.2000s%s%.2000s", in, in[0] ? "/" : "", given);
	calls_generic(out);
}

static inline void calls_line(struct calls *c, const char *what, const char *path,
			      const char *more)
{
	char line[2 * PATH_MAX + 32];
	int n = snprintf(line, sizeof(line), "%s %s%s%s\n", what, path, more[0] ? " " : "",
			 more);

	assert(n > 0 && c->n + (size_t)n < sizeof(c->text));
	/* writes in a row, and xattrs */
	if ((size_t)n <= c->n && memcmp(c->text + c->n - n, line, (size_t)n) == 0 &&
	    (strcmp(what, "write") == 0 || strcmp(what, "xattr") == 0))
		return;
	memcpy(c->text + c->n, line, (size_t)n + 1);
	c->n += (size_t)n;
}

static inline void calls_open(struct calls *c, const char *path, uint64_t flags,
			      uint64_t resolve)
{
	char more[128];

	if (strncmp(path, "/proc/", 6) == 0)
		return;
	(void)snprintf(more, sizeof(more), "%s%s%s%s%s%s%s%s",
		       flags & O_PATH ? "path " : "",
		       (flags & O_ACCMODE) != O_RDONLY ? "write " : "",
		       flags & O_CREAT ? "create " : "", flags & O_EXCL ? "new " : "",
		       flags & O_TRUNC ? "empty " : "",
		       flags & O_DIRECTORY ? "folder " : "",
		       flags & O_NOFOLLOW || resolve & RESOLVE_NO_SYMLINKS ? "nofollow " : "",
		       flags & O_CLOEXEC ? "cloexec" : "");
	calls_line(c, "open", path, more);
}

static inline void calls_take(struct calls *c, pid_t pid, const struct user_regs_struct *r)
{
	char a[PATH_MAX], b[PATH_MAX];
	struct open_how how;

	switch (r->orig_rax) {
	case SYS_openat:
		calls_at(pid, c->root, (int)r->rdi, r->rsi, a);
		calls_open(c, a, r->rdx, 0);
		return;
	case SYS_openat2:
		calls_at(pid, c->root, (int)r->rdi, r->rsi, a);
		calls_get(pid, r->rdx, &how, sizeof(how));
		calls_open(c, a, how.flags, how.resolve);
		return;
	case SYS_renameat:
	case SYS_renameat2:
		calls_at(pid, c->root, (int)r->rdi, r->rsi, a);
		calls_at(pid, c->root, (int)r->rdx, r->r10, b);
		calls_line(c, r->orig_rax == SYS_renameat2 && r->r8 & 2 ? "exchange" : "rename",
			   a, b);
		return;
	case SYS_linkat:
		calls_at(pid, c->root, (int)r->rdi, r->rsi, a);
		calls_at(pid, c->root, (int)r->rdx, r->r10, b);
		calls_line(c, "link", a, b);
		return;
	case SYS_unlinkat:
		calls_at(pid, c->root, (int)r->rdi, r->rsi, a);
		calls_line(c, "unlink", a, "");
		return;
	default:
		break;
	}
	const char *what = r->orig_rax == SYS_fsync || r->orig_rax == SYS_fdatasync ? "fsync" :
			   r->orig_rax == SYS_write ? "write" :
			   r->orig_rax == SYS_fchmod ? "chmod" :
			   r->orig_rax == SYS_fchown ? "chown" :
			   r->orig_rax == SYS_fsetxattr ? "xattr" :
			   r->orig_rax == SYS_utimensat ? "times" : NULL;
	if (!what)
		return;
	calls_fd(pid, c->root, (int)r->rdi, a);
	calls_line(c, what, a, "");
}

/* Runs f(ctx) and fills in the rest of *c. */
static inline void calls_record(struct calls *c, int (*f)(void *ctx), void *ctx)
{
	struct user_regs_struct regs;
	int status;
	pid_t pid = fork();

	c->n = 0;
	c->text[0] = '\0';
	assert(pid >= 0);
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		_exit(f(ctx) == 0 ? 0 : 1);
	}
	assert(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	assert(ptrace(PTRACE_SETOPTIONS, pid, 0,
		      PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) == 0);
	while (inject_step(pid, &regs, &status)) {		/* entry */
		calls_take(c, pid, &regs);
		if (!inject_step(pid, &regs, &status))		/* return */
			break;
	}
	c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
