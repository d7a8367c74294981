#!/bin/bash
# daemon.sh - memory of the daemon's processes: at start, after a minute of sampling everything on a
# busy machine, while a reoptimization waits for its jobs, and afterwards
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
SECONDS_BUSY=${SECONDS_BUSY:-60}
result daemon "Memory of the daemon"

chmod 755 "$T"
mkdir -p "$T/bin" "$T/lib" "$T/store"
cp /usr/bin/perl /usr/bin/sqlite3 "$T/bin/"
cp "$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')" "$T/lib/libsqlite3.so.0"
cat >"$T/morph.yaml" <<END
modules:
  include: ["$T/bin/*", "$T/lib/*", /usr/bin/*, /usr/lib/*]
  exclude: []
END
"$B/morphd" --foreground --policy "$T/morph.yaml" --store "$T/store" --socket "$T/sock" --user nobody \
	--folders "$T" --morph-edit "$B/morph-edit" 2>"$T/log" &
morphd=$!
trap 'kill $morphd 2>/dev/null; wait $morphd 2>/dev/null; rm -rf "$T"' EXIT
ctl() { "$B/morphctl" --socket "$T/sock" "$@"; }
for _ in $(seq 100); do ctl status >/dev/null 2>&1 && break; sleep 0.1; done

echo "Resident and proportional (each shared page divided by who shares it) memory of all processes"
echo "together; the target is under 32 MiB.  All programs below /usr/bin and libraries below /usr/lib"
echo "count as modules."
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
kill "$morphd" && wait "$morphd" 2>/dev/null	# it holds our standard output too
result_end
