# outcome.bash - sourced by soak.sh: what is looked at in the end, and the report
#
# `outcome` sets outcome_rc to 1 when anything is not as it must be.

events() {		# PATTERN: how often the daemon said so
	grep -cE "$1" "$root/log/morphd"
}
# All paths hold the newest package's content again, and there is nothing else beside them.
check_files() {
	local m bad=0
	while read -r m; do
		cmp "$root/$m" "$root/newest/$m" || bad=1
	done <"$root/modules"
	[ -z "$(find "$root/bin" "$root/lib" -name '.morph-*' -print)" ] || bad=1
	[ "$(find "$root/bin" "$root/lib" -type f | wc -l)" = "$(wc -l <"$root/modules")" ] || bad=1
	[ -z "$(find "$root/store/originals" -name 'journal*' -print)" ] || bad=1
	return $bad
}
verdict() {		# WHAT COMMAND...: a line of the report
	local what=$1
	shift
	if "$@" >>"$root/log/end" 2>&1; then
		echo "* $what: yes"
	else
		echo "* $what: **NO**"
		outcome_rc=1
	fi
}
measured() {		# WHAT: its largest, in MiB
	awk -v w="$1" '$1 == w && $2 > m { m = $2 } END { printf "%.1f", m / 1024 }' "$root/log/measured"
}
none_of() { ! grep -hE "$@"; }


report_asked() {
	echo "## What was asked"
	echo
	verdict "every output of every run is that of the originals" \
		none_of '^DIFFERENT' "$root"/log/worker.*
	verdict "the programs that ran all the time said what the originals say" \
		none_of '^DIFFERENT' "$root/log/long"
	verdict "every generation in place at the end was proven anew" [ "$proven" = 0 ]
	verdict "all could be restored at the end" [ "$restored" = 0 ]
	verdict "every undo without a daemon brought its originals back, and every uninstall all of them" \
		none_of '^(undo-alone|uninstall) [^0]' "$root/log/driver"
	verdict "each file is that of its newest package byte for byte, and nothing is left beside them" \
		check_files
	verdict "no generation was taken back for a crash" none_of ': crashed:' "$root/log/morphd"
	verdict "no assertion failed in the daemon" none_of 'ssertion' "$root/log/morphd"
	echo
}
report_runs() {
	echo "## Runs"
	echo
	echo "| workload | runs | different |"
	echo "|---|---|---|"
	cat "$root"/log/worker.* | awk '{ n[$2]++; bad[$2] += $1 != "same" }
		END { for (w in n) { printf "| %s | %d | %d |\n", w, n[w], bad[w] | "sort"; all += n[w]; b += bad[w] }
			close("sort"); printf "| all | %d | %d |\n", all, b }'
	echo
	sed 's/^same \(.*\), \(.*\)$/* \1 ran all the time: \2, all the same/; s/^DIFFERENT/* DIFFERENT:/' "$root/log/long"
	echo
}
row() { echo "| $1 | $2 |"; }
asked() { grep -cE "$1" "$root/log/driver"; }
report_beneath() {
	local installed by_request
	installed=$(events ': installed: generation') by_request=$(asked '^reoptimize 0')
	echo "## What went on underneath"
	echo
	echo "| what | times |"
	echo "|---|---|"
	row "generations installed" "$installed"
	row "of them by the daemon itself" $((installed > by_request ? installed - by_request : 0))
	row "originals restored" "$(events ': restored: ')"
	row "packages upgraded" "$(asked '^upgrade')"
	row "kill -9 of a manager or monitor" "$(asked '^kill (manager|monitor)')"
	row "kill -9 of the whole daemon, and a new start" "$(asked '^kill parent')"
	row "undone without a daemon" "$(asked '^undo-alone')"
	row "of them after a kill -9 of the first try" "$(asked '^kill undo')"
	row "uninstalled and installed again" "$(asked '^uninstall')"
	row "database lost or damaged" "$(asked '^lose database')"
	row "policy read again" "$(asked '^reload')"
	row "all generations proven anew" "$(asked '^verify 0')"
	row "requests refused (no samples yet, changed just now, ...)" "$(asked '^(reoptimize|restore) 3')"
	row "requests that failed (a role was killed meanwhile, ...)" "$(asked '^(reoptimize|restore|verify|restore-all) (1|2|124)$')"
	echo
	echo "Resident at most, MiB: parent $(measured parent), manager $(measured manager), monitor $(measured monitor)."
	echo "The store was at most $(measured store) MiB on disk, originals included."
	echo
	ctl status --sync 2>/dev/null | awk '/^kind/ { on = 1 } /^$/ { on = 0 } on' | sed 's/^/    /'
}

outcome() {
	local proven restored
	outcome_rc=0
	ctl verify --all >"$root/log/end" 2>&1
	proven=$?
	ctl undo --all "$root" >>"$root/log/end" 2>&1
	restored=$?
	check_long
	mkdir -p "$(dirname "$REPORT")"
	{
		result_head "Mixed real use while programs are swapped"
		echo "* $worked_s s of work by $WORKERS workers; seed $SEED"
		echo
		report_asked
		report_runs
		report_beneath
	} >"$REPORT"
	cp "$root/log/end" "$root/log/morphd" "$root/log/driver" "$root/log/ctl" "$KEEP/"
	cat "$REPORT"
}
