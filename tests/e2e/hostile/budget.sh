#!/bin/bash
# budget.sh - a user asks again and again: he gets what the policy allows one user in a day, and no more
#
# In each round his program is another file to the daemon, so that there is another original, block table
# and generation of it.
#
# run.sh: waits
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
one=64001 two=64002
make_root gzip
cp "$B/morphctl" "$root/morphctl"
for u in $one $two; do
	mkdir "$root/$u"
	cp "$root/bin/gzip" "$root/$u/tool"
	chown -R $u:$u "$root/$u"
done
size=$(stat -c %s "$root/bin/gzip")
policy() {		# CPU_S DISK_MIB
	cat >"$root/morph.yaml" <<-END
		modules:
		  include: ["$root/bin/*", "$root/$one/*", "$root/$two/*"]
		  hard_links: true
		idle:
		  check_s: 3600
		optimize:
		  min_samples: 20
		users:
		  cpu_per_day_s: $1
		  disk_per_day_mib: $2
	END
}
policy 300 1
check_here "the daemon starts" start_daemon
once() {		# UID COMMAND...
	setpriv --reuid "$1" --regid "$1" --clear-groups timeout 120 "$root/morphctl" \
		--socket "$root/sock" "${@:2}"
}
as() {			# UID COMMAND...: again while it is too much
	local out rc
	for _ in $(seq 60); do
		out=$(once "$@" 2>&1)
		rc=$?
		[[ "$out" == *"too many requests"* ]] || break
		sleep 1
	done
	echo "$out"
	return $rc
}
refused_for() {		# WHAT COMMAND...: the answer names the budget and whose it is
	local out what=$1
	shift
	out=$("$@" 2>&1) && { echo "was done: $out"; return 1; }
	grep -q "$what" <<<"$out" || { echo "$out"; return 1; }
}
head -c 4000000 /dev/urandom >"$root/data"
use() {			# UID
	local i n
	for i in $(seq 20); do
		setpriv --reuid "$1" --regid "$1" --clear-groups "$root/$1/tool" -9 <"$root/data" >/dev/null
		taken_in
		n=$(ctl --json list | grep -F "\"$root/$1/tool\"" | sed -n 's/.*"samples": \([0-9]*\).*/\1/p')
		[ "${n:-0}" -ge 30 ] && return 0
	done
	return 1
}
at=$((16#$(readelf -SW "$root/bin/gzip" | sed -n 's/^.* \.gnu_debuglink *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')))
[ "$at" -gt 0 ] || skip_all "gzip has no name of its debug file"
flips=0
flip() {		# UID: another file, which does the same; a letter of a name that nothing reads
	flips=$((flips + 1))
	cp "$root/$1/tool" "$root/$1/new" &&
		printf "\\x$(printf %x $((flips % 26 + 65)))" |
		dd of="$root/$1/new" bs=1 seek="$at" conv=notrunc status=none &&
		chown "$1:$1" "$root/$1/new" && mv "$root/$1/new" "$root/$1/tool"
}

# What a round writes is twice the file, or more; 1 MiB is soon spent.
need=$((2 * size)) rounds=0 last=
for i in $(seq 1 $((1048576 / need + 3))); do
	use $one || { not_ok "samples of round $i"; break; }
	last=$(as $one reoptimize "$root/$one/tool") || break
	rounds=$i
	as $one restore "$root/$one/tool" >/dev/null || not_ok "restored in round $i"
	flip $one
done
note "$rounds rounds of $need bytes"
check "some are done" [ "$rounds" -ge 1 ]
check "and no more than fit" [ $((rounds * need)) -le 1048576 ]
check "the refusal names the budget and the user" \
	grep -q "for user $one .* of 1 MiB were written in 24 hours.*users.disk_per_day_mib" <<<"$last"
check "another user has his own" use $two
check "and gets what he asks for" as $two reoptimize "$root/$two/tool"
check "root's request for it is not held to it" ctl reoptimize "$root/$one/tool"
check "what undoes costs nobody" as $one restore "$root/$one/tool"
check "what is only shown is another budget's" as $one explain "$root/$one/tool"

# CPU time: nothing is left of it.
policy 0 512
kill -HUP "$daemon"
check "the new policy" within 10 eval 'ctl policy show | grep -q "users.cpu_per_day_s *0"'
for what in "reoptimize" "reoptimize --dry-run" explain verify; do
	check "refused: $what" refused_for "user $two has used .* of 0 s of CPU time.*users.cpu_per_day_s" \
		as $two $what "$root/$two/tool"
done
check "what undoes is not" as $two restore "$root/$two/tool"
check "root's requests for it are not" ctl reoptimize "$root/$two/tool"
flip $two
setpriv --reuid $two --regid $two --clear-groups "$root/$two/tool" -9 <"$root/data" >/dev/null
check "his new file is not looked into by itself" taken_in
check "root sees it, and that it was not" eval 'ctl --json list | grep -F "\"$root/$two/tool\"" | grep -q "\"samples\": 0"'
check_here "the daemon ends" stop_daemon
done_testing
