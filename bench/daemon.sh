#!/bin/bash
# daemon.sh - memory of the daemon's processes: at start, after a minute of sampling everything on a
# busy machine, while a reoptimization waits for its jobs, and with hundreds of modules; and what its store takes then
#
# The programs are those of /usr/bin that answer --version to a user without rights within a second, PROGRAMS (250)
# of them, each ROUNDS (20) times.  RATE_HZ (251, the default) is more so that each of such short lives has samples.
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
SECONDS_BUSY=${SECONDS_BUSY:-60} PROGRAMS=${PROGRAMS:-250} ROUNDS=${ROUNDS:-20} RATE_HZ=${RATE_HZ:-251}
result daemon "Memory of the daemon"

mkdir -p "$T/bin" "$T/lib"
cp /usr/bin/perl /usr/bin/sqlite3 "$T/bin/"
cp "$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')" "$T/lib/libsqlite3.so.0"
cat >"$T/morph.yaml" <<END
monitor: {rate_hz: $RATE_HZ}
modules:
  include: ["$T/bin/*", "$T/lib/*", /usr/bin/*, /usr/lib/*]
  exclude: []
END
start_daemon

echo "Resident and proportional (each shared page divided by who shares it) memory of all processes"
echo "together; the target is under 32 MiB, and under 40 with 200 modules.  All programs below /usr/bin and"
echo "libraries below /usr/lib count as modules."
echo
echo "| when | processes | resident MiB | proportional MiB |"
echo "|---|---|---|---|"
row() {			# WHEN
	local p n=0 rss=0 pss=0 r s
	for p in $morphd $(pgrep -P "$morphd" -x morphd); do
		r=$(awk '/^Rss:/ { print $2 }' "/proc/$p/smaps_rollup" 2>/dev/null)
		s=$(awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup" 2>/dev/null)
		n=$((n + 1)) rss=$((rss + ${r:-0})) pss=$((pss + ${s:-0}))
	done
	awk -v w="$1" -v n="$n" -v r="$rss" -v s="$pss" \
		'BEGIN { printf "| %s | %d | %.1f | %.1f |\n", w, n, r / 1024, s / 1024 }'
}
row "started"
end=$((SECONDS + SECONDS_BUSY))
for s in perl:1000 sqlite3:5000; do
	p=${s%:*}
	mkdir -p "$T/work/$p" && (cd "$T/work/$p" && "$work/$p.sh" prepare "${s#*:}" 1)
	(while [ "$SECONDS" -lt "$end" ]; do
		(cd "$T/work/$p" && LD_LIBRARY_PATH=$T/lib "$work/$p.sh" run "$T/bin/$p" >/dev/null 2>&1)
	done) &
	workers="${workers:-} $!"
done
wait $workers
row "after $SECONDS_BUSY s with two busy programs"
ctl status --sync >/dev/null
row "spool taken in"
ctl reoptimize "$T/bin/perl" "$T/lib/libsqlite3.so.0" >/dev/null 2>&1
row "two modules reoptimized"
ctl report >/dev/null
row "reported"

answers() {		# PROGRAM: as somebody who can change nothing
	setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env -i PATH=/usr/bin:/bin HOME=/nonexistent \
		timeout 1 "$1" --version </dev/null >/dev/null 2>&1
}
for p in /usr/bin/*; do
	[ "${#known[@]}" -lt "$PROGRAMS" ] || break
	[ ! -L "$p" ] && [ "$(head -c 4 "$p" 2>/dev/null | tr -d '\0')" = $'\177ELF' ] && answers "$p" && known+=("$p")
done
for ((i = 0; i < ROUNDS; i++)); do
	for p in "${known[@]}"; do
		answers "$p"
	done
	ctl status --sync >/dev/null
done
modules=$(ctl --json list --all | jq '[.modules[] | select(.samples > 0)] | length')
row "${#known[@]} programs $ROUNDS times each, $modules modules with samples"
ctl report >/dev/null
row "reported"
echo
echo "The store has $(awk -v n="$(du -sB1 "$T/store" | cut -f 1)" 'BEGIN { printf "%.1f", n / 1048576 }') MiB then, of which" \
	"$(awk -v n="$(du -sB1 "$T/store/originals" | cut -f 1)" 'BEGIN { printf "%.1f", n / 1048576 }') are originals."
stop_daemon
result_end
