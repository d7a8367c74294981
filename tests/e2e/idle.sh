#!/bin/bash
# idle.sh - work that nobody waits for begins when the machine is idle, stops when it is not, and goes on
#
# What the daemon sees of the machine is made up (--host), so it is idle and busy when the test says so.
# The program is a compiler, which takes some seconds to analyse and to lay out.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
cc1=$(gcc -print-prog-name=cc1) && [ -x "$cc1" ] || skip_all "there is no cc1"
make_root true
cp "$(readlink -f "$cc1")" "$root/bin/cc1"
cp "$root/bin/cc1" "$root/orig/cc1"
rm "$root/bin/true"
for i in $(seq 300); do
	echo "int f$i(int a, int b) { switch (a & 7) { case 0: return b; case 3: return a * $i; } while (a--) b += a ^ $i; return b; }"
done >"$root/in.c"
work() { "$root/bin/cc1" -quiet -O2 -o "$root/out.s" "$root/in.c"; }

# The made-up machine: CPU time that others used, or not, since the last look.
host=$root/host
mkdir -p "$host/proc/pressure" "$host/sys/class/power_supply/AC" "$host/sys/class/power_supply/BAT"
echo "0.10 0.20 0.30 1/100 1234" >"$host/proc/loadavg"
echo "some avg10=0.00 avg60=0.00 avg300=0.00 total=5" >"$host/proc/pressure/cpu"
echo Mains >"$host/sys/class/power_supply/AC/type"
echo 1 >"$host/sys/class/power_supply/AC/online"
echo Battery >"$host/sys/class/power_supply/BAT/type"
echo Charging >"$host/sys/class/power_supply/BAT/status"
used=0 unused=0
cpu() {			# USED UNUSED: more ticks, of one CPU
	used=$((used + $1)) unused=$((unused + $2))
	printf 'cpu  %d 0 0 %d 0 0 0 0 0 0\ncpu0 %d 0 0 %d 0 0 0 0 0 0\n' $used $unused $used $unused \
		>"$host/stat.new"
	mv "$host/stat.new" "$host/proc/stat"
}
busy() { cpu 900 100; }
calm() { cpu 0 100000; }

policy() {		# AUTOMATIC
	cat >"$root/morph.yaml" <<-END
		modules:
		  include: ["$root/bin/*"]
		  hard_links: true
		idle:
		  check_s: 1
		  users_away: false
		optimize:
		  automatic: $1
		  min_samples: 20
		  max_unseen_pct: 100
		  observe_first_h: 0
	END
}
condition() {		# NAME: its row of `status`
	ctl status | grep "^idle.$1 "
}
spent() { ctl status | sed -n 's/^spent in 24 h *\([0-9]*\)\.\([0-9]\) of .*/\1\2/p'; }	# tenths of a second
job_pid() { role_pid job; }
state() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f1; }
ticks() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }
job_runs() {		# COMMAND: job= the job that runs
	job=$(job_pid)
	[ -n "$job" ] && grep -qaw "$1" "/proc/$job/cmdline" && ! stopped
}
stopped() { [ "$(state "$job")" = T ]; }
goes_on() { [ -n "$(state "$job")" ] && ! stopped; }
had() {			# TICKS, or it has ended
	[ "$1" = 0 ] || hasten
	[ -z "$(state "$job")" ] || [ "$(ticks "$job")" -ge "$1" ]
}
# The job that runs at present is stopped when others use the CPU.  It may end just then: the next one.
stops() {		# COMMAND [TICKS]: when it has had so many of CPU time, which other tests may have left it none of
	local try begun
	for try in 1 2 3 4 5; do
		within 60 job_runs "$1" || return 1
		within 60 had "${2:-0}"
		begun=$(date +%s%N)
		busy
		if within 10 eval 'stopped || [ -z "$(state "$job")" ]' && stopped; then
			took=$((($(date +%s%N) - begun) / 1000000))
			return 0
		fi
		calm
	done
	return 1
}

calm
echo 0 >"$host/sys/class/power_supply/AC/online"
policy false
check_here "the daemon starts" start_daemon --host "$host"
check "load is shown, and holds" grep -q "10 % *yes" <<<"$(condition load_max_pct)"
check "pressure too" grep -q "0.00 % *yes" <<<"$(condition psi_cpu_max_pct)"
check "what the kernel does not offer does not stand in the way" \
	grep -q "not available *yes" <<<"$(condition psi_io_max_pct)"
check "battery" grep -q "battery *no" <<<"$(condition on_battery)"
work
sleep 3
check "on battery nothing is begun" not grep -q cc1 <<<"$(ctl --json list)"
echo 1 >"$host/sys/class/power_supply/AC/online"
check "mains" within 10 eval 'condition on_battery | grep -q "mains *yes"'

# Taking in the spool: the analysis of the program, which samples wait for.
check_here "the job that analyses stops within a second or so when others use the CPU" stops analyze
note "after $took ms"
before=$(ticks "$job")
sleep 1
check "it stays stopped, and takes no time" test "$(state "$job"):$(ticks "$job")" = "T:$before"
check "status says so" grep -q "^job *stopped until the machine is idle" <<<"$(ctl status)"
check "and that the CPU is used" grep -q "90 % *no" <<<"$(condition busy_max_pct)"
check "it runs with CPU time that is left over" test \
	"$(sed 's/.*) //' "/proc/$job/stat" | cut -d' ' -f39)" = 5
calm
check "when it is calm it goes on" within 60 goes_on
check "and ends" within 300 eval 'hasten; listed cc1 samples | grep -q "[1-9]"'

# Reoptimizing by itself: stops, is given up when somebody waits, and is done again.
busy
sleep 1.5
work
policy true
check "a new policy is read" ctl policy reload
calm
check "analysing is not what the budget is for" test "$(spent)" = 00
check_here "the job that lays out anew stops too" stops optimize 20
note "after $took ms"
check "somebody who asks gets an answer meanwhile" timeout 300 "$B/morphctl" --socket "$root/sock" report cc1
check "for that it was given up" within 10 grep -q "given up" "$root/log"
check "what it has cost until then counts" test "$(spent)" -gt 0
note "$(spent) / 10 s of CPU time"
check "and nothing was swapped in" same_file "$root/bin/cc1" "$root/orig/cc1"
calm
check "it is done again when the machine is idle" within 600 \
	eval 'hasten; grep -q "installed .*generation" <<<"$(ctl history "$root/bin/cc1")"'
check "and proven" whole cc1

# Who asks is not made to wait, but for CPU time beside other tests.
while sleep 0.3; do hasten; done &
looper=$!
busy
check "restore" ctl restore "$root/bin/cc1"
cpu 900 100
check "who asks explicitly gets a generation on a busy machine" ctl reoptimize --dry-run "$root/bin/cc1"
check_here "the daemon ends" stop_daemon
done_testing
