#!/bin/bash
# soak.sh - mixed real use for an hour, with swaps going on underneath: builds, scripts, databases
#
#   originals  run every workload on every input: the outputs to compare with
#   workers    run the workloads in turn, each in its own folder; two programs run all the time
#   driver     every few seconds something happens: reoptimize, undo with the daemon and without, verify, a
#              package upgrade, kill -9 of a role, of the whole daemon or of an undo, the database lost, the
#              policy read again, make uninstall and a new start; the daemon reoptimizes by itself too
#   end        every byte of output as that of the originals, every file restored, nothing left behind
#
# All programs are private copies, in a private root.  SOAK_S (3600) is how long, SEED (printed) what the
# driver throws, REPORT (bench/results/soak.md) where the report goes, WORKERS (2) how many work at a time.
# What differs is kept in KEEP (/var/tmp/morph-soak).
cd "$(dirname "$0")/../.." || exit 1
. bench/common.bash
. tests/newer.bash
. tests/soak/outcome.bash
PATH=/usr/sbin:/usr/bin:/sbin:/bin
[ "$(id -u)" = 0 ] || { echo "soak: needs root to sample and to swap" >&2; exit 1; }
SOAK_S=${SOAK_S:-3600} WORKERS=${WORKERS:-2} REPORT=${REPORT:-bench/results/soak.md}
KEEP=${KEEP:-/var/tmp/morph-soak}
RANDOM=${SEED:=$$}

# Workload, its program, size of its inputs: under half a second of CPU time each.
workloads="perl:perl:300 python3.11:python3.11:10000 sqlite3:sqlite3:2500 gawk:gawk:20000 bash:bash:2500
	git:git:200 gzip:gzip:500 sort:sort:10000 postgres:postgres:3000 cc1:cc1:300 build:cc1:3"
libraries="libc.so.6 libsqlite3.so.0 libz.so.1"
seeds="2 4 77"

die() { echo "soak: $*" >&2; exit 1; }
say() { printf '%6d s: %s\n' "$((SECONDS - started))" "$*" >&2; }
started=$SECONDS

# --- the private root ---

root=$T top=$PWD morphd=
chmod 755 "$root"
mkdir -p "$root"/{bin,lib,orig/bin,orig/lib,newest,work,reference,log,store}
rm -rf "$KEEP" && mkdir -p "$KEEP"

where_is() {		# PROGRAM
	case $1 in
	cc1) gcc -print-prog-name=cc1 ;;
	postgres) echo /usr/lib/postgresql/15/bin/postgres ;;
	*) command -v "$1" ;;
	esac
}
copy() {		# FROM FOLDER NAME
	[ -n "$1" ] && cp "$(readlink -f "$1")" "$root/$2/$3" && cp "$root/$2/$3" "$root/orig/$2/$3"
}
for p in perl python3.11 sqlite3 gawk bash git gzip sort postgres cc1 as ld make; do
	copy "$(where_is "$p")" bin "$p" || { say "$p is missing: its workloads are left out"; missing="${missing:-} $p"; }
done
for l in $libraries; do
	copy "$(ldconfig -p | awk -v l="$l" '$1 == l && /x86-64/ { print $NF; exit }')" lib "$l" || die "$l is missing"
done
for w in $workloads; do
	p=${w#*:} p=${p%:*}
	[[ " ${missing:-} " = *" $p "* ]] || have="${have:-} $w"
done
workloads=$have
cp -a "$root/orig/bin" "$root/orig/lib" "$root/newest/"

script_of() {		# WORKLOAD
	local d
	for d in tests/soak bench/work tests/programs/work; do
		[ -x "$top/$d/$1.sh" ] && { echo "$top/$d/$1.sh"; return; }
	done
	return 1
}

# One run in folder DIR of what was prepared there, programs and libraries of ROOT: output, messages, exit
# code in FILE.
run_one() {		# WORKLOAD PROGRAM DIR ROOT FILE
	local script
	script=$(script_of "$1") || return 1
	(cd "$3" && LD_LIBRARY_PATH=$4/lib exec "$script" run "$4/bin/$2") >"$5" 2>"$5.err" </dev/null
	echo "exit code $?" >>"$5"
	sed "s,$root/orig,$root,g" "$5.err" >>"$5"
	rm -f "$5.err"
}
prepare_all() {
	local w name s i
	for w in $workloads; do
		name=${w%%:*}
		for s in $seeds; do
			i=$root/work/1/$name.$s
			mkdir -p "$i"
			(cd "$i" && "$(script_of "$name")" prepare "${w##*:}" "$s") >"$root/log/prepare" 2>&1 ||
				{ cat "$root/log/prepare" >&2; die "preparing $name"; }
			for n in $(seq 2 "$WORKERS") all; do
				mkdir -p "$root/work/$n" && cp -a "$i" "$root/work/$n/"
			done
		done
	done
}
# The originals, twice: what they do themselves differently is no workload.
references() {
	local w name p s at
	for w in $workloads; do
		name=${w%%:*} p=${w#*:} p=${p%:*}
		for s in $seeds; do
			at=$root/reference/$name.$s
			run_one "$name" "$p" "$root/work/1/$name.$s" "$root/orig" "$at"
			run_one "$name" "$p" "$root/work/1/$name.$s" "$root/orig" "$at.again"
			cmp "$at" "$at.again" >&2 || die "$name does not always say the same"
			! grep -qE '^exit code (12[6-9]|1[3-9].|2..)$' "$at" || { tail -n 3 "$at" >&2; die "$name fails"; }
		done
	done
}

# --- workers ---

# Runs everything in turn until the end; each run is a line in its log.
worker() {		# NUMBER
	local w name p s n=0 out=$root/log/out.$1 t
	while [ "$SECONDS" -lt "$end" ]; do
		for w in $(tr ' ' '\n' <<<"$workloads" | shuf --random-source=<(yes "$SEED $1 $n")); do
			[ "$SECONDS" -lt "$end" ] || break
			name=${w%%:*} p=${w#*:} p=${p%:*} n=$((n + 1))
			s=$(awk -v n="$n" '{ print $(n % NF + 1) }' <<<"$seeds")
			t=$(date +%s)
			run_one "$name" "$p" "$root/work/$1/$name.$s" "$root" "$out"
			if cmp -s "$out" "$root/reference/$name.$s"; then
				echo "same $name"
			else
				echo "DIFFERENT $name"
				keep_difference "$name.$s" "$t" "$out"
			fi
		done
	done >"$root/log/worker.$1"
}
keep_difference() {	# INPUT BEGUN OUTPUT
	local d=$KEEP/$1.$2
	mkdir -p "$d" && cp "$3" "$d/output" && cp "$root/reference/$1" "$d/reference"
	cp "$root/bin/"* "$root/lib/"* "$d/" 2>/dev/null
	{ date +%s; tail -n 50 "$root/log/driver" "$root/log/morphd"; } >"$d/log"
	say "DIFFERENT: $1, kept in $d"
}

# --- what happens to the programs ---

ctl() { timeout 300 "$B/morphctl" --socket "$root/sock" "$@"; }
role_pid() {
	ctl --json status 2>/dev/null | sed -n "s/.*\"role\": \"$1\", \"pid\": \([0-9]*\),.*/\1/p"
}
start_daemon() {
	"$B/morphd" --foreground --policy "$root/morph.yaml" --store "$root/store" --socket "$root/sock" --folders "$root" \
		--user nobody --morph-edit "$B/morph-edit" >>"$root/log/morphd" 2>&1 &
	morphd=$!
	for _ in $(seq 300); do
		ctl status >/dev/null 2>&1 && return 0
		kill -0 "$morphd" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}
did() { echo "$*" >>"$root/log/driver"; }

# A newer package: the original with another build id, or the first one again, by rename.
upgrade() {		# MODULE
	local new=$root/$1.dpkg-new
	if [ $((RANDOM % 3)) = 0 ]; then
		cp -p "$root/orig/$1" "$new"
	else
		newer "$root/orig/$1" "$new" $((RANDOM % 256)) || return
	fi
	cp -p "$new" "$root/newest/$1"
	mv "$new" "$root/$1" && did upgrade
}
# Without a daemon, and in the middle of it killed, as often as not: what is left is for the next one.
stop_daemon() {
	kill "$morphd" 2>/dev/null
	wait "$morphd" 2>/dev/null
}
again() {
	start_daemon || die "the daemon does not start again: $(tail -n 5 "$root/log/morphd")"
}
undo_alone() {		# WHAT...: a module, or --all and a folder
	local pid rc
	"$B/morphctl" --socket "$root/none" undo --store="$root/store" "$@" >>"$root/log/ctl" 2>&1 &
	pid=$!
	if [ $((RANDOM % 2)) = 0 ]; then
		sleep "0.0$((RANDOM % 100))"
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		did "kill undo"
	fi
	"$B/morphctl" --socket "$root/none" undo --store="$root/store" "$@" >>"$root/log/ctl" 2>&1
	rc=$?; did "undo-alone $rc"
}
all_undone() {		# what is at each path is no generation
	local m
	while read -r m; do
		! "$B/morph-verify" "$root/orig/$m" "$root/$m" >/dev/null 2>&1 || { echo "$m is a generation"; return 1; }
	done <"$root/modules"
}
undo_without_daemon() {	# MODULE
	stop_daemon
	undo_alone "$root/$1"
	again
}
# As `make uninstall` does, and looked at: then the daemon is installed again.
uninstall() {
	local rc
	stop_daemon
	mkdir -p "$root/installed"
	make -s -o all B="$B" DESTDIR="$root/installed" PREFIX=/usr SYSCONFDIR=/etc install >>"$root/log/ctl" 2>&1 ||
		die "make install"
	undo_alone --all "$root"
	{ all_undone && make -s B="$B" DESTDIR="$root/installed" PREFIX=/usr SYSCONFDIR=/etc uninstall; } \
		>>"$root/log/ctl" 2>&1
	rc=$?; did "uninstall $rc"
	again
}
lose_database() {
	stop_daemon
	if [ $((RANDOM % 2)) = 0 ]; then
		rm -f "$root"/store/morph.db*
	else
		rm -f "$root"/store/morph.db-*
		head -c 200000 /dev/urandom >"$root/store/morph.db"
	fi
	did "lose database"
	again
}
kill_role() {		# parent | manager | monitor
	local pid
	if [ "$1" = parent ]; then
		kill -9 "$morphd" 2>/dev/null
		wait "$morphd" 2>/dev/null
		did "kill parent"
		start_daemon || die "the daemon does not start again: $(tail -n 5 "$root/log/morphd")"
	elif pid=$(role_pid "$1") && [ -n "$pid" ]; then
		kill -9 "$pid" 2>/dev/null && did "kill $1"
	fi
}
one_event() {
	local m what=$((RANDOM % 100)) rc
	m=$(shuf -n 1 "$root/modules" --random-source=<(yes "$RANDOM"))
	if [ "$what" -lt 47 ]; then
		ctl reoptimize "$root/$m" >>"$root/log/ctl" 2>&1
		rc=$?; did "reoptimize $rc"
	elif [ "$what" -lt 52 ]; then
		undo_without_daemon "$m"
	elif [ "$what" -lt 54 ]; then
		uninstall
	elif [ "$what" -lt 55 ]; then
		lose_database
	elif [ "$what" -lt 70 ]; then
		ctl undo "$root/$m" >>"$root/log/ctl" 2>&1
		rc=$?; did "restore $rc"
	elif [ "$what" -lt 75 ]; then
		ctl verify --all >>"$root/log/ctl" 2>&1
		rc=$?; did "verify $rc"
	elif [ "$what" -lt 78 ]; then
		ctl undo --all >>"$root/log/ctl" 2>&1
		rc=$?; did "restore-all $rc"
	elif [ "$what" -lt 86 ]; then
		upgrade "$m"
	elif [ "$what" -lt 90 ]; then
		kill_role manager
	elif [ "$what" -lt 93 ]; then
		kill_role monitor
	elif [ "$what" -lt 95 ]; then
		kill_role parent
	elif [ "$what" -lt 97 ]; then
		kill -HUP "$morphd" && did reload
	else
		ctl pause >>"$root/log/ctl" 2>&1 && sleep 2
		ctl resume >>"$root/log/ctl" 2>&1 && did pause
	fi
}
# Most that each role had resident, in KiB, and the store's and spool's size, in KiB.
measure() {
	local r pid k
	for r in parent manager monitor; do
		pid=$(role_pid "$r")
		k=$(awk '/^Rss:/ { print $2 }' "/proc/${pid:-0}/smaps_rollup" 2>/dev/null) && echo "$r ${k:-0}"
	done >>"$root/log/measured"
	echo "store $(du -sk "$root/store" 2>/dev/null | cut -f 1)" >>"$root/log/measured"
}
driver() {
	local turn=0
	while [ "$SECONDS" -lt "$end" ]; do
		one_event
		sleep $((1 + RANDOM % 5))
		turn=$((turn + 1))
		[ $((turn % 5)) = 0 ] && measure
		[ $((turn % 20)) = 0 ] && say "$(grep -hc '^same' "$root"/log/worker.* | paste -sd+ | bc) runs," \
			"$(grep -hc '^DIFFERENT' "$root"/log/worker.* | paste -sd+ | bc) different, $(wc -l <"$root/log/driver") events"
	done
}

# --- programs that run all the time ---

# A perl that counts, and a sqlite3 that is fed; each step is a line.
long_perl='$| = 1; my %h; for my $step (1 .. $ARGV[0]) { $h{$_ * $step % 997} .= chr(97 + $_ % 26) for 1 .. 20000;
	my $sum = 0; for (sort keys %h) { $sum = ($sum * 31 + length $h{$_}) % 1000003 if $h{$_} =~ /[aeiou]/ }
	print "$step $sum\n"; %h = () if $step % 50 == 0; select undef, undef, undef, $ARGV[1] }'
long_sql() {		# STEPS PAUSE
	echo "create table t(a integer primary key, b text, c real); create index i on t(b);"
	local step
	for ((step = 1; step <= $1; step++)); do
		echo "with recursive n(i) as (values(1) union all select i + 1 from n where i < 200)"
		echo "insert into t(b, c) select printf('%x', i * $step * 7919 % 65521), i * 1.5 from n;"
		echo "select $step, count(*), sum(c), min(b), max(b) from t where b between '3' and 'c';"
		echo "delete from t where a % 3 = $step % 3 or $step % 50 = 0;"
		sleep "$2"
	done
}
start_long() {
	LD_LIBRARY_PATH=$root/lib "$root/bin/perl" -e "$long_perl" 1000000000 1 >"$root/log/long.perl" 2>&1 &
	long="$!"
	long_sql 1000000000 1 2>/dev/null | LD_LIBRARY_PATH=$root/lib stdbuf -oL "$root/bin/sqlite3" -batch >"$root/log/long.sqlite3" 2>&1 &
	long="$long $!"
}
# Those lines again by the originals, at once; the last line may be half written.
check_long() {
	local p n
	for p in perl sqlite3; do
		n=$(($(wc -l <"$root/log/long.$p") - 1))
		if [ "$p" = perl ]; then
			"$root/orig/bin/perl" -e "$long_perl" "$n" 0
		else
			long_sql "$n" 0 | LD_LIBRARY_PATH=$root/orig/lib "$root/orig/bin/sqlite3" -batch
		fi >"$root/log/long.$p.want" 2>&1
		if [ "$n" -gt 0 ] && head -n "$n" "$root/log/long.$p" | cmp -s - "$root/log/long.$p.want"; then
			echo "same $p, $n steps"
		else
			echo "DIFFERENT $p, $n steps"
		fi
	done >"$root/log/long"
}

stop_all() {
	kill $long $workers 2>/dev/null
	[ -n "$morphd" ] && kill -9 "$morphd" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$T"
}
trap stop_all EXIT
trap 'exit 1' INT TERM

say "seed $SEED, $SOAK_S s, $WORKERS workers, in $root"
prepare_all
say "outputs of the originals"
references
cat >"$root/morph.yaml" <<END
modules:
  include: ["$root/bin/*", "$root/lib/*"]
  hard_links: true	# perf links what it sees into its cache; these files are ours alone
idle:			# always: the machine is never idle here
  {check_s: 5, load_max_pct: 10000, busy_max_pct: 100, psi_cpu_max_pct: 100, psi_io_max_pct: 100,
   psi_memory_max_pct: 100, users_away: false, on_battery: true, heat_max_pct: 100}
optimize:
  automatic: true
  min_samples: 50
  max_unseen_pct: 100
  min_gain_ppm: 0
  min_drift_pct: 1
  cool_down_h: 0
  observe_first_h: 0
  cpu_per_day_s: 86400
  disk_per_day_mib: 1048576
END
(cd "$root" && ls bin/* lib/*) >"$root/modules"
: >"$root/log/driver"
start_daemon || die "the daemon does not start: $(cat "$root/log/morphd")"
say "working"
begun=$(date +%s)
end=$((SECONDS + SOAK_S))
long= workers=
start_long
# Jobs that nobody asked for would get no CPU time beside all that.
(while sleep 1; do pgrep -x morph-edit | xargs -rn1 chrt --other --pid 0; done) >/dev/null 2>&1 &
long="$long $!"
for n in $(seq "$WORKERS"); do
	worker "$n" &
	workers="$workers $!"
done
driver
wait $workers
worked_s=$(($(date +%s) - begun))
kill $long 2>/dev/null
say "looking at the outcome"
sed -i 's/automatic: true/automatic: false/' "$root/morph.yaml"
kill -HUP "$morphd"
sleep 5			# what it has begun
outcome
exit "$outcome_rc"
