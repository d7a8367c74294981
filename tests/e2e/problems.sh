#!/bin/bash
# problems.sh - the status says first what is wrong, and status --check says it to scripts
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root sort
first() {		# PATTERN: it is in the first rows of the status
	ctl status >"$root/out"
	sed -n '/^$/q;p' "$root/out" | grep -qE "$1" || { cat "$root/out"; return 1; }
}
checked() {		# CODE PATTERN
	local rc
	ctl status --check >"$root/out" 2>&1
	rc=$?
	[ $rc = "$1" ] && grep -qE "$2" "$root/out" || { echo "exit code $rc"; cat "$root/out"; return 1; }
}
as_another() { setpriv --reuid 64001 --regid 64001 --clear-groups "$root/morphctl" --socket "$root/sock" "$@"; }
install -m 755 "$B/morphctl" "$root/morphctl"

check_here "the daemon starts and answers" start_daemon
watched() { ctl status | grep -q "crash watch *on"; }
if within 10 watched; then
	check "nothing is wrong" checked 0 '^nothing is wrong$'
	check "the status does not say that anything is" not grep -q problems <<<"$(ctl status)"
	check "nor to a user" grep -q "nothing is wrong" <<<"$(as_another status --check)"
else
	check "only a warning" checked 0 '^warning .*crash watch'
fi
check "in JSON" grep -q '^{' <<<"$(ctl --json status --check)"

ctl pause
check "paused is a warning" checked 0 '^warning +sampling +paused'
check "and the first that is told" first '^problems$'
ctl resume

monitor=$(role_pid monitor)
kill -SEGV "$monitor"
check "a monitor that died is told, with its signal" within 20 checked 0 \
	'^warning +monitor +it has ended by itself 1 times.*signal 11'
again() { [ -n "$(role_pid monitor)" ] && [ "$(role_pid monitor)" != "$1" ]; }
for i in 1 2 3 4 5 6; do
	within 20 again "$monitor"
	monitor=$(role_pid monitor)
	[ -z "$monitor" ] || kill -KILL "$monitor"
done
check "one that dies all the time is an error" within 20 checked 1 \
	'^error +sampling +the monitor does not run.* [0-9]+ times so far, last by signal 9'
check "a user is told so" grep -q "^error  *sampling" <<<"$(as_another status --check)"
check "JSON has the reason" grep -q '"severity": "error", "what": "sampling", "why": "the monitor' \
	<<<"$(ctl --json status --check)"
kill -KILL "$(role_pid manager)"
check "so has one that is started anew" within 20 checked 1 '^warning +manager +it has ended by itself 1 times'
check "it comes back" within 60 again "$monitor"
check "and is no error any more" within 20 checked 0 '^warning +monitor'

echo "  min_sampels: 5" >>"$root/morph.yaml"
ctl policy reload 2>/dev/null
check "a wrong policy is an error" checked 1 '^error +wrong policy .*min_sampels'
check "and is in the log" grep -q "the old policy stays: .*min_sampels" "$root/log"
check "of which a user does not see more" not grep -q min_sampels <<<"$(as_another status --check)"
sed -i '/min_sampels/d' "$root/morph.yaml"
check "mended, it is read" ctl policy reload
check "and is no error any more" within 20 checked 0 '^warning +monitor'
sed -i 's|include: .*|include: ["'"$root"'/bin/*", "/bin/*"]|' "$root/morph.yaml"
link=$(readlink /bin)
check "what a policy says in vain is told when it is read" \
	grep -q "'/bin/\*' fits nothing: '/bin' is a link" <<<"$([ -n "$link" ] || echo "'/bin/*' fits nothing: '/bin' is a link"; ctl policy reload 2>&1)"
check "and in the log" grep -q "'/bin/\*' fits nothing" <<<"$([ -n "$link" ] || echo "'/bin/*' fits nothing"; cat "$root/log")"
sed -i 's/hard_links: true/hard_links: false/' "$root/morph.yaml"
ctl policy reload >/dev/null 2>&1
ln "$root/bin/sort" "$root/elsewhere"
check "policy show tells of a refusal beforehand" grep -qE "bin/sort +no .*2 hard links, of which 1 was found" \
	<<<"$(ctl policy show "$root/bin/sort")"
rm "$root/elsewhere"
check "and of none where there is none" grep -qE "bin/sort +yes" <<<"$(ctl policy show "$root/bin/sort")"
check_here "the daemon ends" stop_daemon
check "one that does not answer is an error" checked 1 "does not answer"

# An Editor that cannot be run, as after an update of a library: no file is refused for it.
rm -rf "${root:?}/store"
seq 300000 >"$root/numbers"
sorts() { "$root/bin/sort" -n "$root/numbers"; }
check_here "a daemon whose Editor cannot be run" start_daemon --morph-edit /bin/false
told() { sorts >/dev/null; ctl status --sync >/dev/null; checked 1 '^error +jobs +programs of Morph cannot be run, .*failed without a reason'; }
check "is an error" within 30 told
check "a user is told so" grep -q "^error  *jobs" <<<"$(as_another status --check)"
check "no file is refused" not grep -q refused <<<"$(ctl list --json)"
check_here "it ends" stop_daemon
check_here "with one that can" start_daemon
check "the file is known as ever" sampled sort 20 sorts
check "and nothing is wrong" not grep -q "^error" <<<"$(ctl status --check)"
mv "$root/store/ledger" "$root/away"
check "a ledger that is gone is an error" checked 1 "^error +store .*/ledger' is gone"
mv "$root/away" "$root/store/ledger"
mv "$root/store/originals" "$root/away"
check "so are originals" checked 1 "^error +store .*/originals' is gone"
mv "$root/away" "$root/store/originals"
check "back again they are none" not grep -q "^error" <<<"$(ctl status --check)"
check_here "it ends, too" stop_daemon

# A full disk.
mkdir -p "$root/store"
rm -rf "${root:?}/store"/*
if mount -t tmpfs -o size=24m tmpfs "$root/store" 2>/dev/null; then
	check_here "a daemon on a small disk" start_daemon
	head -c 30000000 /dev/zero >"$root/store/fill" 2>/dev/null
	check "a full disk is an error" within 20 checked 1 '^error +disk full .*KiB are left'
	check "the first that is told" first '^error +disk full'
	rm "$root/store/fill"
	check "and none when there is room again" within 20 checked 0 ''
	check_here "it ends" stop_daemon
else
	skip "a full disk" "no tmpfs"
fi
done_testing
