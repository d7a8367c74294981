/* filter.c - runs the filters of system calls that a process has
 *
 * Tested by tests/unit/live/test_filter.c and tests/e2e/live.sh.
 */
#include "live/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "lib/err.h"

/* The kernel has no more instructions in the way of a call. */
enum { MOST = 1 << 15 };

int live_filters_read(pid_t tid, struct live_filters *out, struct err *err)
{
	uint32_t all = 0;
	long n;

	*out = (struct live_filters){ 0 };
	while ((n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, out->n, NULL)) > 0) {
		if (n > BPF_MAXINSNS || all + (uint32_t)n > MOST)
			break;
		out->code = realloc(out->code, (all + (uint32_t)n) * sizeof(*out->code));
		out->end = realloc(out->end, (out->n + 1) * sizeof(*out->end));
		if (!out->code || !out->end)
			abort();
		if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, out->n, out->code + all) != n)
			break;
		out->end[out->n++] = all += (uint32_t)n;
	}
	/* behind the last one; or there is no filter at all */
	if (n < 0 && (errno == ENOENT || (errno == EINVAL && !out->n)))
		return 0;
	live_filters_free(out);
	return err_set(err, ERR_REFUSED, "what it filters its system calls by (seccomp) cannot "
		       "be seen");
}

void live_filters_free(struct live_filters *f)
{
	free(f->code);
	free(f->end);
	*f = (struct live_filters){ 0 };
}

/* --- one program --- */

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	uint32_t pc, n;
	const struct seccomp_data *data;
};

static bool load(struct machine *m, const struct sock_filter *i, uint32_t *to)
{
	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		*to = i->k;
		return true;
	case BPF_LEN:
		*to = sizeof(*m->data);
		return true;
	case BPF_MEM:
		if (i->k >= BPF_MEMWORDS)
			return false;
		*to = m->memory[i->k];
		return true;
	case BPF_ABS:
		if (i->k % 4 || i->k > sizeof(*m->data) - 4)
			return false;
		memcpy(to, (const char *)m->data + i->k, 4);
		return true;
	default:
		return false;
	}
}

static bool calculate(struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += v;
		return true;
	case BPF_SUB:
		m->a -= v;
		return true;
	case BPF_MUL:
		m->a *= v;
		return true;
	case BPF_DIV:
		m->a = v ? m->a / v : 0;
		return v != 0 || BPF_SRC(i->code) == BPF_X;
	case BPF_OR:
		m->a |= v;
		return true;
	case BPF_AND:
		m->a &= v;
		return true;
	case BPF_XOR:
		m->a ^= v;
		return true;
	case BPF_LSH:
		m->a <<= v & 31;
		return v < 32;
	case BPF_RSH:
		m->a >>= v & 31;
		return v < 32;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

static bool jump(struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k, by;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		by = i->k;
		break;
	case BPF_JEQ:
		by = m->a == v ? i->jt : i->jf;
		break;
	case BPF_JGT:
		by = m->a > v ? i->jt : i->jf;
		break;
	case BPF_JGE:
		by = m->a >= v ? i->jt : i->jf;
		break;
	case BPF_JSET:
		by = m->a & v ? i->jt : i->jf;
		break;
	default:
		return false;
	}
	if (by > m->n - m->pc)
		return false;
	m->pc += by;
	return true;
}

static bool step(struct machine *m, const struct sock_filter *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return BPF_SIZE(i->code) == BPF_W && load(m, i, &m->a);
	case BPF_LDX:
		return BPF_SIZE(i->code) == BPF_W && BPF_MODE(i->code) != BPF_ABS &&
		       load(m, i, &m->x);
	case BPF_ST:
	case BPF_STX:
		if (i->k >= BPF_MEMWORDS)
			return false;
		m->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
		return true;
	case BPF_ALU:
		return calculate(m, i);
	case BPF_JMP:
		return jump(m, i);
	case BPF_MISC:
		*(BPF_MISCOP(i->code) == BPF_TAX ? &m->x : &m->a) =
			BPF_MISCOP(i->code) == BPF_TAX ? m->a : m->x;
		return true;
	default:
		return false;
	}
}

uint32_t live_filter_run(const struct sock_filter *code, uint32_t n,
			 const struct seccomp_data *data)
{
	struct machine m = { .n = n, .data = data };

	while (m.pc < n) {
		const struct sock_filter *i = &code[m.pc++];

		if (BPF_CLASS(i->code) == BPF_RET)
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		if (!step(&m, i))
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}

bool live_filters_allow(const struct live_filters *f, long nr, const uint64_t arg[6],
			uint64_t ip)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = AUDIT_ARCH_X86_64,
				     .instruction_pointer = ip };
	uint32_t at = 0;

	memcpy(data.args, arg, sizeof(data.args));
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t answer = live_filter_run(f->code + at, f->end[i] - at, &data);

		answer &= SECCOMP_RET_ACTION_FULL;
		if (answer != SECCOMP_RET_ALLOW && answer != SECCOMP_RET_LOG)
			return false;
		at = f->end[i];
	}
	return true;
}
