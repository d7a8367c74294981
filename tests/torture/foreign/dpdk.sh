# dpdk.sh - DPDK's own tests: code by processor, rings and read-copy-update between threads, tables of handlers
packages="dpdk-dev"
files() { with_libraries "$(dpkg -L dpdk dpdk-dev | grep -m 1 -E 'dpdk-test$')"; }
run() {
	local t p
	p=$(dpkg -L dpdk dpdk-dev | grep -m 1 -E 'dpdk-test$')
	for t in acl_autotest atomic_autotest bitmap_autotest bitops_autotest bpf_autotest byteorder_autotest cksum_autotest cpuflags_autotest crc_autotest cycles_autotest debug_autotest eal_fs_autotest errno_autotest func_reentrancy_autotest hash_autotest interrupt_autotest ipfrag_autotest kvargs_autotest logs_autotest lpm6_autotest lpm_autotest malloc_autotest mbuf_autotest memcpy_autotest memory_autotest mempool_autotest meter_autotest prefetch_autotest rcu_qsbr_autotest red_autotest rib_autotest ring_autotest rwlock_test1_autotest sched_autotest spinlock_autotest stack_autotest string_autotest table_autotest tailq_autotest thash_autotest ticketlock_autotest trace_autotest version_autotest crc_autotest telemetry_json_autotest reorder_autotest fib_autotest fib6_autotest graph_autotest member_autotest efd_autotest; do
		echo "$t" | timeout -k 1 60 "$p" --no-huge -m 700 --no-pci --no-shconf -l 0,1 >out 2>&1; echo "$t $? $(grep -a -c 'Test OK' out) $(grep -a -c 'Test Failed' out)"
	done
}
