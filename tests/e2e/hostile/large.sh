#!/bin/bash
# large.sh - a user's program has a function so large that showing it would take the manager's memory
#
# It is refused, with the reason, and the manager takes no more memory than before.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
command -v "${CC:-cc}" >/dev/null || skip_all "no compiler"
user=64041 copies=40000
make_root
mkdir "$root/$user"
cat >"$root/large.s" <<-END
	.globl main
	.type main, @function
	main: .cfi_startproc
		mov \$200000000, %ecx
	1:	dec %ecx
		jnz 1b
		xor %eax, %eax
		jz 2f
	.rept $copies
		test %edi, %edi
		jz . + 2
	.endr
	2:	ret
		.cfi_endproc
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
END
${CC:-cc} -o "$root/$user/large" "$root/large.s" || skip_all "no assembler"
chown -R $user:$user "$root/$user"
sed -i "s|include:.*|include: [\"$root/$user/*\"]|" "$root/morph.yaml"
check_here "the daemon starts" start_daemon
runs() { setpriv --reuid $user --regid $user --clear-groups "$root/$user/large"; }
known() { ctl --json list --all | grep -qF "\"$root/$user/large\""; }
seen() {
	for _ in $(seq 20); do
		runs
		taken_in && known && return 0
	done
	return 1
}
check "it is known" seen
manager=$(role_pid manager)
for c in "annotate $root/$user/large main" "annotate $root/$user/large main --blocks --limit=3" \
	"cfg $root/$user/large main" "cfg $root/$user/large main --placed --dot"; do
	out=$(ctl $c 2>&1)
	rc=$?
	check "${c%% *} is refused ($rc)" [ $rc = 3 ]
	check "and says why" grep -q "instructions is too large to be shown" <<<"$out"
done
peak=$(awk '/^VmHWM:/ { print $2 }' "/proc/$manager/status")
check "the manager has not grown ($peak KiB)" [ "$peak" -lt 60000 ]
check "its procedures are told" eval 'ctl report "$root/$user/large" | grep -q main'
check "it is the same manager" [ "$(role_pid manager)" = "$manager" ]
check_here "the daemon ends with code 0" stop_daemon
done_testing
