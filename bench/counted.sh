#!/bin/bash
# counted.sh - what the daemon alone makes of a program: runs until it counted, what that cost, what it brought
#
# The program is used as it is in bench/speed.sh's training, in a folder of its own, while a daemon with
# `automatic: true` and `count: auto` looks on; nobody asks it for anything.  What it puts in place is then
# held against the complete profile of an input that was not used, beside a layout by samples alone and one
# by complete counts of all training.
#
#	PROGRAMS="cc1 gawk ..."	the first set of bench/speed.sh but for the compilers
#	SPAN=200		seconds for each in which the daemon must be done
#	ROUNDS=5		pairs of runs for CPU times; 0: none
#	RESULT=FILE		bench/results/counted.md; counted_compilers.md beside it is of PROGRAMS="cc1 cc1plus clang clang++"
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root: it samples, and replaces programs of its own"; exit 1; }
PROGRAMS=${PROGRAMS:-perl python3.11 gawk bash git gzip php postgres sqlite3 ruby gs}
BENCH_WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/counted}
SPAN=${SPAN:-200} ROUNDS=${ROUNDS:-5} POOL=${POOL:-20000}
. bench/common.bash
. bench/programs.bash
result counted "Counted by the daemon itself"
chmod 755 "$T"

ctl() { timeout 60 "$B/morphctl" --socket "$T/sock" "$@"; }
role_pid() { ctl --json status 2>/dev/null | sed -n "s/.*\"role\": \"$1\", \"pid\": \([0-9]*\),.*/\1/p"; }

# Everything counts as idle; observations are short, so that nobody waits ten minutes for them.
policy() {		# FOLDER
	cat <<-END
		modules: {include: ["$1/*"], hard_links: true}
		idle: {check_s: 1, load_max_pct: 10000, busy_max_pct: 100, psi_cpu_max_pct: 100, psi_io_max_pct: 100,
		  psi_memory_max_pct: 100, users_away: false, on_battery: true, heat_max_pct: 100}
		monitor: {clock: cpu-clock, rate_hz: 2003, drain_s: 1}
		optimize: {automatic: true, observe_s: 1, observe_first_h: 0, job_cpu_s: 600, cpu_per_day_s: 3600}
	END
}

start() {		# FOLDER
	rm -rf "$T/store"
	policy "$1" >"$T/morph.yaml"
	"$B/morphd" --foreground --policy "$T/morph.yaml" --store "$T/store" --socket "$T/sock" --user nobody \
		--job-user daemon --folders "$1" --morph-edit "$B/morph-edit" >"$T/log" 2>&1 &
	morphd=$!
	for _ in $(seq 100); do ctl status >/dev/null 2>&1 && return; sleep 0.1; done
	return 1
}

stop() {
	kill "$morphd" 2>/dev/null
	wait "$morphd" 2>/dev/null
	morphd=
}
trap 'kill $morphd 2>/dev/null; wait $morphd 2>/dev/null; rm -rf "$T"' EXIT

# A job that nobody waits for gets what CPU time is left over, which on a busy machine may be none.
hasten() {
	local pid
	pid=$(role_pid job)
	[ -z "$pid" ] || { chrt --other --pid 0 "$pid" && renice -n 0 -p "$pid"; } >/dev/null 2>&1
}

# The phases are those of the history: before, counting, counted (its original is back), done.
phase() {
	local h
	h=$(ctl history 2>/dev/null)
	case $h in
	*" installed "*) echo "done" ;;
	*" counted "* | *" restored "*) echo counted ;;
	*" counting "*) echo counting ;;
	*) echo before ;;
	esac
}

# Uses the program until the daemon is done with it: sets runs[PHASE] and ms[PHASE].
use() {
	local end=$((SECONDS + SPAN)) i=0 p t TIMEFORMAT='%U %S'
	while p=$(phase) && [ "$p" != done ]; do
		[ "$SECONDS" -lt "$end" ] || return 1
		hasten
		i=$((i % 3 + 1))
		t=$({ time { (eval "$(variant_run daemon "train/$i")") >/dev/null 2>&1 </dev/null; }; } 2>&1 |
			awk '{ printf "%d", 1000 * ($1 + $2) }')
		runs[$p]=$((${runs[$p]:-0} + 1)) ms[$p]=$((${ms[$p]:-0} + t))
	done
}

# What the history says: samples at the time of counting, counted runs.
told() { ctl history | sed -n "$1" | head -n 1; }
spent() { ctl status | sed -n 's/.*spent in 24 h *\([0-9.]*\) of.*/\1/p'; }

beside() {		# VARIANT: CPU time of the original divided by the variant's
	[ "$ROUNDS" -gt 0 ] || { echo -; return; }
	"$B/bench/pairs" -n "$ROUNDS" "$(variant_run original test)" "$(variant_run "$1" test)" | awk '{ print $6 }'
}

per_run() { [ "${runs[$1]:-0}" -gt 0 ] && echo $((ms[$1] / runs[$1])) || echo -; }	# PHASE

# The share of the complete profile's gain in taken branches.
share() { awk -v o="$1" -v x="$2" -v c="$3" 'BEGIN { if (o > c && x != "-") printf "%.3f", (o - x) / (o - c); else printf "-" }'; }

measure() {		# NAME WORKLOAD FILE PROGRAM
	local samples counted cost o s d c
	declare -A runs ms
	program_load "$@"
	prepare_program >&2 && prepare_profile exact >&2 && count_exact exact-test "" test >&2 ||
		{ echo "$NAME: not prepared" >&2; return; }
	lay_out complete "$P/exact.profile" >&2 || return
	rm -rf "$(variant_dir daemon)" && mkdir -p "$(variant_dir daemon)" &&
		cp "$(variant_dir original)/$file" "$(variant_dir daemon)/$file" && chmod 755 "$(variant_dir daemon)"
	start "$(variant_dir daemon)" || { echo "$NAME: no daemon: $(tail -n 1 "$T/log")" >&2; return; }
	use || { echo "$NAME: not done after $SPAN s: $(ctl list | tail -n 1)" >&2; ctl history >&2; stop; return; }
	samples=$(told 's/.* counts what \([0-9]*\) samples.*/\1/p')
	counted=$(told 's/.* \([0-9]*\) runs in .* minutes.*/\1/p')
	cost=$(spent)
	ctl history >&2
	grep -h ": not counted" "$T/log" >&2
	stop
	[ "$samples" ] && prepare_profile "$samples" >&2 && lay_out samples "$P/$samples.profile" >&2 &&
		s=$(figures samples)
	o=$(figures original) d=$(figures daemon) c=$(figures complete) || return
	row "${s:-- - -}" "$o" "$d" "$c"
}

row() {
	local s=($1) o=($2) d=($3) c=($4)
	echo "| $NAME | ${runs[before]:-0} | ${runs[counting]:-0} | $((${runs[counted]:-0})) | $(per_run before) |" \
		"$(per_run counting) | $cost | ${samples:--} | ${counted:--} | ${o[0]} | ${s[0]} | ${d[0]} | ${c[0]} |" \
		"$(share ${o[0]} ${s[0]} ${c[0]}) | $(share ${o[0]} ${d[0]} ${c[0]}) | ${s[1]}, ${d[1]}, ${c[1]} |" \
		"${o[2]}, ${s[2]}, ${d[2]}, ${c[2]} | $(beside daemon) | $(beside complete) |"
}

echo "The daemon alone, \`automatic: true\` and \`count: auto\`, samples of the CPU clock at 2003 Hz, observations of 1 s;"
echo "all else by default. Runs are those of the workload: before counting, while a generation counted, after it until the"
echo "module was laid out; each may be several processes, of which \`counted\` were. CPU ms are of one run in the first two"
echo "phases, jobs s the CPU time of all of Morph's jobs. Taken branches, entry jumps and hot pages are by the complete"
echo "profile of an input that was not used in training: of the original, of a layout by as many samples alone as the"
echo "daemon had (of another recording), of what the daemon put in place, and of a layout by complete counts of all of"
echo "training; shares are of the latter's gain in taken branches. CPU times are the original's divided by the variant's."
echo
echo "| program | runs before | counting | then | ms before | ms counting | jobs s | samples | counted | taken: original | samples | daemon | complete | share: samples | daemon | entry jumps: samples, daemon, complete | hot pages: original, samples, daemon, complete | CPU time: daemon | complete |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
while read -r line; do
	[ -z "$line" ] || measure $line
done < <(programs)
result_end
