/* test_filter.c - what filters of system calls answer, here and by the kernel */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/filter.h"

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define RUN(code, data) \
	live_filter_run(code, sizeof(code) / sizeof((code)[0]), data)

enum { ODD_CALL = 0x5555 };	/* which no kernel has */

static const struct seccomp_data data = {
	.nr = ODD_CALL, .arch = AUDIT_ARCH_X86_64,
	.args = { 0x1122334455667788, 7, 0, 0, 0, 9 },
};

static uint32_t chance(uint32_t *seed)
{
	return *seed = (uint32_t)((uint64_t)*seed * 48271 % 2147483647);
}

/* An instruction that the kernel takes, at `at` of n; jumps are within it. */
static struct sock_filter some_instruction(uint32_t at, uint32_t n, uint32_t *seed)
{
	static const uint16_t op[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR, BPF_AND, BPF_XOR,
				       BPF_LSH, BPF_RSH, BPF_NEG, BPF_DIV };
	static const uint16_t way[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	uint32_t left = n - at - 2, k = chance(seed) >> chance(seed) % 31;
	uint16_t source = chance(seed) % 2 ? BPF_X : BPF_K;

	switch (chance(seed) % 8) {
	case 0:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    chance(seed) % 16 * 4);
	case 1:
		return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, k);
	case 2:
		return (struct sock_filter)BPF_STMT(BPF_MISC | (k % 2 ? BPF_TAX : BPF_TXA), 0);
	case 3:
		return (struct sock_filter)BPF_JUMP(BPF_JMP | way[k % 4] | source, k,
						    chance(seed) % (left + 1),
						    chance(seed) % (left + 1));
	case 4:
		return (struct sock_filter)BPF_STMT((k % 2 ? BPF_LD : BPF_LDX) | BPF_W |
						    BPF_LEN, 0);
	default: {
		uint16_t o = op[chance(seed) % 10];

		if (o == BPF_LSH || o == BPF_RSH)
			return (struct sock_filter)BPF_STMT(BPF_ALU | o | BPF_K, k % 32);
		if (o == BPF_DIV)
			source = BPF_K, k |= 1;
		return (struct sock_filter)BPF_STMT(BPF_ALU | o | source, k);
	}
	}
}

/* The error that the program, which calculates one, gives a call; -1: the kernel does not take
 * it. */
static int ask_kernel(struct sock_filter *code, uint16_t n)
{
	struct sock_fprog prog = { n, code };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
			_exit(255);
		errno = 0;
		(void)syscall(ODD_CALL, data.args[0], 7, 0, 0, 0, 9);
		_exit(errno);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

/* Programs by chance, of which six bits of the result become an error from 64 on; all other
 * calls are allowed.  The place of the call is no input that could be told here. */
static void the_kernel_answers_the_same(void **state)
{
	enum { BODY = 24, HEAD = 2, TAIL = 4, N = HEAD + BODY + TAIL, ROUNDS = 400 };
	uint32_t seed = 7;
	unsigned asked = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sock_filter code[N] = {
			LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ODD_CALL, 0, BODY + 3),
		};

		for (uint32_t i = 0; i < BODY; i++) {
			code[HEAD + i] = some_instruction(i, BODY + 1, &seed);
			if (code[HEAD + i].code == (BPF_LD | BPF_W | BPF_ABS) &&
			    (code[HEAD + i].k == 8 || code[HEAD + i].k == 12))
				code[HEAD + i].k = 16;
		}
		code[N - 4] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 63);
		code[N - 3] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K,
							   SECCOMP_RET_ERRNO | 64);
		code[N - 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
		code[N - 1] = (struct sock_filter)ALLOW;
		int error = ask_kernel(code, N);
		if (error < 0)
			continue;
		asked++;
		assert_int_equal(RUN(code, &data), SECCOMP_RET_ERRNO | (uint32_t)error);
	}
	assert_in_range(asked, ROUNDS / 2, ROUNDS);
}

static void what_is_not_understood_allows_nothing(void **state)
{
	static const struct sock_filter bad[][2] = {
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), ALLOW },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ALLOW },
		{ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), ALLOW },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), ALLOW },
		{ BPF_STMT(BPF_LD | BPF_MEM, 16), ALLOW },
		{ BPF_STMT(BPF_ST, 16), ALLOW },
		{ BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), ALLOW },
		{ BPF_STMT(BPF_ALU | 0xe0, 0), ALLOW },
		{ BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), ALLOW },
		{ BPF_STMT(BPF_JMP | BPF_JA, 1), ALLOW },
		{ BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_LD | BPF_IMM, 1) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(RUN(bad[i], &data), SECCOMP_RET_KILL_PROCESS);
}

static void all_have_to_allow_it(void **state)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG | 5),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		ALLOW,
	};
	uint32_t end[] = { 1, 5 };
	struct live_filters f = { code, end, 2 };
	static const uint64_t none[6];

	(void)state;
	assert_true(live_filters_allow(&f, SYS_close, none, 0));
	assert_false(live_filters_allow(&f, SYS_mmap, none, 0));
	f.n = 0;
	assert_true(live_filters_allow(&f, SYS_mmap, none, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_answers_the_same),
		cmocka_unit_test(what_is_not_understood_allows_nothing),
		cmocka_unit_test(all_have_to_allow_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
