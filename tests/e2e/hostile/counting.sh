#!/bin/bash
# counting.sh - nobody keeps a counting generation in its place, and none is beyond undo
#
# A user keeps the machine busy, the policy changes its mind, the database is lost, the ledger is:
# the original comes back all the same.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root perl
user=64031
policy() {		# AUTOMATIC COUNT MOST-LOAD
	always_idle 1 "$3" >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		monitor:
		  clock: cpu-clock
		  rate_hz: 2003
		  registers: off
		optimize:
		  automatic: $1
		  count: $2
		  min_samples: 100
		  max_unseen_pct: 100
		  min_gain_ppm: 0
		  observe_first_h: 0
		  cool_down_h: 0
	END
	ctl policy reload
}
script='my %h; for my $i (1 .. 60000) { my $k = $i * 7919 % 10007; $h{$k} .= chr(65 + $i % 26); } print scalar(keys %h), "\n"'
use_perl() { "$root/bin/perl" -e "$script"; }
counts() { readelf -SW "$1" 2>/dev/null | grep -q " \.morph\.counters "; }
begins_to_count() { hasten; sleep 0.2; counts "$root/bin/perl"; }
is_counted() {		# until it counts
	policy false on 10000
	sampled perl 150 use_perl || return 1
	ctl list >/dev/null
	policy true on 10000
	within 120 begins_to_count
}
is_back() { sleep 0.2; cmp -s "$root/bin/perl" "$root/orig/perl"; }
no_counts() { not ls "$root/store"/counts-* 2>/dev/null; }
anew() {		# as if nothing had been known
	stop_daemon
	rm -rf "$root/store"
	cp "$root/orig/perl" "$root/bin/new" && mv "$root/bin/new" "$root/bin/perl"
	start_daemon
}

policy true on 10000 >/dev/null 2>&1
check_here "a daemon" start_daemon
check_here "perl counts" is_counted
cp "$root/bin/perl" "$root/counting"
cp -a "$root/store/originals" "$root/originals"

# --- nobody lays it out ---
check "the policy wants no more of it" policy false on 10000
check_here "its original comes back" within 30 is_back
check_here "and its counts are gone" within 30 no_counts

check_here "everything anew" anew
check_here "perl counts" is_counted
check "the policy wants no counts any more, and the machine is not idle" policy true off 1
check_here "its original comes back" within 30 is_back

if command -v sqlite3 >/dev/null; then
	check_here "everything anew" anew
	check_here "perl counts" is_counted
	check "the machine is idle no more" policy true on 1
	sleep 3
	check "it goes on counting" counts "$root/bin/perl"
	check_here "the daemon ends" stop_daemon
	as_manager sqlite3 "$root/store/morph.db" 'UPDATE counting SET begun_ns = begun_ns - 93600000000000'	# 26 hours
	check_here "a day later" start_daemon
	check_here "its original comes back" within 30 is_back
else
	skip "the machine is idle no more" "this machine has no sqlite3"
fi

# --- what knows of it is lost ---
check_here "everything anew" anew
check_here "perl counts" is_counted
check_here "the daemon ends" stop_daemon
head -c 20000 /dev/zero | as_manager tee "$root/store/morph.db" >/dev/null
rm -f "$root/store"/morph.db-*
policy true on 1 >/dev/null 2>&1
check_here "it begins with a new database" start_daemon
check "counts that nobody knows are gone" no_counts
finds() { use_perl >/dev/null; taken_in >/dev/null; is_back; }
check_here "the original of what counts comes back" within 60 finds
is_told() { ctl history "$root/bin/perl" | grep -q "restored *original in the place of generation 1"; }
check_here "that is in the history" within 30 is_told
check_here "the daemon ends" stop_daemon

mkdir -p "$root/lost" "$root/$user"
mv "$root/originals" "$root/lost/originals"
undo() { "$B/morphctl" undo --store="$root/lost" "$1" && cmp "$1" "$root/orig/perl"; }
cp "$root/counting" "$root/lost/perl"
check "undo knows it without daemon, database and ledger" undo "$root/lost/perl"
cp "$root/counting" "$root/$user/perl"
chown -R $user:$user "$root/$user"
check "a user's, too" undo "$root/$user/perl"
cp "$root/counting" "$root/$user/liar"
printf '\220' | dd of="$root/$user/liar" bs=1 seek=$((0x1000)) conv=notrunc 2>/dev/null
printf '\220' | dd of="$root/$user/liar" bs=1 seek=$(($(stat -c %s "$root/counting") / 2)) conv=notrunc 2>/dev/null
chown $user:$user "$root/$user/liar"
cp "$root/$user/liar" "$root/liar"
check "what a user only says to be one is refused" not undo "$root/$user/liar"
check "and stays" cmp "$root/$user/liar" "$root/liar"
done_testing
