/* moment.c - is this the moment: does no thread stand where the text changes?
 *
 * Text differs by entry jumps of 5 bytes alone.  A thread that stands in front of one, or
 * inside of one at bytes that are the same, runs on as in the original.
 *
 * SIGNALS   A handler returns to where its thread was interrupted, which may be anywhere.  Its
 *           frame is known by what the kernel writes into every one behind that address: flags
 *           and the segment of 64-bit code.  (Not by the code that ends handlers: the loader,
 *           the C library and the program may each have their own.)
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/moment.h"

#include <string.h>
#include <sys/ptrace.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/exchange.h"
#include "live/maps.h"
#include "live/threads.h"

/* AHEAD: the longest instruction, and some.  STACK: as much as is looked at of each. */
enum { AHEAD = 24, STACK = 1 << 18, CODE_64 = 0x33 };

bool live_moment_same(const struct live_exchange *x, uint64_t pc)
{
	uint8_t from[AHEAD], to[AHEAD];
	uint64_t off = pc - x->text, left = x->size - off;

	if (pc < x->text || off >= x->size)
		return true;
	size_t n = left < AHEAD ? left : AHEAD;
	return pread(x->from, from, n, (off_t)(x->from_offset + off)) == (ssize_t)n &&
	       pread(x->to, to, n, (off_t)(x->to_offset + off)) == (ssize_t)n &&
	       memcmp(from, to, n) == 0;
}

/* Does what the kernel puts behind the place to return to stand there: the flags, of which bit
 * 1 is always set and those above ID never, and the segments? */
static bool is_behind_return(const uint64_t *word)
{
	enum { FLAGS_END = 1 << 22, ALWAYS = 2 };

	return word[0] < FLAGS_END && (word[0] & ALWAYS) && (word[1] & 0xffff) == CODE_64;
}

/* The frames of handlers in the bytes from a thread's stack pointer on. */
static bool handlers_are_same(const struct live_exchange *x, const uint64_t *word, size_t n)
{
	_Static_assert(REG_EFL == REG_RIP + 1 && REG_CSGSFS == REG_RIP + 2, "sigcontext");
	for (size_t i = 0; i + 2 < n; i++)
		if (word[i] - x->text < x->size && is_behind_return(&word[i + 1]) &&
		    !live_moment_same(x, word[i]))
			return false;
	return true;
}

/* A critical section of rseq(2) that the kernel would not see ended. */
static bool is_in_sequence(const struct live_thread *t, int mem)
{
	struct __ptrace_rseq_configuration c = { 0 };
	enum { SECTION = 8 };		/* rseq_cs in struct rseq */
	uint64_t section = 0;

	if ((long)t->regs.orig_rax >= 0 ||
	    ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(c), &c) <= 0 ||
	    c.rseq_abi_pointer == 0)
		return false;
	return pread(mem, &section, sizeof(section), (off_t)(c.rseq_abi_pointer + SECTION)) !=
	       sizeof(section) || section != 0;
}

/* A system call that the stop has interrupted may be made again. */
static bool thread_is_same(const struct live_exchange *x, const struct user_regs_struct *regs)
{
	enum { CALL = 2 };

	return live_moment_same(x, regs->rip) &&
	       ((long)regs->orig_rax < 0 || live_moment_same(x, regs->rip - CALL));
}

int live_moment_check(const struct live_exchange *x, const struct live_threads *t,
		      const struct live_maps *maps, int mem, struct err *err)
{
	static uint64_t word[STACK / 8];

	for (uint32_t i = 0; i < t->n; i++) {
		const struct live_thread *th = &t->thread[i];
		const struct live_map *m = live_maps_at(maps, th->regs.rsp);
		uint64_t left = m ? m->end - th->regs.rsp : 0;
		ssize_t n = m ? pread(mem, word, left < STACK ? left : STACK,
				      (off_t)th->regs.rsp) : 0;

		if (th->regs.cs != CODE_64)
			return err_set(err, ERR_REFUSED, "it runs 32-bit code");
		if (!thread_is_same(x, &th->regs) ||
		    !handlers_are_same(x, word, n < 0 ? 0 : (size_t)n / 8)) {
			err_set(err, ERR_REFUSED, "thread %d stands where the text changes",
				(int)th->tid);
			return LIVE_NOT_NOW;
		}
		if (th->tid == t->pid && is_in_sequence(th, mem)) {
			err_set(err, ERR_REFUSED, "thread %d is in a restartable sequence",
				(int)th->tid);
			return LIVE_NOT_NOW;
		}
	}
	return LIVE_DONE;
}
