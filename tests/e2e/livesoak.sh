#!/bin/bash
# livesoak.sh - for some seconds, generations go into servers and scripts under load, and out again
#
# What `make soak-live` does for an hour: tests/soak/live.sh.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-livesoak.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
programs="perl bash sqlite postgres redis nginx"
PROGRAMS=$programs SOAK_S=${SOAK_S:-2} REPORT=$T/report tests/soak/live.sh >"$T/lines" 2>"$T/said"
code=$?
for p in $programs; do
	read -r _ in out later gone failed answers errors eintr dropped _ < <(grep "^$p " "$T/lines")
	if grep -q "^$p left out" "$T/said"; then
		skip "$p" "$(sed -n "s/^$p left out: //p" "$T/said")"
		continue
	fi
	# how often it came to be swapped is the machine's affair
	[ "${in:-0}" -gt 0 ] && [ "$out" -gt 0 ] && [ "$answers" -gt 0 ] && [ "$failed$errors$eintr$dropped" = 0000 ] &&
		grep -q "^| $p | $in | $out |" "$T/report" &&
		ok "$p: $in times in, $out out, $answers answers" || { not_ok "$p"; note "$(grep "^$p " "$T/lines")"; note "$(cat "$T/said")"; }
done
[ $code = 0 ] && ok "and it ended well" || { not_ok "and it ended well"; note "$(cat "$T/said")"; }
done_testing
