#!/bin/bash
# layouts.sh - somebody reads from the layout of a shared program what another one does with it: not with
# users.share_layouts
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
user=64021			# without an account: nobody who is known
make_root gzip
printf 'users:\n  share_layouts: 2\n' >>"$root/morph.yaml"
sed -i 's/min_samples: .*/min_samples: 1/' "$root/morph.yaml"
check_here "the daemon starts" start_daemon

# Runs the program as that user until samples of it have been taken in while it ran.
run_as() {		# UID
	local before=$(listed gzip samples) now pid rc=1
	setpriv --reuid "$1" --regid "$1" --clear-groups "$root/bin/gzip" -9 </dev/urandom >/dev/null &
	pid=$!
	for _ in $(seq 30); do
		sleep 0.5
		taken_in || break
		now=$(listed gzip samples)
		awk -v a="${before:-0}" -v b="${now:-0}" 'BEGIN { exit !(b > a + 20) }' && { rc=0; break; }
	done
	kill "$pid"
	wait "$pid" 2>/dev/null
	taken_in && return $rc
}
says() { local text=$1 out; shift; out=$("$@" 2>&1); grep -qF -- "$text" <<<"$out" || { echo "$out"; return 1; }; }

check "root runs it" run_as 0
check "what root does may show" ctl reoptimize "$root/bin/gzip"
check "it is a generation" [ "$(sha "$root/bin/gzip")" != "$(sha "$root/orig/gzip")" ]
check "back" ctl restore "$root/bin/gzip"
check "a user runs it" run_as $user
check "what he alone does may not" says "users.share_layouts" ctl reoptimize "$root/bin/gzip"
check "the original is still there" same_file "$root/bin/gzip" "$root/orig/gzip"
sed -i '/share_layouts/d; /^users:/d' "$root/morph.yaml"
check "another policy" ctl policy reload
check "now it may" ctl reoptimize "$root/bin/gzip"
check_here "the daemon ends with code 0" stop_daemon
done_testing
