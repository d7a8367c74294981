# machine_report.bash - sourced by bench/machine.sh: what Morph says of itself, asked before all is undone, as tables
#
# $M/json.COMMAND are the answers of `morphctl --json COMMAND`; bench/machine.awk has what was measured from outside.

ask() {
	local c
	for c in "status --sync" "list --all" "report --limit=1000" saved history; do
		ctl --json $c >"$M/json.${c%% *}" 2>>"$M/ask.err" || say "morphctl $c: $(tail -n 1 "$M/ask.err")"
	done
	enter with systemctl --version | sed -n '1s/ (.*//p' >"$M/systemd"
	ctl verify --all >"$M/verify" 2>&1
	echo "verify $?" >>"$facts"
	ctl undo --all >"$M/undo" 2>&1
	echo "undo $?" >>"$facts"
	# Files that are other bytes than their packages', but for configuration.
	for side in with without; do
		echo "changed $side $(enter $side dpkg --verify | grep -c '^..5......   /')" >>"$facts"
	done
}

json() { jq -r "$2" "$M/json.$1" 2>/dev/null; }		# COMMAND FILTER
fact() { awk -v k="$1" '$1 == k { v = $2 } END { print v }' "$facts"; }
happened() { json history "[.history[] | select(.event == \"$1\")] | length"; }
kind_of_samples() { json status ".samples[] | select(.kind == \"$1\") | .count"; }

# Generations that there were at the end of each day, by the history's times.
generations_by_day() {
	awk '$1 == "end" { print $2, $3 }' "$facts" | while read -r day t; do
		echo "generations $day $(json history "[.history[] | select(.event == \"installed\" and .time <= ${t}000000000)] | length")"
	done
}

show_costs() {
	echo "## What Morph itself took"
	echo
	echo "By the kernel's accounts of its unit, see above; by itself (\`morphctl saved\`):"
	echo
	echo "| what | CPU s | |"
	echo "|---|---|---|"
	json saved '.cost[] | "| \(.what) | \(.cpu_s * 10 | round / 10) | \(.meaning)\(if .estimated then "; estimated" else "" end) |"'
	echo
	awk '$1 == "memory" { if ($3 > pss[$2]) pss[$2] = $3; if ($4 > rss[$2]) rss[$2] = $4 }
		$1 == "disk" { if ($2 > disk) disk = $2; end = $2 }
		END { for (r in pss) printf "%s %.1f (%.1f), ", r, pss[r] / 1024, rss[r] / 1024
			printf "in MiB.  Store: %.1f MiB in the end.\n", end / 1024 }' "$facts" |
		sed '1s/^/Most memory of each process in idle times, proportional (and resident): /'
	echo
}

show_events() {
	echo "## What happened"
	echo
	echo "* generations installed: $(happened installed), of $(json history '[.history[] | select(.event == "installed") | .path] | unique | length') files;" \
		"generations that counted: $(happened counting), counted: $(happened counted)"
	echo "* taken back: slower $(happened slower), restored $(happened restored), crashed $(happened crashed); refused: $(happened refused)"
	echo "* processes of the whole machine that a fault killed: $(kind_of_samples crashes); samples lost: $(kind_of_samples lost), dropped: $(kind_of_samples dropped), throttled: $(kind_of_samples throttled)"
	echo "* \`morphctl verify --all\` in the end: exit code $(fact verify), \`morphctl undo --all\`: $(fact undo); after that files that" \
		"\`dpkg --verify\` calls changed: $(awk '$1 == "changed" && $2 == "with" { print $3 }' "$facts")," \
		"in the system without Morph $(awk '$1 == "changed" && $2 == "without" { print $3 }' "$facts")"
	echo
}

# A row of shares: how many files, and of how many of the samples.
share_of() {		# TEXT FILTER
	json list "[.modules[] | select($2)] | \"| $1 (\(length)) | \(([.[] | .samples + .outside] | add // 0) * 1000 / $all | round / 10) |\""
}

show_in_the_way() {
	local all
	all=$(json status '[.samples[] | select(.kind == ("known", "outside", "unknown", "anonymous", "vdso", "no_process")) | .count] | add')
	echo "## What stands in the way of more"
	echo
	echo "The kernel's share of the CPU time is in the first table.  Of the $all samples in user mode of this system (of all that were"
	echo "taken, $(kind_of_samples elsewhere) were of the other one and of what else the machine did):"
	echo
	echo "| | % of samples |"
	echo "|---|---|"
	json status ".samples[] | select(.kind == (\"anonymous\", \"vdso\", \"unknown\", \"no_process\")) |
		\"| \(.meaning) | \(.count * 1000 / $all | round / 10) |\""
	share_of "the dynamic loader" '.path | test("/ld-linux")'
	share_of "refused files" '.state_code == "refused"'
	share_of "files without a generation, not refused" '.generation == 0 and .state_code != "refused"'
	share_of "files with a generation" '.generation > 0'
	echo
	echo "The 30 files with most samples:"
	echo
	echo "| file | % of samples | generations | speed | state, what was decided last |"
	echo "|---|---|---|---|---|"
	json list "[.modules[]] | sort_by(-.samples - .outside) | .[0:30][] | \"| \(.path) | \((.samples + .outside) * 1000 / $all | round / 10) | \(.generation) | \(.speed // \"\") | \(.state)\(if .decided then \", \" + .decided else \"\" end) |\""
	echo
}

show_saved() {
	echo "## By Morph's own measurement"
	echo
	echo "\`morphctl saved\`, from what it sampled in this system:"
	echo
	echo "| | CPU s | from | to |"
	echo "|---|---|---|---|"
	json saved '.in_all[] | "| \(.what) | \(.cpu_s * 10 | round / 10) | \(.low_s * 10 | round / 10) | \(.high_s * 10 | round / 10) |"'
	echo
	echo "| file | CPU s compared | times as fast | saved s | by |"
	echo "|---|---|---|---|---|"
	json saved '.saved[]? | "| \(.path) | \(.cpu_s | round) | \(.times_as_fast * 1000 | round / 1000) | \(.saved_s * 10 | round / 10) (\(.low_s * 10 | round / 10) to \(.high_s * 10 | round / 10)) | \(.by) |"'
	echo
	echo "Not measured: $(json saved '[.unmeasured[]? | .cpu_s] | add // 0 | round') CPU s of files with generations" \
		"($(json saved '[.unmeasured[]? | .why] | group_by(.) | map("\(length) \(.[0])") | join("; ")'))."
	echo
}

# The first line that only one system printed, of each piece.
show_differences() {
	local f
	[ -d "$M/different" ] || return
	echo "## Outputs that differ"
	echo
	echo "| piece | lines only with Morph | only without | the first |"
	echo "|---|---|---|---|"
	for f in "$M"/different/*.with; do
		diff "$f" "${f%.with}.without" | awk -v name="$(basename "$f" .with)" '/^[<>]/ { n[$1]++; if (!first) first = substr($0, 3) }
			END { gsub(/\|/, "/", first); printf "| %s | %d | %d | %s |\n", name, n["<"], n[">"], first }'
	done
	echo
}

report() {
	local rc
	result machine "What a whole machine gains by Morph alone"
	cat <<-END
	Two equal Debian $RELEASE systems in namespaces, each with its own init ($(cat "$M/systemd")), used in the
	same way for $lasted days of a week of $DAYS in $((took / 60)) minutes: $ROUNDS round(s) of the morning's and of the afternoon's work a day, $IDLE_S s
	idle at noon and in $BREAKS break(s) within each of the two, and $((2 * IDLE_S)) s at night.  Morph was installed in one of them by its package and left alone, with the default
	policy but for waiting times (and what a day's limits are, for all of the week):

	    $(policy | sed '2,$s/^/    /')

	busy_max_pct and psi are off, and the load average that either system sees is made by the bench (none in idle times,
	else one for each CPU), because the machine has other work; for the same reason jobs run by the usual scheduler, not only
	with CPU time that is left over.  Both systems work side by side, each on one CPU, which are swapped after each piece.
	Samples are taken on all CPUs, so the interrupts are paid by both systems: what they cost is in Morph's own figures below;
	so is what the Monitor took for samples of all that the machine did besides.
	The two systems differ in nothing else.  Packages are updated on day $(((DAYS + 1) / 2)) (security updates of $RELEASE, and
	$reinstalled once more), and the new habit begins in the second half.

	END
	[ -z "${MORPH_DEB:-}" ] || printf 'The package was given: %s, sha256 %s.\n\n' "$(basename "$MORPH_DEB")" "$(sha256sum <"$MORPH_DEB" | cut -c 1-16)"
	awk -v days="$lasted" -f bench/machine.awk "$facts"
	rc=$?
	echo
	show_differences
	show_costs
	show_events
	show_in_the_way
	show_saved
	result_end
	return $rc
}
