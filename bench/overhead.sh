#!/bin/bash
# overhead.sh - tables 4, 5 and 6 of the Morph paper (SOSP 1997) on today's programs
#
#   B=build bench/overhead.sh
#
# First what interrupts take, in short slices (bench/gaps.c), which is narrow enough to tell 0.01 %: with the
# kernel's events as the Monitor opens them and without (bench/sampler.c).  Then nine kinds of programs and
# three strawmen, many short runs of each, with morphd sampling, by the default policy, and with morphd
# paused, which leaves its events open, switched off.  Both with perf record -F 1024 -a and without, and with
# sysprof and without; in pairs, in turns.  Then what the store keeps of each module.  On a quiet machine;
# about 50 minutes.
#
#   GAPS=300        pairs of slices of 200 ms
#   PAIRS=300       pairs of runs with Morph
#   OTHERS=60       pairs with the other samplers, of slices as well; 0: without them
#   SCALE=1         how long the programs run; 1 is about a tenth of a second each
#   PROGRAMS='...'  only these
set -eu
cd "$(dirname "$0")/.."
GAPS=${GAPS:-300} PAIRS=${PAIRS:-300} OTHERS=${OTHERS:-60} SCALE=${SCALE:-1}
[ "$(id -u)" = 0 ] || { echo "overhead.sh: needs root: it samples all processes"; exit 0; }
. bench/common.bash
top=$PWD
chmod 755 "$T"

# Name, what it stands for in the paper, program.  Strawmen have no program, but KiB of code.
l2_kib=$(($(getconf LEVEL2_CACHE_SIZE) / 1024))
[ "$l2_kib" -gt 0 ] || l2_kib=1024
workloads() {
	cat <<-END
	minisat espresso minisat
	gnugo go gnugo
	gzip gzip gzip
	cjpeg ijpeg cjpeg
	guile lisp guile
	ffmpeg mpeg_play ffmpeg
	perl perl perl
	sort sort sort
	sqlite3 vortex sqlite3
	strawman strawman - 0
	strawman-L2 strawman-512KB - $l2_kib
	strawman-2L2 strawman-1MB - $((2 * l2_kib))
	END
}

at_scale() { awk -v n="$1" -v s="$SCALE" 'BEGIN { n = int(n * s); print n < 1 ? 1 : n }'; }

# --- samplers: scripts that switch them on and off, and whose processes they are ---

waiting() {		# CONDITION [WHAT TO DO AFTER TEN SECONDS]
	echo "i=0; until $1; do i=\$((i + 1)); [ \$i -lt 200 ] || { ${2:-exit 1}; }; sleep 0.05; done"
}

start_morph() {
	mkdir -p "$T/store"
	"$B/morphd" --foreground --policy etc/morph.yaml --store "$T/store" --socket "$T/sock" \
		--folders "$T" --user nobody --morph-edit "$B/morph-edit" 2>"$T/log" &
	morphd=$!
	local i
	for i in $(seq 100); do ctl status >/dev/null 2>&1 && break; sleep 0.1; done
	echo "$morphd $(pgrep -P "$morphd" | tr '\n' ' ')" >"$T/morph.pids"
	echo "$B/morphctl --socket $T/sock resume" >"$T/morph.on"
	echo "$B/morphctl --socket $T/sock pause" >"$T/morph.off"
}
ctl() { "$B/morphctl" --socket "$T/sock" "$@"; }

# The kernel's side alone, with options of sampler: $T/NAME.on, $T/NAME.off.
make_events() {		# NAME [OPTION]
	local pid
	"$B/bench/sampler" ${2:-} "$T/$1.is" &
	pid=$!
	helpers="$helpers $pid"
	echo "kill -USR1 $pid; $(waiting "grep -q on $T/$1.is")" >"$T/$1.on"
	echo "kill -USR2 $pid; $(waiting "grep -q off $T/$1.is")" >"$T/$1.off"
}

make_perf() {
	cat >"$T/perf.on" <<-END
	sh $T/perf.off		# it may be on already: every second pair begins with what the last one ended
	rm -f $T/perf.data
	perf record -q -F 1024 -a -e cpu-clock -o $T/perf.data >/dev/null 2>&1 &
	echo \$! >$T/perf.pids
	$(waiting "[ -s $T/perf.data ]")
	sleep 0.5
	END
	cat >"$T/perf.off" <<-END
	[ -e $T/perf.pids ] || exit 0
	kill -INT \$(cat $T/perf.pids) 2>/dev/null || exit 0
	$(waiting "! kill -0 \$(cat $T/perf.pids) 2>/dev/null" "kill -KILL \$(cat $T/perf.pids); exit 0")
	END
}

# It asks a service for its descriptors, over a bus that need not run here.
make_sysprof() {
	export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$T/bus
	cat >"$T/bus.conf" <<-END
	<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
	 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
	<busconfig><type>system</type><listen>unix:path=$T/bus</listen><auth>EXTERNAL</auth>
	<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
	<allow receive_sender="*"/><allow send_type="method_call"/></policy></busconfig>
	END
	dbus-daemon --config-file="$T/bus.conf" --nofork >/dev/null 2>&1 &
	helpers="$helpers $!"
	sleep 1
	chmod 777 "$T/bus"
	/usr/lib/polkit-1/polkitd --no-debug >/dev/null 2>&1 &
	helpers="$helpers $!"
	sleep 1
	/usr/libexec/sysprofd >/dev/null 2>&1 &
	helpers="$helpers $!"
	sleep 1
	sed 's/perf\.pids/sysprof.pids/g' "$T/perf.off" >"$T/sysprof.off"
	cat >"$T/sysprof.on" <<-END
	sh $T/sysprof.off
	rm -f $T/sysprof.data
	sysprof-cli -f --no-battery --no-disk --no-network --no-memory --no-cpu --no-decode \
		$T/sysprof.data </dev/null >$T/sysprof.said 2>&1 &
	echo \$! >$T/sysprof.pids
	sleep 2
	END
	sh "$T/sysprof.on" && sh "$T/sysprof.off"
	[ "$(stat -c %s "$T/sysprof.data")" -gt 10000 ]		# otherwise it has sampled nothing
}

helpers=
others=
finish() {
	for o in $others; do
		sh "$T/$o.off" || true
	done
	kill $helpers ${morphd:-} 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$T"
}
trap finish EXIT

if [ "$OTHERS" -gt 0 ]; then
	make_perf
	! command -v perf >/dev/null || others="perf"
	if command -v sysprof-cli >/dev/null && command -v dbus-daemon >/dev/null && make_sysprof; then
		others="$others sysprof"
	else
		no_sysprof=1
	fi
fi

# --- programs ---

run_script() {		# NAME PROGRAM KIB: $T/work/NAME/run
	local dir=$T/work/$1 program size
	mkdir -p "$dir"
	if [ "$2" = - ]; then
		echo "exec $B/bench/strawman $3 $(at_scale 15)" >"$dir/run"
		return
	fi
	program=$(PATH=$PATH:/usr/games command -v "$2") || return 1
	size=$(awk -v name="$1" '$1 == name { print $4 }' bench/work/sizes)
	(cd "$dir" && "$top/bench/work/$1.sh" prepare "$(at_scale "$size")" 77 </dev/null)
	echo "cd $dir && exec $top/bench/work/$1.sh run $program 2>/dev/null" >"$dir/run"
}

# What code of so many KiB loses: a line in $T/SAMPLER.gaps.
gaps() {		# SAMPLER PAIRS KIB
	local line
	line=$("$B/bench/gaps" -n "$2" -k "$3" "sh $T/$1.on" "sh $T/$1.off") || true
	sh "$T/$1.off" || true		# an odd number of pairs ends with what samples
	echo "$3 $line" >>"$T/$1.gaps"
}

gaps_rows() {		# SAMPLER LABEL: rows
	[ -e "$T/$1.gaps" ] || return 0
	awk -v label="$2" 'NF > 2 {
		for (i = 2; i < NF; i += 2) v[$i] = $(i + 1)
		printf "| %s | %s | %.3f | %.4f (%.4f .. %.4f) | %.2f | %.2f | **%.4f** (%.4f .. %.4f) | %d, %d | %.1f |\n", label,
			$1 ? $1 " KiB" : "nothing", v["lost_off_pct"], v["added_pct"], v["low"], v["high"], v["tick_off_us"],
			v["tick_on_us"], v["tick_pct"], v["tick_low"], v["tick_high"], v["interrupts_off_s"],
			v["interrupts_on_s"], v["away_pct"] }' "$T/$1.gaps"
}

measure() {		# SAMPLER PAIRS NAME: a line in $T/SAMPLER
	local line
	line=$("$B/bench/overhead" -n "$2" -p "$T/$1.pids" "sh $T/$1.on" "sh $T/$1.off" \
		"sh $T/work/$3/run") || true
	echo "$3 $line" >>"$T/$1.result"
}

row() {			# SAMPLER NAME: cells
	awk -v name="$2" '$1 == name && NF > 2 {
		for (i = 2; i < NF; i += 2) v[$i] = $(i + 1)
		printf "%s | %.3f (%.3f .. %.3f) | %.3f%s |", v["off_ms"], v["added_pct"], v["low"],
			v["high"], v["own_pct"], v["same"] == "yes" ? "" : " **output differs**"
		found = 1 }
		END { if (!found) printf "- | - | - |" }' "$T/$1.result"
}

names=
while read -r name paper program kib; do
	[ -z "${PROGRAMS:-}" ] || [[ " $PROGRAMS " == *" $name "* ]] || continue
	if run_script "$name" "$program" "${kib:-0}"; then
		names="$names $name:$paper"
	else
		echo "overhead.sh: $program is not installed" >&2
	fi
done < <(workloads)

begun=$SECONDS
make_events ticks
make_events registers -r
for kib in $([ "$GAPS" -gt 0 ] && echo 0 $((l2_kib / 2)) "$l2_kib"); do
	echo "gaps, $kib KiB, after $((SECONDS - begun)) s" >&2
	gaps ticks "$GAPS" "$kib"
	gaps registers "$GAPS" "$kib"
	for o in $others; do
		gaps "$o" "$OTHERS" "$kib"
	done
done
start_morph
for n in $names; do
	name=${n%%:*}
	echo "$name, after $((SECONDS - begun)) s" >&2
	measure morph "$PAIRS" "$name"
	ctl pause
	for o in $others; do
		measure "$o" "$OTHERS" "$name"
	done
done
ctl resume
clock=$(ctl --json status | sed -n 's/.*"name": "clock", "value": "\([^"]*\)".*/\1/p')
for n in $names; do	# all of them have samples, whatever the pauses left out
	sh "$T/work/${n%%:*}/run" >/dev/null 2>&1 || true
done
ctl status --sync >/dev/null 2>&1

# --- report ---

result "overhead-$(processor_vendor)" "What programs lose to Morph, and what Morph keeps of them"
cat <<-END
Tables 4 and 5 of Zhang et al. (SOSP 1997), whose overheads are 0.07 to 0.24 %, strawmen 0.07, 0.50 and 0.17 %.

## What interrupts take

The kernel's events as the Monitor opens them, by the default policy, or none; while it wants registers, each sample
has them with the stack and memory that they point to.
Slices of 200 ms on one CPU, $GAPS pairs ($OTHERS for the others), in which code of so many KiB runs again and again and the time-stamp
counter is read each time: what took longer than the median by less than 50 us was interrupted. Lost: without the sampler. Added: by all
interrupts. A tick: what the clock's interrupts take, with what they displace from the caches, and how much longer they take by the
sampler, 250 times a second: nothing else comes at their time, so this is what is narrow. Estimates are Hodges and Lehmann's, intervals 95 % of
Wilcoxon's signed ranks. Left out: time of other programs and of the hypervisor. The second-level cache has $l2_kib KiB.

| sampler | code | lost, % | added, % | a tick, us | with it, us | added by ticks, % | interrupts a second, and with it | left out, % |
|---|---|---:|---:|---:|---:|---:|---:|---:|
$(gaps_rows ticks Morph; gaps_rows registers "Morph, while it wants registers"; for o in $others; do gaps_rows "$o" "$o"; done)

## What programs take longer

$PAIRS pairs of short runs; morphd samples, clock $clock, or is paused, in turns. The program is pinned to one CPU; its CPU time, in which time taken by interrupts ends up, is compared.
Own: CPU time of the sampler's own processes, of one CPU, while the program runs.

| program | in the paper | paused, ms | Morph: added, % | Morph: own, % |
|---|---|---:|---:|---:|
END
for n in $names; do
	echo "| ${n%%:*} | ${n##*:} | $(row morph "${n%%:*}")"
done
for o in $others; do
	[ "$o" = perf ] && title="perf record -F 1024 -a -e cpu-clock" || title="sysprof-cli, its default rate"
	cat <<-END

	The same with $title, $OTHERS pairs:

	| program | without, ms | added, % | own, % |
	|---|---:|---:|---:|
	END
	for n in $names; do
		echo "| ${n%%:*} | $(row "$o" "${n%%:*}")"
	done
done
[ -z "${no_sysprof:-}" ] || printf '\nsysprof is not here, or cannot sample.\n'
cat <<-END

Table 6: what the store keeps of each module with at least 100 samples, all of it that grows with use: profile, window of recent
samples, profile that its generation was made from, observations of speed. The paper's: 29 to 82 % of the text.

| module | text, bytes | samples | kept, bytes | % of the text |
|---|---:|---:|---:|---:|
END
sqlite3 -separator ' ' "$T/store/morph.db" "SELECT m.path, m.text_bytes, p.samples, length(p.data) +
	coalesce((SELECT length(recent) FROM habit h WHERE h.module = m.id), 0) +
	coalesce((SELECT sum(length(made_from)) FROM generation g WHERE g.module = m.id), 0) +
	coalesce((SELECT length(data) FROM pace c WHERE c.module = m.id), 0)
	FROM module m JOIN profile p ON p.module = m.id WHERE p.samples >= 100 AND m.text_bytes > 0
	ORDER BY p.samples DESC" |
	awk '{ printf "| %s | %d | %.0f | %d | %.2f |\n", $1, $2, $3, $4, 100 * $4 / $2
		text += $2; kept += $4 }
	     END { if (text) printf "| all | %d | | %d | %.2f |\n", text, kept, 100 * kept / text }'
echo
echo "It took $(((SECONDS - begun) / 60)) minutes."
result_end
