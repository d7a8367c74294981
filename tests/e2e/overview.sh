#!/bin/bash
# overview.sh - morphctl alone is one screen, whatever the size of the terminal: what is wrong first, then the programs
# that matter with what is next for each, then what was gained; and what it foretells comes true
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip sort bash
cp "$root/bin/gzip" "$root/bin/setid"
chmod 4755 "$root/bin/setid"
always_idle 3600 >"$root/morph.yaml"
cat >>"$root/morph.yaml" <<-END
	optimize:
	  automatic: true
	  min_samples: 400
	  max_unseen_pct: 100
	  min_gain_ppm: 0
	  observe_first_h: 0
	  count: off
	monitor:
	  clock: cpu-clock
	  rate_hz: 2003
	  registers: off
END
unset NO_COLOR MORPH_PAGER PAGER COLUMNS
export TERM=xterm-256color LC_ALL=C.UTF-8
escape=$(printf '\033')
screen() {		# COLUMNS ROWS [ARGUMENT...]: to out, without colours
	"$B/tests/e2e/pty" "$1" "$2" "$B/morphctl" --socket "$root/sock" "${@:3}" >"$root/raw"
	local rc=$?
	sed "s/$escape\[[0-9;]*m//g; s/\r\$//" "$root/raw" >"$root/out"
	return $rc
}
fits() {		# COLUMNS ROWS
	screen "$@" || { cat "$root/out"; return 1; }
	[ "$(wc -L <"$root/out")" -le "$1" ] && [ "$(wc -l <"$root/out")" -lt "$2" ] && grep -q "^Saved so far" "$root/out" && return 0
	cat "$root/out"
	return 1
}
next_of() { ctl --json | jq -r --arg p "$root/bin/$1" '.programs[] | select(.path == $p) | .code'; }
is_next() { [ "$(next_of "$1")" = "$2" ] || { ctl --json; return 1; }; }
# But for samples that a busy machine has lost.
is_well() {
	ctl --json | jq -e '[.problems[]? | select(.why | test("too busy$") | not)] == []' >"$root/wrong" ||
		{ ctl --json | jq .problems; return 1; }
}
seq 200000 >"$root/data"
work() { "$root/bin/$1" "${@:2}" <"$root/data" >/dev/null; }

check "without a daemon it says so" eval 'ctl; [ $? = 1 ]'
check "and how to get help" grep -q "'morphctl help'" <<<"$(ctl 2>&1)"
check_here "a daemon" start_daemon
check "of nothing: a screen" fits 80 24
check "which says that" grep -q "^No program that the policy allows has been sampled yet" "$root/out"
check "a few samples" sampled gzip 50 work gzip -1
check "are too few" is_next gzip samples
screen 80 24
check "how many more is said" grep -Eq "^ *[0-9.]+ .*bin/gzip .*needs [0-9]+ more" "$root/out"
check "many samples" sampled gzip 500 work gzip -9
check "are enough" is_next gzip ready
check "of others" sampled sort 200 work sort -R
check "and of one that is left" sampled setid 500 work setid -9
check "set-id is left" is_next setid place
small="80 11"		# a busy machine has lost samples, and says so first
[ "$(ctl --json | jq '.problems // [] | length')" = 0 ] || small="80 16"
for size in "80 24" "$small" "60 40" "200 50" "40 30"; do
	check "fits $size" fits $size
	[ "$size" = "80 24" ] && note "$(cat "$root/out")"
done
screen 80 24
check "it says since when it watches" grep -q "^Watching since $(date +%Y-%m-)" "$root/out"
check "that programs are laid out, and when" grep -q "Programs are laid out by themselves, when the machine is idle; it is " <(tr -s '\n ' '  ' <"$root/out")
check "what is left, and why" grep -q "left: it is set-id" "$root/out"
check "nothing is wrong" is_well
ctl pause
check "fits 80 16 with what is wrong" fits 80 16
MORPH_PAGER=cat screen 80 5
check "where nothing fits it is whole, in pages" eval 'grep -q "bin/gzip " "$root/out" && grep -q "bin/sort " "$root/out"'
screen 80 24
check "what is wrong is the first line" grep -q "^severity" <(head -n 1 "$root/out")
ctl resume
ctl >"$root/piped"
check "in a pipe paths are whole" grep -q "$root/bin/setid " "$root/piped"
check "and there are no colours" not grep -q "$escape" "$root/piped"
check "the first program has most" eval 'ctl --json | jq -e "[.programs[].cpu_pct] | . == (sort | reverse)"'
ctl --json >"$root/overview"
check "shares are of all samples" jq -e '[.programs[].cpu_pct] | add | . > 1 and . <= 100.001' "$root/overview"
check "its sums are those of saved" jq -en --slurpfile a "$root/overview" --slurpfile b <(ctl --json saved) \
	'$a[0].in_all[0] == $b[0].in_all[0]'
explained() {		# PROGRAM PATTERN
	ctl explain "$root/bin/$1" >"$root/explained" && grep -Eq "$2" "$root/explained" && return 0
	cat "$root/explained"
	return 1
}
check "a program is explained in sentences" explained gzip "^Its original runs; [0-9]+ samples are known of it\.$"
check "one of which is what is next" explained gzip "^Next: ready, about 1\.[0-9]+ times as fast"
check "with what would change it" explained gzip "$(printf '`morphctl reoptimize %s` does not wait' "$root/bin/gzip")"
check "and what is left" explained gzip "Of its [0-9]+ functions [0-9]+ can be moved; [0-9]+ are left as they are, [0-9]+ of them: "
check "and the reasons for it" grep -q "^reason " "$root/explained"
check "another one is left" explained setid "Next: left: .*set-(user-)?id"
check "programs get codes" jq -e '[.explained[] | select(.about == "next" or .about == "change") | .code] == ["ready", "ready"]' \
	<(ctl --json explain "$root/bin/gzip")
note "$(ctl explain "$root/bin/gzip")"
check "most samples are of one program" sampled gzip 5000 work gzip -9
check "hardly any of another" sampled bash 1 "$root/bin/bash" -c :
ctl list >"$root/listed" 2>"$root/said"
check "list leaves that out" not grep -q "bin/bash " "$root/listed"
check "but not the others" grep -q "bin/setid " "$root/listed"
check "and says so" grep -q "^1 more, with less than a thousandth of the samples each: morphctl list --all" "$root/said"
for how in "list --all" "--wide list" "--json list"; do
	check "not $how" grep -q 'bin/bash[ "]' <<<"$(ctl $how 2>&1)"
done
check "list takes nothing else" eval 'ctl list --all x 2>&1 | grep -q "unexpected argument\|usage"'
check "an option that is none is named" eval 'ctl --frobnicate 2>&1 | grep -q "unknown option .--frobnicate"'
sed -i 's/check_s: 3600/check_s: 1/' "$root/morph.yaml"
kill -HUP "$daemon"	# now it is idle every second
is_laid_out() { hasten; [ "$(listed "$1" generation)" = 1 ]; }
check "what was ready is laid out" within 120 is_laid_out gzip
check "and watched from then on" is_next gzip window
screen 80 24
check "how fast it is is not known yet" grep -Eq "bin/gzip +not known" "$root/out"
# While jobs run, too: each of these was an end of the manager once.
manager=$(role_pid manager)
asks() { while ctl && ctl list && ctl saved && ctl history; do :; done; }
asks >/dev/null 2>"$root/asked" & one=$!
asks >/dev/null 2>"$root/asked2" & two=$!
for i in 1 2 3 4; do
	ctl reoptimize "$root/bin/gzip"
	ctl restore "$root/bin/gzip"
done >"$root/worked" 2>&1
kill $one $two
wait $one $two 2>/dev/null
check "jobs run while others ask" [ "$(grep -c "gzip: restored" "$root/worked")" = 4 ]
check "the manager stays" [ "$(role_pid manager)" = "$manager" ]
sed -i 's/automatic: true/automatic: false/' "$root/morph.yaml"
check "a policy by which nothing is laid out" ctl policy reload
screen 80 24
check "what changes that is said, and not whether the machine is idle" grep -q \
	'Programs are not laid out by themselves; `morphctl auto on` changes that\. ' <(tr -s '\n ' '  ' <"$root/out")
check_here "the daemon ends" stop_daemon
done_testing
