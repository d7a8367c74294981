#!/bin/bash
# branches.sh - branch stacks of a whole program and of its generations become the edges that ran
#
# The processor's part is played by branch_tracer, which runs a program one instruction at a time.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-branches.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
${CC:-cc} -O1 -ffreestanding -fno-stack-protector -nostdlib -static -no-pie -fno-pie -fasynchronous-unwind-tables \
	-Wl,--build-id -o "$root/p" tests/e2e/branches/branches.c 2>"$root/why" || skip_all "$(cat "$root/why")"
tracer=$B/tests/e2e/branch_tracer
timeout 100 "$tracer" "$root/p.txt" "$root/p" || skip_all "cannot run a program one instruction at a time"
mkdir "$root/store" "$root/store/originals"
original=$(sha256sum <"$root/p")
cp "$root/p" "$root/store/originals/${original%% *}"

import() {		# TEXT OUT
	"$B/morphctl" import "$1" -o "$2" --store="$root/store" >"$2.said" && mv "$2"/p.*.profile "$2.profile"
}
lines() { grep "^$1 " "$2"; }
same_edges() {		# PROFILE: and that of its own counters
	[ -n "$(lines edge "$root/exact.profile")" ] || return 1
	diff <(lines edge "$root/exact.profile") <(lines edge "$1")
}
# The call at the very beginning has no branch in front of it, but in a generation an entry jump.
calls() { lines call "$1" | grep -v " 0x0*$(nm "$root/p" | awk '$3 == "run" { sub(/^0*/, "", $1); print $1 }') "; }
none_left_out() { ! grep 'left out' "$1" | grep -v ' 0 samples of other events'; }

check "all of it is imported" import "$root/p.txt" "$root/traced"
check "every branch is one of the code's" none_left_out "$root/traced.said"
note "$(grep -c . "$root/p.txt") stacks, $(lines edge "$root/traced.profile" | wc -l) edges"

# What its own counters say.  The tracer's stacks have everything but what was in front of the first branch and behind
# the last.
"$B/morph-edit" instrument "$root/p" -o "$root/counting" --counts "$root/counts" && "$root/counting"
check "the program counts itself" "$B/morph-edit" counts "$root/p" "$root/counts" -o "$root/exact.profile"
check "the edges are those that ran" same_edges "$root/traced.profile"
blocks_but_first() {	# the first block ran before there was a branch
	diff <(lines block "$root/exact.profile") <(lines block "$root/traced.profile") >"$root/diff"
	[ "$(grep -c '^[<>]' "$root/diff")" -le 2 ] || { cat "$root/diff"; return 1; }
}
check "blocks ran as often" blocks_but_first

# The same by whole profiles of what was inferred from it.
"$B/morph-edit" optimize "$root/p" --profile "$root/traced.profile" -o "$root/best" ||
	not_ok "a generation by the imported profile"
for seed in 1 2 3 by-profile; do
	if [ $seed = by-profile ]; then
		g=$root/best
	else
		g=$root/g$seed
		"$B/morph-edit" optimize "$root/p" --all --shuffle=$seed -o "$g" || continue
	fi
	mkdir -p "$root/in$seed"
	cp "$g" "$root/in$seed/p"
	"$tracer" "$root/g$seed.txt" "$root/in$seed/p"
	check "a generation's are imported ($seed)" import "$root/g$seed.txt" "$root/of$seed"
	check "every branch is one of its code's ($seed)" none_left_out "$root/of$seed.said"
	check "and they are the original's edges ($seed)" same_edges "$root/of$seed.profile"
	check "and calls ($seed)" diff <(calls "$root/traced.profile") <(calls "$root/of$seed.profile")
done

# Many samples count more than few branches, and more than those that the code does not have.
in_run=$((0x$(nm "$root/p" | awk '$3 == "run" { print $1 }')))
mapped() { printf '7 1.0: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 1 0]: r-xp %s/p\n' "$root"; }
sampled() { for ((i = 0; i < 500; i++)); do printf '7 2.%d: %x\n' "$i" "$in_run"; done; }
impossible=$(printf '0x%x/0x%x/P/-/-/0' $((in_run + 1)) "$in_run")
{ mapped; sampled; echo "7 3.0: $impossible $impossible"; } >"$root/impossible.txt"
check "branches that the code does not have are imported with samples" import "$root/impossible.txt" "$root/impossible"
check "of which all count" [ "$(lines block "$root/impossible.profile" | awk '{ n += $3 } END { print n }')" = 500 ]
possible=$(awk '{ for (i = NF; i > 0; i--) if ($i ~ "^0x.*/0x.*/") { n++; s = $i " " s } } n > 3 { print s; exit }' "$root/p.txt")
{ mapped; sampled; echo "7 3.0: $possible"; } >"$root/few.txt"
check "so are few branches" import "$root/few.txt" "$root/few"
check "which is said" grep -q 'executions of blocks by branch stacks: not used, but its 500 samples' "$root/few.said"
check "the samples count" [ "$(lines block "$root/few.profile" | awk '{ n += $3 } END { print n }')" = 500 ]
check "and have their clock" grep -q '^clock other$' "$root/few.profile"

# A file without a build-id in the recording is taken by its name, and that is told.
printf '7 1.0: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 1 0]: r-xp %s/p\n7 2.0: 400010\n' "$root" >"$root/named.txt"
"$B/morphctl" import "$root/named.txt" -o "$root/named" >"$root/said"
check "a file taken by its name alone is told" grep -q 'warning: the recording has no build-id' "$root/said"
done_testing
