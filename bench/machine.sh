#!/bin/bash
# machine.sh - what a whole machine gains by Morph alone, everything that Morph costs on the bill
#
# Two equal Debian systems, each in namespaces of its own with its own systemd (bench/machine.bash); Morph is
# installed in one of them from its package, and no hand is laid on it.  A week of use is the same in both,
# piece by piece (bench/machine_use.bash) and side by side, each on one CPU of two, which are swapped after
# each piece: mornings of builds, afternoons of all else, idle times, package updates in the middle, a new
# habit in the second half.  What is run is accounted for by control groups, and every output is compared.
#
#	DAYS=7		days of the week
#	ROUNDS=1	rounds of a morning and of an afternoon: 45 minutes for a week on a busy machine
#	BREAKS=2	breaks within a morning and within an afternoon, after equal parts of their rounds
#	IDLE_S=20	idle time in each of these, at noon and, twice as long, at night
#	MACHINE_S=3000	after so many seconds no further day begins
#	RATE_HZ=2003	samples a second, by the CPU clock, so that a day of some minutes has as many as a day;
#			0: the policy's own, for long weeks
#	MORPH_DEB	the package; default is to build it from what is committed here, on Debian 12
#	MACHINE_WORK	where the systems lie, default /var/tmp/morph-machine: 5 GB; KEEP=1 leaves them there
#	BENCH_CACHE	where the bare system is kept for the next time; MIRROR where packages come from
cd "$(dirname "$0")/.." || exit 1
die() { echo "machine: $*" >&2; exit 1; }
if [ "${1:-}" = inside ]; then
	. bench/machine.bash
	boot_inside "$2" || exit 125
fi

DAYS=${DAYS:-7} ROUNDS=${ROUNDS:-1} BREAKS=${BREAKS:-2} IDLE_S=${IDLE_S:-20} MACHINE_S=${MACHINE_S:-3000} RATE_HZ=${RATE_HZ:-2003}
for n in "$DAYS" "$ROUNDS" "$IDLE_S" "$MACHINE_S"; do
	[[ $n =~ ^[1-9][0-9]{0,4}$ ]] || die "'$n' is no number of days, rounds or seconds"
done
[[ $BREAKS =~ ^[0-9]$ ]] || die "BREAKS: '$BREAKS' is no number of breaks, 0 to 9"
[[ $RATE_HZ =~ ^[0-9]{1,4}$ ]] || die "RATE_HZ: '$RATE_HZ' is no rate, 0 to 9999"
[ "$(id -u)" = 0 ] || die "needs root for namespaces and sampling"
for t in debootstrap jq nsenter taskset; do
	command -v $t >/dev/null || die "needs $t"
done
[ "$(nproc)" -ge 2 ] || die "needs two CPUs"
. bench/common.bash
. bench/machine.bash
. bench/machine_report.bash
CACHE=${BENCH_CACHE:-/var/tmp/morph-bench-cache}
M=${MACHINE_WORK:-/var/tmp/morph-machine}
[ ! -e "$M" ] || die "$M exists: another run, or one that was kept"
mkdir -p "$M" || exit 1
facts=$M/facts

finish() {
	kill $background 2>/dev/null
	end_systems
	[ "${KEEP:-}" = 1 ] || rm -rf --one-file-system "$M"
	rm -rf "$T"
}
background=
trap finish EXIT
trap 'exit 1' INT TERM
say() { printf '%6d s: %s\n' "$SECONDS" "$*" >&2; }

# --- the week ---

# The same piece in both systems.  Facts: slice DAY PART KIND SEED SIDE USER_US SYSTEM_US WALL_MS SUM
slices=0
one_side() {		# SIDE CPU KIND COMMAND...
	local side=$1 cpu=$2 kind=$3 before after t
	shift 3
	read -ra before <<<"$(cpu_us "use-$side")"
	t=$(date +%s%3N)
	use "$side" "$cpu" "$@" >"$M/out.$side" 2>&1 </dev/null
	t=$(($(date +%s%3N) - t))
	read -ra after <<<"$(cpu_us "use-$side")"
	echo "slice $day $part $kind ${count[$kind]} $side $((after[0] - before[0])) $((after[1] - before[1])) $t" \
		"$(sha256sum <"$M/out.$side" | cut -c 1-16)" >"$M/fact.$side"
}
slice() {		# KIND COMMAND...
	slices=$((slices + 1)) count[$1]=$((${count[$1]:-0} + 1))
	one_side with $((slices % 2)) "$@" &
	local with=$!
	one_side without $((1 - slices % 2)) "$@" &
	wait $with $!
	cat "$M/fact.with" "$M/fact.without" >>"$facts"
	if ! cmp -s "$M/out.with" "$M/out.without"; then
		mkdir -p "$M/different" && cp "$M/out.with" "$M/different/$1.${count[$1]}.with" &&
			cp "$M/out.without" "$M/different/$1.${count[$1]}.without"
		say "DIFFERENT: $1 ${count[$1]}: $(diff "$M/out.with" "$M/out.without" | head -n 3 | tr '\n' ' ')"
	fi
	account
}

# Facts: cpu SECONDS DAY, CPU time so far of Morph's unit, of all else in either system, in us; load
account() {
	local m a b
	read -ra m <<<"$(cpu_us $morphd_group)"
	read -ra a <<<"$(cpu_us with)"
	read -ra b <<<"$(cpu_us without)"
	echo "cpu $((SECONDS - begun)) $day $((m[0] + m[1])) $((a[0] + a[1])) $((b[0] + b[1])) $(cut -d ' ' -f 1 /proc/loadavg)" >>"$facts"
}

# Of each of Morph's processes: memory ROLE PSS_KIB RSS_KIB; what the store takes: disk KIB
weigh() {
	local p role
	while read -r p; do
		role=$(tr '\0' '\n' <"/proc/$p/cmdline" | sed -n '1s/.*[/ ]//p')
		awk -v r="${role:-job}" '/^Rss:/ { rss = $2 } /^Pss:/ { pss = $2 } END { if (rss) print "memory", r, pss, rss }' \
			"/proc/$p/smaps_rollup"
	done <"$CG/$morphd_group/cgroup.procs" 2>/dev/null >>"$facts"
	echo "disk $(du -sk "$M/with/var/lib/morph" | cut -f 1)" >>"$facts"
}
idle() {		# SECONDS
	say_load 0
	sleep "$1" & wait $!
	weigh
	account
	say_load "$(nproc)"
}

breaks_after() {	# ROUND: not after the last one
	[ "$1" -lt "$ROUNDS" ] && [ $(($1 * (BREAKS + 1) / ROUNDS)) -gt $((($1 - 1) * (BREAKS + 1) / ROUNDS)) ]
}

# CPU time that is left over is none where other work never ends: jobs get their share of it.
hasten() {
	local p
	while sleep 1; do
		for p in $(cat "$CG/$morphd_group/cgroup.procs" 2>/dev/null); do
			[[ $(chrt -p "$p" 2>/dev/null) != *SCHED_IDLE* ]] || chrt --other --pid 0 "$p"
		done
	done
}

versions="dpkg-query -W $(echo $tools)"
upgrade="env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-download"
week() {
	local r k
	declare -A count
	begun=$SECONDS day=0
	account
	for day in $(seq "$DAYS"); do
		[ $((SECONDS - begun)) -lt "$MACHINE_S" ] || break
		for part in morning afternoon; do
			for r in $(seq "$ROUNDS"); do
				for k in $("$PWD/bench/machine_use.bash" kinds $part "$day" "$DAYS"); do
					slice "$k" bash /use/machine_use.bash "$k" $((${count[$k]:-0} + 1))
				done
				! breaks_after "$r" || idle "$IDLE_S"
			done
			say "day $day, $part: $(awk '$1 == "slice" { t[$6] += $7 + $8 } END { printf "%.0f s without, %.0f with", t["without"] / 1e6, t["with"] / 1e6 }' "$facts")," \
				"$(ctl --json history 2>&1 | jq '[.history[] | select(.event == "installed")] | length' 2>/dev/null || echo 0) generations"
			[ $part = afternoon ] || idle "$IDLE_S"
			if [ $part = morning ] && [ "$day" = $(((DAYS + 1) / 2)) ]; then
				slice updates sh -c "$upgrade upgrade >/tmp/apt.log 2>&1; echo \$?; $versions"
				slice updates sh -c "$upgrade --reinstall install $reinstalled >/tmp/apt.log 2>&1; echo \$?; $versions"
			fi
		done
		idle $((2 * IDLE_S))
		echo "end $day $(date +%s)" >>"$facts"
		lasted=$day
	done
}

say "making the systems in $M"
make_base "$M/without" >"$M/make.log" 2>&1 || { tail -n 5 "$M/make.log" >&2; die "the system could not be made: see above, or the network"; }
add_workloads "$M/without" >>"$M/make.log" 2>&1 && cp -a "$M/without" "$M/with" || { tail -n 5 "$M/make.log" >&2; die "workloads could not be put there"; }
deb=$(make_deb) || { tail -n 5 "$M/deb/log" >&2; die "the package could not be built"; }
add_morph "$M/with" "$deb" >>"$M/make.log" 2>&1 || { tail -n 5 "$M/make.log" >&2; die "$deb could not be installed"; }
find_groups
say_load "$(nproc)"
for side in without with; do
	boot $side || { tail -n 5 "$M/boot.$side" >&2; die "system '$side' does not begin"; }
done
ctl status --check >"$M/check" 2>&1 || { cat "$M/check" >&2; die "Morph does not work there"; }
hasten 2>/dev/null &
background=$!
say "a week of $DAYS days begins"
week
took=$((SECONDS - begun))
ask
generations_by_day >>"$facts"
report
exit $?
