# stress.sh - stress-ng's odd ways: signals, own stacks, self-changed code, restartable sequences, computed gotos, all verified
packages="stress-ng"
files() { with_libraries "$(program stress-ng)"; }
run() {
	local s
	for s in sigsegv sigfpe sigtrap sigabrt sigsuspend sigq sigrt sigio sigpipe sigchld longjmp context far-branch funccall funcret icache goto branch nop opcode rseq userfaultfd mprotect bad-altstack dynlib exec fork vfork clone pthread mutex stack stackmmap bigheap malloc remap mremap munmap prefetch vm cpu matrix matrix-3d vecmath vecwide vecfp vecshuf memcpy memthrash str wcs qsort bsearch hsearch tsearch lsearch heapsort mergesort radixsort shellsort skiplist list tree judy zlib hash crypt fp regs cache plugin misaligned vdso tsc x86syscall syscall seccomp x86cpuid peterson dekker atomic membarrier flushcache l1cache priv-instr ptrace sparsematrix; do
		timeout 40 stress-ng --$s 1 --$s-ops 10 --verify -t 1 --no-rand-seed --temp-path . >out 2>&1; echo "$s $?"; grep -a -e FAIL -e 'fail:' -e 'unexpected' out | sed 's/\[[0-9]*\]//; s/0x[0-9a-f]*//g' | head -n 2
	done
	for s in $(stress-ng --cpu-method x 2>&1 | sed 's/.*: //'); do timeout 20 stress-ng --cpu 1 --cpu-method "$s" --cpu-ops 1 --verify -t 1 >out 2>&1; echo "cpu $s $?"; done
}
