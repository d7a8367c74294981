#!/bin/bash
# huge.sh - text made for huge pages is mapped with them, by the kernel and by the dynamic loader
#
# On a tmpfs that has nothing but huge pages, in a mount namespace of its own.  What the linker aligns for
# huge pages is the control: where that is not mapped so either, this kernel or loader cannot.
. "$(dirname "$0")/../tap.sh"
edit=$(realpath "${B:-build}")/morph-edit
verify=$(realpath "${B:-build}")/morph-verify
asm=$(realpath "$(dirname "$0")/../asm/huge.s")
if [ -z "${HUGE_APART:-}" ]; then
	[ "$(id -u)" = 0 ] || skip_all "needs root to mount a file system"
	unshare -m true 2>/dev/null || skip_all "needs a mount namespace"
	HUGE_APART=1 exec unshare -m --propagation private "$0"
fi
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-test.XXXXXX") || exit 1
trap 'kill "$runs" 2>/dev/null; cd /; umount "$T/fs" 2>/dev/null; rm -rf "$T"' EXIT
mkdir "$T/fs"
mount -t tmpfs -o huge=always,size=128M none "$T/fs" 2>/dev/null ||
	skip_all "this kernel has no tmpfs with huge pages"
cd "$T/fs" || exit 1
cat >user.c <<-END
	#include <unistd.h>
	int run(void);
	int main(void) { run(); (void)write(1, "done\n", 5); return pause(); }
END

# KiB of executable memory from FILE that COMMAND has mapped with huge pages when it has said "done".
mapped() {		# FILE OFFSET|- COMMAND...
	local file=$1 off=$2 i
	shift 2
	rm -f said
	"$@" >said &
	runs=$!
	for i in $(seq 600); do
		grep -qs done said && break
		sleep 0.05
	done
	awk -v file="$PWD/$file" -v off="$off" '
		/^[0-9a-f]+-[0-9a-f]+ / { in_it = $NF == file && $2 ~ /x/ && (off == "-" || $3 == off) }
		in_it && /PmdMapped:/ { n += $2 }
		END { print n + 0 }' "/proc/$runs/smaps"
	kill "$runs"
	wait "$runs" 2>/dev/null
}

# The segment of new text: its file offset as in smaps.
text_offset() { printf '%08x' "$(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { o = $2 } END { print o }')"; }

is_huge() { [ "$(mapped "$@")" -ge 4096 ] || { echo "$(mapped "$@") KiB in huge pages"; return 1; }; }
is_not() { [ "$(mapped "$@")" = 0 ]; }

both() {		# NAME CC-OPTIONS FILE COMMAND...: a program or library FILE that COMMAND runs
	local name=$1 options=$2 file=$3
	shift 3
	gcc -nostdlib $options -Wl,-z,max-page-size=0x200000 -o "$file" "$asm" || { not_ok "$name is linked"; return; }
	if is_not "$file" - "$@"; then
		skip "$name" "what the linker aligns is not mapped with huge pages either"
		return
	fi
	gcc -nostdlib $options -o "$T/original" "$asm"
	for how in "" --huge-text; do
		"$edit" optimize "$T/original" --all $how -o "$T/made" && "$verify" "$T/original" "$T/made" >"$T/log" ||
			{ not_ok "$name is made and verified with '$how'"; return; }
		rm -f "$file"
		cp "$T/made" "$file" && chmod +x "$file"
		if [ "$how" ]; then
			check "$name: new text for huge pages has them" is_huge "$file" "$(text_offset "$file")" "$@"
			strip "$file"
			check "$name: also when it has been stripped" is_huge "$file" "$(text_offset "$file")" "$@"
		else
			check "$name: other new text has none" is_not "$file" "$(text_offset "$file")" "$@"
		fi
	done
}

both "a program at any address" -pie program ./program wait
both "a program at a fixed address" "-no-pie -static" program ./program wait
gcc -nostdlib -shared -o libhuge.so "$asm" && gcc -o user user.c -L. -lhuge || exit 1
both "a library" -shared libhuge.so env LD_LIBRARY_PATH=. ./user
done_testing
