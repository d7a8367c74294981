/* branch_tracer.c - records every taken branch of a command, like perf script, without a PMU
 *
 *	branch_tracer OUT COMMAND [ARG...]
 *
 * The command runs one instruction at a time.  Where the next one is not the one behind it, a
 * branch was taken: the same that a processor's branch stack would have.  OUT gets the text
 * of `perf script -F pid,time,ip,brstack --show-mmap-events`: the mappings at the exec, and
 * branch stacks of 32, each of which begins with the last branch of the one before, so that no
 * run is missing.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binary/decode.h"

enum { STACK = 32, INSN_MAX = 15 };

struct branch {
	uint64_t from, to;
};

static uint64_t clock_us;

static void head(FILE *out, pid_t pid)
{
	clock_us++;
	(void)fprintf(out, "%d/%d %" PRIu64 ".%06" PRIu64 ": ", pid, pid, clock_us / 1000000,
		      clock_us % 1000000);
}

static void write_mappings(FILE *out, pid_t pid)
{
	char path[64], line[4352], prot[8], name[4096];
	uint64_t from, to, off, inode;
	unsigned major, minor;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64
			   " %4095[^\n]", &from, &to, prot, &off, &major, &minor, &inode,
			   name) != 8 || prot[2] != 'x')
			continue;
		head(out, pid);
		(void)fprintf(out, "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%" PRIx64
			      ") @ 0x%" PRIx64 " %02x:%02x %" PRIu64 " 0]: %s %s\n",
			      pid, pid, from, to - from, off, major, minor, inode, prot, name);
	}
	if (maps)
		(void)fclose(maps);
}

static void write_stack(FILE *out, pid_t pid, const struct branch *b, unsigned n)
{
	head(out, pid);
	(void)fprintf(out, "%" PRIx64 " ", b[n - 1].to);
	while (n--)
		(void)fprintf(out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0", b[n].from, b[n].to);
	(void)fputc('\n', out);
}

/* Did the instruction at `from` lead to `to` by a branch?  One that repeats stays in place. */
static bool is_branch(pid_t pid, uint64_t from, uint64_t to)
{
	uint8_t code[INSN_MAX + 1] = { 0 };
	struct iovec here = { code, sizeof(code) },
		     there = { (void *)(uintptr_t)from, sizeof(code) };
	struct insn insn;
	vaddr target;

	if (to == from || process_vm_readv(pid, &here, 1, &there, 1, 0) < 1 ||
	    !insn_decode((struct bytes){ code, sizeof(code) }, from, &insn, &target))
		return false;
	bool always = insn.kind == INSN_CALL || insn.kind == INSN_ICALL ||
		      (insn_ends_flow(&insn) && insn.kind != INSN_TRAP);
	return always || to != from + insn.len;
}

static int trace(FILE *out, pid_t pid)
{
	struct branch b[STACK];
	struct user_regs_struct r;
	uint64_t pc = 0;
	unsigned n = 0;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);

		if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
			break;
		if (!pc)
			write_mappings(out, pid);
		else if (is_branch(pid, pc, r.rip))
			b[n++] = (struct branch){ pc, r.rip };
		pc = r.rip;
		if (n == STACK) {
			write_stack(out, pid, b, n);
			b[0] = b[n - 1];
			n = 1;
		}
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(uintptr_t)sig) < 0)
			break;
	}
	if (n > 1)
		write_stack(out, pid, b, n);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	FILE *out = argc < 3 ? NULL : fopen(argv[1], "w");

	if (!out) {
		(void)fputs("usage: branch_tracer OUT COMMAND [ARG...]\n", stderr);
		return 2;
	}
	pid_t pid = fork();
	if (pid == 0) {
		(void)personality(ADDR_NO_RANDOMIZE);	/* else addresses differ, that is all */
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execv(argv[2], argv + 2);
		_exit(127);
	}
	int code = pid < 0 ? 1 : trace(out, pid);
	return fclose(out) == 0 ? code : 1;
}
