#!/bin/bash
# liveburst.sh - the daemon counts exactly, for a while, in a process that does not end, and lays its program out
# by that; whoever is killed meanwhile, nothing that counts stays in any process
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root dash
for name in second third fourth fifth; do
	cp "$root/bin/dash" "$root/bin/$name"
done
policy() {		# AUTOMATIC LIVE BURST_S [SETTING...]
	always_idle >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		monitor:
		  clock: cpu-clock
		  rate_hz: 2003
		  registers: off
		optimize:
		  automatic: $1
		  min_samples: 100
		  max_unseen_pct: 100
		  min_gain_ppm: 0
		  observe_first_h: 0
		  count_burst_s: $3
		rules:
		  - {name: servers, paths: ["$root/bin/*"], live: $2, live_cpu_s: 1}
	END
	local setting
	for setting in "${@:4}"; do
		sed -i "/^optimize:/a\\  $setting" "$root/morph.yaml"
	done
}
# Answers without end, some by a process of its own, and all are the same, also when it is used otherwise.
cat >"$root/loop" <<'END'
turn() { set -- "$2" "$3" "$1"; word=$1$2$3; }
n=0
while :; do
	while [ -e "${0%loop}otherwise" ]; do
		i=0 word=abc
		for w in a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9; do
			turn "${word%??}" "${word#??}" "${word#?}"
			word=${word%"${word#???}"}
			i=$((i + 1))
		done
		[ $i = 36 ] && echo "$s ${#t}"
	done
	i=0 s=0 t=
	while [ $i -lt 300 ]; do
		case $((i % 7)) in [0-3]) s=$((s + i * 7919 % 1009)) ;; *) t=${t%x}y ;; esac
		i=$((i + 1))
	done
	n=$((n + 1))
	case $((n % 16)) in
	0) (echo "$s ${#t}") ;;
	*) echo "$s ${#t}" ;;
	esac
done
END
servers=()
serve() {		# PROGRAM: its process is $pid
	"$root/bin/$1" "$root/loop" >"$root/$1.out" 2>"$root/$1.err" </dev/null 9>&- &
	pid=$!
	servers+=("$pid")
}
end_server() { kill -9 "$pid" && wait "$pid" 2>/dev/null; }
cleanup_all() { kill -9 "${servers[@]}" 2>/dev/null; cleanup; }
trap cleanup_all EXIT
goes_on() {		# PROGRAM
	local before
	before=$(wc -l <"$root/$1.out")
	within 10 eval "[ \$(wc -l <'$root/$1.out') -gt $((before + 3)) ]" || { echo "no more lines"; return 1; }
	[ "$(sed '$d' "$root/$1.out" | sort -u | wc -l)" = 1 ] || { echo "lines differ"; sort "$root/$1.out" | uniq -c | head -5; return 1; }
	[ ! -s "$root/$1.err" ] || { cat "$root/$1.err"; return 1; }
}
history_has() { ctl history "$root/bin/$1" | grep -Eq "$2"; }
is_told() { hasten; sleep 0.2; history_has "$1" "$2"; }
tells() { within "${3:-60}" is_told "$1" "$2" || { ctl history "$root/bin/$1"; tail -n 15 "$root/log"; return 1; }; }
counts() { readelf -SW "$1" 2>/dev/null | grep -q " \.morph\.counters "; }
# Processes in which something counts, or may: its file is gone.
counting() {
	"$B/morph-live" list "$root/store/live" | while read -r of _ file; do
		[ -e "$file" ] && ! counts "$file" || echo "$of"
	done
}
something_counts() { [ -n "$(counting)" ]; }
nothing_counts() { [ -z "$(counting)" ]; }
begins() { hasten; sleep 0.05; something_counts; }
has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat")" -gt 120 ]; }	# live_cpu_s, and a bit
known() {		# PROGRAM: its process runs, and is sampled
	serve "$1"
	sampled "$1" 300 sleep 0.3 && within 60 has_run
}

policy false on 2
check_here "a daemon" start_daemon
check_here "a shell that does not end is sampled" known dash
policy true on 2
check "the policy says that it is laid out by itself" ctl policy reload
check "it counts for two seconds" tells dash "live counting +process $pid of user 0 counted for 2\.[0-9] s what [0-9]+ samples leave open, [0-9]+ %: [0-9.]+ s of CPU time, stopped for [0-9.]+ ms at most"
check "what it counted is in the store" tells dash "counted +a burst of 2\.[0-9] s, of [0-9.]+ s in it, about 0\.[0-9] s more than usual; [1-9][0-9]+ blocks ran"
check "and dash is laid out by it" tells dash "installed +generation 2 from [0-9]+ samples and the counts of a burst of 2\.[0-9] s"
check "which is proven" ctl verify "$root/bin/dash"
check "nothing counts any more" nothing_counts
check "the file that counted is gone" not eval 'for f in "$root"/store/live/*; do counts "$f" && break; done'
check "its answers are the same" goes_on dash
lists() { ctl --json list | grep -F "\"$root/bin/$1\"" | grep -Eq "$2"; }
check "the list has what it cost and was expected to bring" lists dash \
	'"counts": "a burst of 2\.[0-9] s", "counts_cost_s": [0-9]\.[0-9]+, "counts_gain_ppm": [0-9.]+'
gets() { hasten; sleep 0.2; [ -n "$("$B/morph-live" look "$pid" "$root/store/live")" ]; }
check "the process gets the generation that was made by that" within 30 gets
check "which does not count" nothing_counts
check "and its answers are the same" goes_on dash
touch "$root/otherwise"
policy true on 2 "cool_down_h: 0" "min_drift_pct: 5"
ctl policy reload
counted_twice() { hasten; sleep 0.2; [ "$(ctl history "$root/bin/dash" | grep -c "counted for")" -ge 2 ]; }
check "used otherwise, it gives its generation back, and counts once more" within 60 counted_twice
check "it is laid out by these counts" tells dash "installed +generation ([4-9]|[1-9][0-9]) from [0-9]+ samples and the counts of a burst of 2"
check "and has the new generation" within 30 gets
check "its answers are the same" goes_on dash
rm "$root/otherwise"
check "root's log has it" grep -q "of '$root/bin/dash' into process $pid of user 0, to count: counted" "$root/log"
end_server

# --- who may not ---

policy false off 2
ctl policy reload
check_here "another one" known second
policy true off 2
ctl policy reload
check "where the policy lets running processes alone it is laid out by samples" \
	tells second "installed +generation 1 from [0-9]+ samples, passes"
check "and nothing has counted" not history_has second "live counting"
end_server
policy false on 60 "count_cpu_per_day_s: 1"
ctl policy reload
check_here "a third one" known third
policy true on 60 "count_cpu_per_day_s: 1"
ctl policy reload
check "what would cost more than a day may is laid out by samples" \
	tells third "installed +generation 1 from [0-9]+ samples, passes"
check "and nothing has counted" not history_has third "live counting"
check "the log says so" grep -q "bin/third: not counted: " "$root/log"
end_server

# --- killed ---

policy false on 30
ctl policy reload
check_here "a fourth one" known fourth
policy true on 30
ctl policy reload
check "it counts" within 30 begins
check "status says so" within 5 eval 'ctl status | grep -q "counts *process $pid of .$root/bin/fourth., for a while"'
check "and list" lists fourth "\"counts\": \"counting in process $pid\""
policy true on 2
kill -9 "$(role_pid manager)"
check "the manager is killed: the next one has it taken out" within 15 nothing_counts
check "and is there" within 15 ctl status
check "the answers are the same" goes_on fourth
check "it counts once more, and is laid out by that" tells fourth "installed +generation [23] from [0-9]+ samples and the counts of a burst of 2"
end_server
policy false on 30
ctl policy reload
check_here "a fifth one" known fifth
policy true on 30
ctl policy reload
check "it counts, too" within 30 begins
live=$(pgrep -f "^morph-live count $pid ")
kill -9 "$live" "$daemon"	# it would take out when the daemon ends
wait "$daemon" 2>/dev/null
check "the daemon and morph-live are killed: it goes on counting" something_counts
check "and answers as before" goes_on fifth
policy false off 30
check_here "a new daemon" start_daemon
check "takes it out" within 15 nothing_counts
check "also where the policy wants none of it any more" goes_on fifth
in_book() { ls "$root/store/livebook" | grep -q .; }
check "nothing is left in the book" within 10 not in_book
check_here "the daemon ends" stop_daemon
done_testing
