#!/bin/bash
# counted.sh - the daemon counts exactly, in a few runs, what samples leave open, lays the program out by
# it, and leaves nothing of that behind
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root perl gzip
policy() {		# AUTOMATIC COUNT [LOAD_MAX_PCT [CHECK_S]]: speed is observed each second
	always_idle "${4:-1}" "${3:-10000}" >"$root/morph.yaml"
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
		  observe_s: 1
		  observe_first_h: 0
	END
}
script='my %h; for my $i (1 .. 60000) { my $k = $i * 7919 % 10007; $h{$k} .= chr(65 + $i % 26); }
	print join(",", map { "$_=" . length $h{$_} } sort { $a <=> $b } keys %h), "\n"'
use_perl() { "$root/bin/perl" -e "$script"; }
seq 60000 >"$root/numbers"
use_gzip() { "$root/bin/gzip" -c "$root/numbers" "$root/numbers" "$root/numbers" | cksum; }
history_has() { ctl history "$1" | grep -Eq "$2"; }
# A job that nobody waits for makes room for us: so wait without doing anything.
is_told() { hasten; sleep 0.2; history_has "$1" "$2"; }
counts() { readelf -SW "$1" 2>/dev/null | grep -q " \.morph\.counters "; }

truth=$(use_perl | cksum)
policy false on
check_here "a daemon" start_daemon
check "perl is sampled" sampled perl 150 use_perl
check "gzip is sampled" sampled gzip 150 use_gzip
policy true on
check "the policy allows counting" ctl policy reload
in_root() { within 120 is_told "$root/bin/$1" "$2"; }
check_here "perl is to be counted" in_root perl "counting .* generation 1 counts what [0-9]+ samples leave open"
check "what is at its path counts" counts "$root/bin/perl"
check "and is proven to be the same program" ctl verify "$root/bin/perl"
for i in 1 2 3 4; do use_perl; done >"$root/out"
check "it prints the same" test "$(head -n 1 "$root/out" | cksum)" = "$truth"
run_as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$root/bin/perl" -e "$script"; }
check "for another user, too" test "$(run_as | cksum)" = "$truth"
check "one that changes its mind about who it is runs as before" test "$(
	"$root/bin/perl" -e '$) = 65534; $> = 65534; '"$script" | cksum)" = "$truth"
# What has come so far, as a profile: the script alone is 60,000 turns of a loop, each some hundred blocks.
executions() {
	"$B/morph-edit" counts "$root/orig/perl" "$root/store/counts-$(sha256sum <"$root/bin/perl" | cut -c 1-64)" \
		-o "$root/p" &&
		awk '$1 == "block" { n += $3 } END { printf "%.0f\n", n }' "$root/p"
}
counted_much() { [ "$(executions)" -gt 10000000 ]; }
check "whole runs were counted" within 20 counted_much
note "$(executions) executions"
for i in $(seq 24); do use_perl; done >/dev/null
check_here "six to twelve runs or so are enough" in_root perl "counted .*([6-9]|1[0-9]) runs in [0-9]+ minutes, of [0-9.]*[1-9][0-9.]* s in it, .* [1-9][0-9]+ blocks ran"
check_here "and perl is laid out by them" in_root perl "installed .*generation 2 from [0-9]+ samples and the counts of ([6-9]|1[0-9]) runs"
lists() { ctl list --json | grep -Eq "$1"; }
check "the list has runs, cost and what was expected" lists \
	'"counts": ?"([6-9]|1[0-9]) runs", ?"counts_cost_s": ?[0-9]+\.[0-9]+, ?"counts_gain_ppm": ?[0-9.]+'
# Where branches are known by counts the function is sure of all that it executed.
hot=$(ctl --json report "$root/bin/perl" 2>/dev/null | jq -r '.procedures[0].entry')
check "annotate goes by them, too" eval 'ctl --json annotate "$root/bin/perl" "$hot" >"$root/notes" 2>"$root/said" && cat "$root/said" &&
	grep -q "executions are also by the counts of 1*[0-9] runs" "$root/said"'
check "and is sure of what ran" jq -e '[.blocks[] | select(.executions > 0) | .confidence] | length > 3 and all(. == "high")' "$root/notes"
check "so does its flow graph" eval 'ctl cfg "$root/bin/perl" "$hot" >"$root/flow" 2>"$root/said" && cat "$root/said" &&
	grep -q "executions are also by the counts of 1*[0-9] runs" "$root/said" && grep -q "confidence high" "$root/flow"'
check "of blocks that annotate has" not grep -vxFf <(jq -r '.blocks[].block' "$root/notes") <(grep -oE '^0x[0-9a-f]+' "$root/flow")
check "and as many edges for Graphviz" [ "$(ctl cfg perl "$hot" --dot | grep -c ' -> b')" = "$(grep -c -- '-> 0x' "$root/flow")" ]
check "and as many in the order of a layout" [ "$(ctl cfg perl "$hot" --placed --dot 2>/dev/null | grep -c ' -> b')" = "$(grep -c -- '-> 0x' "$root/flow")" ]
check "which some blocks are moved for" [ "$(ctl cfg perl "$hot" --placed 2>/dev/null | grep -c 'placed at')" -gt 5 ]
check "which counts no more" not counts "$root/bin/perl"
check "and is proven" ctl verify "$root/bin/perl"
check "it prints the same" test "$(use_perl | cksum)" = "$truth"
no_counts_of() { not ls "$root/store"/counts-* 2>/dev/null; }

check_here "gzip is to be counted, too" in_root gzip "counting .* generation 1"
check "there is a file for its counts" ls "$root/store"/counts-*
check_here "the daemon ends" stop_daemon
check "what counts for nobody runs all the same" use_gzip
check_here "it begins again" start_daemon
check_here "what was not counted is laid out by samples" in_root gzip "installed .*generation 2 from [0-9]+ samples, passes"
check "gzip does not count any more" not counts "$root/bin/gzip"
check "no file of counts is left" no_counts_of
check "it is not counted again" not history_has "$root/bin/gzip" "counting .* generation 3"
check "the originals come back" ctl restore --all
check "perl byte for byte" cmp "$root/bin/perl" "$root/orig/perl"
check "gzip byte for byte" cmp "$root/bin/gzip" "$root/orig/gzip"
check_here "the daemon ends again" stop_daemon

# Counting costs time: who uses the machine does not pay for it until it is idle.
host=$root/host
mkdir -p "$host/proc"
load() { echo "$1 0.20 0.30 1/100 1234" >"$host/proc/loadavg"; }
load 0.1
rm -rf "$root/store"
policy true on 100
check_here "a daemon that sees how busy it is" start_daemon --host "$host"
check "perl is sampled again" sampled perl 150 use_perl
check_here "perl is to be counted" in_root perl "counting .* generation 1"
load 99
check "the machine is busy" within 10 eval 'ctl status | grep -q "^idle.load_max_pct .* no$"'
# that does not wait until the machine is looked at
policy true on 100 3600
check "nor is it looked at for an hour" ctl policy reload
for i in $(seq 24); do use_perl; done >/dev/null
check "its original is back when enough runs have counted" within 20 cmp -s "$root/bin/perl" "$root/orig/perl"
check "the history says why" within 10 history_has "$root/bin/perl" "restored .*generation 1, which has counted ([6-9]|1[0-9]) runs"
check "what is next is told" eval 'ctl explain "$root/bin/perl" | grep "its runs have been counted; it is laid out at the next idle time"'
check "the list has it, too" lists '"counts": ?"not laid out yet, ([6-9]|1[0-9]) runs"'
sleep 3
check "it waits for an idle machine" not history_has "$root/bin/perl" installed
check "what ran without counting is no loss" test "$(use_perl | cksum)" = "$truth"
load 0.1
sleep 2
check "also when nobody sees that it is idle" not history_has "$root/bin/perl" installed
policy true on 100
check "the policy has it looked at again" ctl policy reload
check_here "then it is laid out by what was counted" in_root perl "installed .*generation 2 from [0-9]+ samples and the counts of ([6-9]|1[0-9]) runs"
check "and no file of counts is left" no_counts_of
check "the original comes back" ctl restore --all
check_here "the daemon ends once more" stop_daemon

# A compiler's runs by `configure` come first, within a second, and tell little of what it is used for.
# (Of some milliseconds by the clock, or they are over before they are found.)
use_long() { "$root/bin/perl" -e "${script/60000/300000}"; }
use_briefly() { local i; for ((i = 0; i < $1; i++)); do "$root/bin/perl" -e 'select undef, undef, undef, 0.02' || return 1; done; }
so_far() { lists "\"counts\": ?\"counting, so far $1 runs\""; }
rm -rf "$root/store"
policy false auto
check_here "a daemon that decides itself what to count" start_daemon --host "$host"
check "it is seen how long perl takes" sampled perl 2000 use_long
policy true auto
check "it may count" ctl policy reload
check_here "perl is to be counted" in_root perl "counting .* generation 1"
check "it runs for nothing, many times" use_briefly 40
check "these runs are counted" within 20 so_far "(1[6-9]|[2-9][0-9])"
sleep 3
check "but are not enough" counts "$root/bin/perl"
for i in $(seq 24); do use_long; done >/dev/null
check_here "usual ones are" in_root perl "counted .*[2-9][0-9] runs in [0-9]+ minutes"
check_here "and it is laid out" in_root perl "installed .*generation 2 from [0-9]+ samples and the counts of [2-9][0-9] runs"
check "its original comes back" ctl restore --all
check_here "the daemon ends for good" stop_daemon
done_testing
