/* test_perf_chain.c - where in the kernel a tick was, by the call chain of its record */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/perf_event.h>

#include "lib/wr.h"
#include "monitor/perf_decode.h"

/* Recorded on Linux 6.18: a tick in a program, one in a read(2), one in a page fault, whose
 * kernel has asm_sysvec_apic_timer_interrupt at 0xffffffff81000df0. */
static const struct perf_format chained = { .user_cx = true, .chain = true, .branches = true,
					    .entry_start = 0xffffffff81000df0,
					    .entry_end = 0xffffffff81000e30 };

static struct bytes chain(struct wr *w, const uint64_t *addr, uint64_t n, uint64_t cx)
{
	w->n = 0;
	wr_u32(w, PERF_RECORD_SAMPLE);
	wr_u16(w, PERF_RECORD_MISC_KERNEL);
	wr_u16(w, (uint16_t)(24 + 8 + 8 * n + 24));
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u64(w, n);
	for (uint64_t i = 0; i < n; i++)
		wr_u64(w, addr[i]);
	wr_u64(w, PERF_SAMPLE_REGS_ABI_64);
	wr_u64(w, cx);
	wr_u64(w, 0x7ff4b78952ad);
	return wr_bytes(w);
}

static void a_chain_tells_where_in_the_kernel_a_tick_was(void **state)
{
	static const uint64_t in_user[] = { 0xffffffffffffff80, 0xffffffff81328052,
					    0xffffffff821f1c5c, 0xffffffff81000e06 };
	static const uint64_t in_kernel[] = { 0xffffffffffffff80, 0xffffffff81328052,
					      0xffffffff821f1c90, 0xffffffff81000e06,
					      0xffffffff81d335f2, 0xffffffff816b82eb };
	struct perf_format nameless = chained;
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	/* as long as the mark of branch stacks */
	assert_int_equal(perf_decode(&chained, chain(&w, in_user, 4, 0), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_SAMPLE);
	assert_false(ev.sample.kernel);
	assert_int_equal(ev.sample.pc, 0x7ff4b78952ad);
	assert_int_equal(ev.sample.kernel_pc, 0);
	struct bytes b = chain(&w, in_kernel, 6, 0x7ff4b78952ad);
	assert_int_equal(perf_decode(&chained, b, &ev), PERF_EVENT);
	assert_true(ev.sample.kernel);
	assert_int_equal(ev.sample.kernel_pc, 0xffffffff81d335f2);
	assert_null(ev.sample.procedure);
	/* in a page fault the registers tell nothing, the chain does */
	assert_int_equal(perf_decode(&chained, chain(&w, in_kernel, 5, 1), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel);
	assert_int_equal(ev.sample.kernel_pc, 0xffffffff81d335f2);
	nameless.entry_start = nameless.entry_end = 0;
	assert_int_equal(perf_decode(&nameless, wr_bytes(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.kernel_pc, 0);
	assert_int_equal(perf_decode(&nameless, chain(&w, in_kernel, 0, 1), &ev), PERF_EVENT);
	/* longer than the record */
	(void)chain(&w, in_kernel, 5, 1);
	for (uint64_t n = 6; n; n <<= 4) {
		memcpy(w.p + 24, &n, sizeof(n));
		assert_int_equal(perf_decode(&chained, wr_bytes(&w), &ev), PERF_MALFORMED);
	}
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_tells_where_in_the_kernel_a_tick_was),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
