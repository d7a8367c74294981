#!/bin/bash
# periods.sh - stats and diff of two days, as the daemon knows them
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
command -v sqlite3 >/dev/null || skip_all "no sqlite3, which makes a day of yesterday"
export TZ=UTC
make_root gzip sort
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 997
	  registers: off
END
seq 300000 >"$root/data"
of() { jq -r --arg p "$root/bin/$1" ".diff[] | select(.program == \$p) | .$2" "$root/diff"; }
day() { date -d "${1:-today}" +%F; }

check_here "a daemon" start_daemon
check "one program runs" sampled gzip 100 "$root/bin/gzip" -9 -c "$root/data"
check_here "the daemon ends" stop_daemon
check "that was yesterday" as_manager sqlite3 "$root/store/morph.db" 'UPDATE ran SET begin_h = begin_h - 24'
check_here "it begins again" start_daemon
check "another one runs" sampled sort 100 "$root/bin/sort" -R "$root/data"
samples() { ctl --json report "$@" 2>/dev/null | jq '[.programs[].samples] | add'; }
yesterday=$(samples --by=program --until="$(day)")
check "days are compared" eval 'ctl --json diff "$(day yesterday)" "$(day)" --limit=1000 >"$root/diff"'
check "each has its samples" jq -e --argjson y "$yesterday" '.recordings[0].samples == $y and .recordings[1].samples > 0' "$root/diff"
check "one became less" [ "$(of gzip changed)" = less ]
all=$(ctl --json report --by=program 2>/dev/null | jq -r --arg p "$root/bin/gzip" '.programs[] | select(.program == $p) | .samples')
check "it is gone" [ "$(of gzip before) $(of gzip after)" = "$all 0" ]
check "the other more" [ "$(of sort changed)" = more ]
before() { jq -c '.diff[] | select(.before > 0) | [.program, .before]' | sort; }
check "FROM..TO is the same" diff <(before <"$root/diff") <(ctl --json diff "2d..$(day)" "$(day).." --limit=1000 2>/dev/null | before)
check "stats has them, by module" eval 'ctl --json stats "$(day yesterday)" "$(day)" --by=module | jq -e --arg p "$root/bin/sort" \
	"any(.stats[]; .module == \$p and .min == 0 and .max > 50)"'
check "programs in one module" eval 'ctl --json diff "$(day yesterday)" "$(day)" --module="$root/bin/gzip" | jq -e ".diff | length == 1"'
check "of procedures times are not known" fails 2 'of periods, --by is machine, program or module' ctl diff 1d.. 1h.. --by=procedure
check "recordings have parts of their own" fails 2 'are for recordings' ctl diff 1d.. 1h.. --since=3
check "a day that is not yet is no period" fails 2 "'2999-01-01' is not, as another one is, a day" ctl diff 1d.. 2999-01-01
check "no recording beside a period" fails 2 "data' is not, as another one is, a day" ctl diff 1d.. "$root/data"
# Each is a request, and ordinary users can make few at once.
chmod 755 "$root"
cp "$B/morphctl" "$B/morph-edit" "$root"
some_user() { setpriv --reuid=12345 --regid=12345 --clear-groups timeout 100 "$root/morphctl" --socket="$root/sock" "$@"; }
check "a week is told to anybody" eval 'some_user --json stats 7d..6d 6d..5d 5d..4d 4d..3d 3d..2d 2d..1d 1d.. >"$root/week" && jq -e ".recordings | length == 7" "$root/week"'
cp "$root/data" "$root/2001-01-01"
check "a file of that name is one" eval 'cd "$root" && fails 1 "2001-01-01.: not a log" ctl diff 2001-01-01 2001-01-01'
check_here "the daemon ends, too" stop_daemon
done_testing
