#include "lib/confine.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "lib/err.h"

static int limit(int resource, uint64_t value, const char *name, struct err *err)
{
	struct rlimit r = { value, value };

	if (setrlimit(resource, &r) < 0)
		return err_set(err, ERR_SYS, "setrlimit %s: %s", name, strerror(errno));
	return 0;
}

#ifndef MORPH_SANITIZED
static const int allowed[] = {
	SCMP_SYS(write), SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(ftruncate),
	SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
	SCMP_SYS(sysinfo),	/* qsort() asks how much memory there is */
	SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit), SCMP_SYS(exit_group),
};

static int filter_system_calls(struct err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = ctx ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < sizeof(allowed) / sizeof(allowed[0]); i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (rc == 0)
		rc = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return rc == 0 ? 0 : err_set(err, ERR_SYS, "seccomp: %s", strerror(-rc));
}
#else
static int filter_system_calls(struct err *err)
{
	(void)err;
	return 0;
}
#endif

int confine_job(uint64_t memory_bytes, unsigned cpu_s, struct err *err)
{
	if (limit(RLIMIT_CORE, 0, "core", err) < 0 ||
	    (memory_bytes && limit(RLIMIT_AS, memory_bytes, "address space", err) < 0) ||
	    (cpu_s && limit(RLIMIT_CPU, cpu_s, "CPU time", err) < 0))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, ERR_SYS, "prctl: %s", strerror(errno));
	return filter_system_calls(err);
}
