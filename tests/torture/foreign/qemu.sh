# qemu.sh - programs of another mapping run by qemu-user, disk images by coroutines, a whole machine that boots nothing
packages="qemu-user qemu-utils busybox-static"
files() { with_libraries "$(program qemu-x86_64)" "$(program qemu-img)" "$(program qemu-io)" "$(program qemu-nbd)"; program busybox; }
run() {
	local c
	qemu-x86_64 /bin/busybox sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; echo $i; kill -SEGV $$' 2>&1 | grep -v 0x; echo "${PIPESTATUS[0]}"
	qemu-x86_64 /bin/bash -c 'trap "echo usr1" USR1; kill -USR1 $$; (exit 5); echo $?; for i in {1..2000}; do x=${x}$i; done; echo ${#x}' 2>&1
	qemu-x86_64 /usr/bin/perl -e 'print join(",", map { $_ ** 2 } grep { $_ % 3 } 1 .. 50), "\n"; print eval { die "x\n" } // $@; fork // die; wait; exit 3' 2>&1; echo $?
	qemu-x86_64 -cpu help | sha256sum; qemu-x86_64 -d in_asm -D log /bin/busybox true; echo $?
	head -c 5000000 /usr/bin/perl >raw
	for c in qcow2 vmdk vdi vpc qed parallels; do qemu-img convert -f raw -O $c raw o.$c 2>&1; qemu-img convert -f $c -O raw o.$c back 2>&1; head -c 3000000 back | cmp - <(head -c 3000000 raw); qemu-img check o.$c 2>&1 | head -n 1; qemu-img compare -f raw -F $c raw o.$c 2>&1; done
	qemu-img create -q -f qcow2 -b o.qcow2 -F qcow2 over.qcow2; qemu-io -f qcow2 -c 'write -P 7 0 1M' -c 'aio_write -P 9 2M 512k' -c 'aio_flush' -c 'read -v 1M 64' -c 'discard 0 64k' -c 'writev -P 1 3M 4k 8k' over.qcow2 2>&1 | sed 's/([^)]*)//g; s/^.*ops;.*$//'
	qemu-img snapshot -c s over.qcow2; qemu-img map over.qcow2; qemu-img commit -q over.qcow2; qemu-img rebase -u -b '' over.qcow2; qemu-img info --output=json o.vdi | grep format; qemu-img bench -c 500 -d 8 -w -f qcow2 over.qcow2 >/dev/null; echo $?; qemu-img convert -W -m 8 -c -O qcow2 raw z.qcow2; qemu-img dd if=raw of=dd bs=4096 count=10; sha256sum dd; qemu-img info nothing 2>&1; echo $?
}
