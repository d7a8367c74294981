#!/bin/bash
# huge_policy.sh - optimize.huge_text: the daemon finds out by itself whether text gets huge pages
. "$(dirname "$0")/private.bash"
need_root
make_root
mount -t tmpfs -o huge=always,size=64m,mode=755 tmpfs "$root/bin" 2>/dev/null &&
	! grep -q '\[deny\]' /sys/kernel/mm/transparent_hugepage/shmem_enabled 2>/dev/null ||
	skip_all "this kernel has no tmpfs with huge pages"
gcc -nostdlib -pie -o "$root/orig/loops" tests/asm/huge.s || exit 1
cat >>"$root/morph.yaml" <<-END
	  passes: [align]	# it is code without branches: no layout would be worth its move
	  cool_down_h: 0
END

looping() {		# SECONDS
	"$root/bin/loops" loop loop &
	looper=$!
	sleep "$1"
	kill "$looper"
	wait "$looper" 2>/dev/null
	looper=
}

alignment() { readelf -lW "$root/bin/loops" | awk '$1 == "LOAD" && / R E / { a = $NF } END { print a }'; }

generation() {		# NAME POLICY MOUNT-OPTION EXPECTED
	sed -i '/huge_text/d' "$root/morph.yaml"
	echo "  huge_text: $2" >>"$root/morph.yaml"
	mount -o remount,"$3" "$root/bin"
	rm -f "$root/bin/loops"
	cp "$root/orig/loops" "$root/bin/loops"
	check_here "$1: a daemon" start_daemon
	looping 4
	check_here "$1: a generation is installed" ctl reoptimize "$root/bin/loops"
	check "$1: it is proven" "$B/morph-verify" "$root/orig/loops" "$root/bin/loops"
	check "$1: new text begins with a page of $4" [ "$(alignment)" = "$4" ]
	check_here "$1: the end" stop_daemon
}

generation "auto on huge pages" auto huge=always 0x200000
generation "auto on small pages" auto huge=never 0x1000
generation "on anywhere" on huge=never 0x200000
generation "off on huge pages" off huge=always 0x1000
done_testing
