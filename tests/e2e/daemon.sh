#!/bin/bash
# daemon.sh - the whole loop: watch, reoptimize, swap in, go on counting, restore
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root perl gzip sort

work_perl() {
	"$root/bin/perl" -e '
		my (%h, @l);
		for my $i (1 .. 700000) {
			my $k = ($i * 7919) % 1009;
			$h{$k} .= chr(97 + $i % 26) if $i % 3;
			$h{$k} = "" if length($h{$k} // "") > 40;
			push @l, $1 if ($h{$k} // "") =~ /([aeiou]{2,})/;
		}
		print join(",", map { "$_=$h{$_}" } sort { $a <=> $b } keys %h), scalar(@l), "\n"'
}
work_gzip() { "$root/bin/gzip" -9 -n -c <"$root/data"; }
work_sort() { LC_ALL=C "$root/bin/sort" "$root/data"; }
run_all() {		# SUFFIX: outputs of all programs
	local p
	for p in perl gzip sort; do
		"work_$p" >"$root/out.$p.$1" || return 1
	done
}
same_outputs() {	# SUFFIX SUFFIX
	local p
	for p in perl gzip sort; do
		cmp "$root/out.$p.$1" "$root/out.$p.$2" || return 1
	done
}
"$root/orig/perl" -e 'srand 1; printf "%x %s\n", rand(1 << 30), "abc" x rand 9 for 1 .. 400000' \
	>"$root/data"

check_here "the daemon starts and answers" start_daemon
ctl --json status >"$root/status"
for r in parent manager monitor; do
	check "status shows the $r" grep -q "\"role\": \"$r\"" "$root/status"
done
check "sampling is on" grep -q '"name": "sampling", "value": "on"' "$root/status"
owner_is() { [ "$(stat -c %U "/proc/$1")" = "$2" ]; }
check "the manager is unprivileged" owner_is "$(role_pid manager)" nobody
check "the monitor is unprivileged" owner_is "$(role_pid monitor)" nobody

check "the workload runs" run_all before
for p in perl gzip sort; do
	check "$p has samples enough" sampled $p 100 work_$p
done
ctl report >"$root/report" 2>"$root/err"
check "report has a row for perl" grep -q "$root/bin/perl" "$root/report"
check "report has a row for the kernel" grep -q '^\[kernel\]' "$root/report"
check "limits are of all modules together, and nothing is lost by them" jq -e '
	(.procedures | length) <= 4 and (.modules | length) <= 4
	and (.modules[-1].cumulative_pct, .procedures[-1].cumulative_pct | . > 99.99 and . < 100.01)
	and .procedures[-1].module == "[all others]" and ([.procedures[:-1][].samples] | . == (sort | reverse))' \
	<(ctl --json report --limit 3)
check "rows may be by name" jq -e '[.procedures[:-1][] | [.module, .procedure]] | . == sort' <(ctl --json report --limit=5 --sort=name)
ctl report perl >"$root/report"
check "procedures have names from .dynsym" grep -q ' Perl_' "$root/report"
ctl report gzip >"$root/report"
check "functions of a stripped program have numbers" grep -q ' fn_[0-9a-f]' "$root/report"
function=$(awk 'NR == 2 { print $2 }' "$root/report")
ctl annotate gzip "$function" >"$root/annotated"
check "annotate shows blocks" grep -q '^blocks' "$root/annotated"
check "annotate shows instructions" grep -q 'mov ' "$root/annotated"
check "--original is the same" diff "$root/annotated" <(ctl annotate gzip "$function" --original)
said() { grep -q "$1" <<<"$("${@:2}" 2>&1)"; }
check "of an original no generation is shown" said 'has no generation' ctl annotate gzip "$function" --generation
check "nor of a number that is none" said "generation: 'x' is not a number" ctl annotate gzip "$function" --generation=x
ctl explain "$root/bin/perl" >"$root/explained"
check "explain gives reasons with counts" grep -qE '^[a-z].*[a-z]  +[0-9]+  +[0-9.]+ ?[A-Zk]' "$root/explained"
check "to people of what is left alone" not grep -q '^movable' "$root/explained"
check "--wide of all" grep -qE '^movable +[0-9]+' <(ctl --wide explain "$root/bin/perl")
all_told() { awk '$1 ~ /^(high|medium|low)$/ { n++; sum += $2 } END { exit !(n == 3 && sum > 99.9 && sum < 100.1) }' "$root/explained"; }
check "and on how much evidence stands what is executed" all_told

ctl reoptimize --dry-run "$root/bin/perl" >"$root/dry" 2>&1
check "a dry run swaps nothing in" same_file "$root/bin/perl" "$root/orig/perl"
for p in perl gzip sort; do
	check "reoptimize $p" ctl reoptimize "$root/bin/$p"
	[ "$(listed $p generation)" = 1 ]
	check "$p is generation 1" [ "$(listed $p generation)" = 1 ]
	check "$p is proven by hand" "$B/morph-verify" "$root/orig/$p" "$root/bin/$p"
	check "$p has its owner and mode" [ "$(stat -c %a:%u:%g "$root/bin/$p")" = \
		"$(stat -c %a:%u:%g "$root/orig/$p")" ]
done
check "verify --all" ctl verify --all
ctl --json annotate gzip "$function" >"$root/plain"
ctl --json annotate gzip "$function" --generation=1 >"$root/placed"
moved() {		# every instruction where the generation has it, each with its original, in another order
	jq -e '[.instructions[].original | values] as $o | ($o | length) > 4 and $o != ($o | sort) and ($o | unique | length) == ($o | length)' "$root/placed" &&
		! join -v 1 <(jq -r '.instructions[] | "\(.address) \(.instruction | split(" ")[0])"' "$root/placed" | sort -u) \
			<(objdump -d --no-show-raw-insn "$root/bin/gzip" | sed -nE 's/^ *([0-9a-f]+):\s+(\S+).*/0x\1 \2/p' | sort -u) | grep .
}
check "annotate shows a function as its generation has it" moved
check "with all of its samples" diff <(jq '[.blocks[].samples] | add' "$root/plain") <(jq '[.blocks[].samples] | add' "$root/placed")
check "of another number nothing is shown" said 'has generation 1, not 2' ctl annotate gzip "$function" --generation=2

before=$(listed perl samples)
check "the generations run" run_all after
check "every output byte is the same" same_outputs before after
taken_in
after=$(listed perl samples)
check "samples of the generation are counted for the original ($before, $after)" \
	"$root/orig/perl" -e 'exit !($ARGV[1] > $ARGV[0] + 5)' "${before:-0}" "${after:-0}"
check "a second generation" ctl reoptimize "$root/bin/perl"
check "it has number 2 or is the first one again" \
	grep -qE '^[12]$' <<<"$(listed perl generation)"
check "it is proven against the original" whole perl

# Refusals, with their exit code.
refused() {		# PATTERN COMMAND...: exit code 3, and the message fits
	local pattern=$1 out
	shift
	out=$("$@" 2>&1)
	[ $? = 3 ] && grep -q "$pattern" <<<"$out" || { echo "$out"; return 1; }
}
cp "$root/orig/gzip" "$root/elsewhere"
check "outside of the policy is refused" refused "policy" ctl reoptimize "$root/elsewhere"
cp "$root/orig/sort" "$root/bin/idle"
check "a program without samples is refused" refused "no samples" ctl reoptimize "$root/bin/idle"
# 5 % of so little text hold no counts.
if echo 'int main(void) { for (volatile long i = 0; i < 1L << 29; i++); }' |
   "${CC:-cc}" -O2 -x c -o "$root/bin/tiny" - 2>/dev/null; then
	check "the tiny program has samples" sampled tiny 1 "$root/bin/tiny"
	check "it is said that it is too small" refused "bytes of text are too few" \
		ctl reoptimize "$root/bin/tiny"
else
	skip "a program that is too small is told so" "no compiler"
fi
install -m 755 "$B/morphctl" "$root/morphctl"	# for whom the way to $B is closed
as_another() { setpriv --reuid 64001 --regid 64001 --clear-groups "$root/morphctl" \
	--socket "$root/sock" "$@"; }
check "anyone may ask for the status" as_another status
check "not anyone may change something" refused "only root" as_another pause
known=$(ctl --json list | grep -c '"path"')
ctl verify /usr/bin/env "$root/elsewhere" >/dev/null 2>&1
check "naming a file does not make it a module" [ "$(ctl --json list | grep -c '"path"')" = "$known" ]
check "an unknown module is said" grep -q "no samples of such a module" \
	<<<"$(ctl report nosuch 2>&1)"

check "pause" ctl pause
check "status says so" grep -q '^sampling *paused' <<<"$(ctl status)"
check "resume" ctl resume

# A good policy is taken, a bad one is not.
sed -i 's/min_samples: 20/min_samples: 33/' "$root/morph.yaml"
kill -HUP "$daemon"
check "SIGHUP reads the policy anew" within 30 eval 'ctl policy show | grep -q "min_samples *33"'
echo 'nonsense: 1' >>"$root/morph.yaml"
kill -HUP "$daemon"
check "a bad policy is in the log" within 30 grep -q 'the old policy stays.*nonsense' "$root/log"
check "and leaves the old one" grep -q 'min_samples *33' <<<"$(ctl policy show)"
out=$(ctl policy reload 2>&1)
check "who asks to read it anew is told file, line and reason" test "$?:$out" = \
	"2:morphctl: the old policy stays: $root/morph.yaml:8:1: unknown section 'nonsense'; the sections are monitor, spool, idle, modules, users, optimize, profile, share, rules"
check "nothing of it is taken" grep -q 'min_samples *33' <<<"$(ctl policy show)"
sed -i '$d' "$root/morph.yaml"

# Rules: which one is about a module, in force and in a file.
cat >>"$root/morph.yaml" <<-END
	rules:
	- {name: no sort, paths: [$root/bin/so*], refuse: true}
	- {name: root's, users: ["0"], passes: [align, lines], cool_down_h: 5}
END
mv "$root/morph.yaml" "$root/rules.yaml"
sed '/^rules/,$d' "$root/rules.yaml" >"$root/morph.yaml"
check "a policy that is not in force yet says what it would do" grep -q "bin/sort: refused by rule 'no sort' of line 9" \
	<<<"$("$B/morphctl" policy check "$root/rules.yaml" "$root/bin/perl" "$root/bin/sort")"
check "no rule is about it now" grep -q "sort .*no rule is about it" <<<"$(ctl policy show "$root/bin/sort")"
cp "$root/rules.yaml" "$root/morph.yaml"
check "policy reload takes the rules" ctl policy reload
check "the rules are shown" grep -q "^no sort *9 .*refused" <<<"$(ctl policy show)"
check "a refusal is shown" grep -q "bin/sort *no *no sort *9 " <<<"$(ctl policy show "$root/bin/sort")"
check "and holds, also for who asks" refused "rule 'no sort' of the policy refuses it" \
	ctl reoptimize "$root/bin/sort"
ctl policy show "$root/bin/perl" >"$root/shown"
check "settings of a rule are shown" grep -qE "optimize.passes *\[align, lines\]" "$root/shown"
check "the others are the general ones" grep -qE "optimize.min_samples *33 " "$root/shown"
check "passes of a rule are what is done" grep -qE "installed .*passes align,lines$" \
	<<<"$(ctl reoptimize "$root/bin/perl" >/dev/null 2>&1; ctl history "$root/bin/perl" | head -n 3)"
sed -i 's/passes: .align, lines./passes: [algin]/' "$root/morph.yaml"
check "a wrong rule is told with its line" grep -q "morph.yaml:10:[0-9]*: rules.passes: 'algin' is not one of" \
	<<<"$(ctl policy reload 2>&1)"
check "and the rules in force stay" grep -q "root's" <<<"$(ctl policy show)"
sed -i '/^rules/,$d' "$root/morph.yaml"
check "without rules" ctl policy reload

# Memory, after all that work.
sum=0
for r in parent manager monitor; do
	k=$(awk '/^Rss:/ { print $2 }' "/proc/$(role_pid $r)/smaps_rollup")
	sum=$((sum + ${k:-100000}))
done
check "all roles together are under 32 MiB resident ($sum KiB)" [ "$sum" -lt 32768 ]

# Somebody replaces a module: the old original must not come back over it.
cp "$root/orig/perl" "$root/bin/gzip.new"
mv "$root/bin/gzip.new" "$root/bin/gzip"
ctl restore "$root/bin/gzip" >"$root/err" 2>&1
check "a replaced program is not restored over" same_file "$root/bin/gzip" "$root/orig/perl"
check "history tells that it changed" grep -q changed <<<"$(ctl history "$root/bin/gzip")"

check_here "SIGTERM ends with code 0" stop_daemon
check "nothing answers then" grep -q "does not answer at $root/sock" <<<"$(ctl list 2>&1)"
check_here "it starts again" start_daemon
check "and knows its generations" grep -qE '^[123]$' <<<"$(listed perl generation)"
check "restore --all" ctl restore --all
check "perl is back byte for byte" same_file "$root/bin/perl" "$root/orig/perl"
check "sort is back byte for byte" same_file "$root/bin/sort" "$root/orig/sort"
check_here "and ends again" stop_daemon

# By itself, when the policy says that the machine is idle and there are enough samples.  The store is
# new, so that what its history tells happened here.
rm -rf "$root/store"
mkdir "$root/store"
always_idle >"$root/morph.yaml"
cat >>"$root/morph.yaml" <<-END
	optimize:
	  automatic: true
	  min_samples: 20
	  max_unseen_pct: 100
END
decided() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"decided": "\([^"]*\)".*/\1/p'; }
check_here "a daemon that works by itself" start_daemon
for i in $(seq 400); do
	[ "$i" -gt 30 ] || work_sort >/dev/null
	hasten
	sleep 0.5
	[ -z "$(decided sort)" ] || break
done
check "the first generation waits until the original's speed is known" \
	grep -q "^how fast its original runs is not known yet (.*, observed [0-5] times)" \
	<<<"$(decided sort)"
note "$(decided sort)"
check "nothing is done meanwhile" same_file "$root/bin/sort" "$root/orig/sort"
echo "  observe_first_h: 0" >>"$root/morph.yaml"
check "the policy says that it need not" ctl policy reload
for i in $(seq 400); do
	[ "$i" -gt 30 ] || work_sort >/dev/null
	hasten
	sleep 0.5
	generation=$(listed sort generation)
	[ "${generation:-0}" = 0 ] || break
done
check "reoptimizes what runs without being asked" \
	grep -q "installed .*generation 1 from" <<<"$(ctl history "$root/bin/sort")"
check "and says why" grep -q "no generation yet (up to [0-9]* % of its time not seen yet, [1-9][0-9]* ppm" \
	<<<"$(ctl --json list)"
check "proven" whole sort
check_here "and ends" stop_daemon
cp "$root/orig/sort" "$root/orig/gzip" "$root/bin/"
sed -i 's/automatic: true/automatic: false/; s/check_s: 1$/check_s: 3600/' "$root/morph.yaml"

# The store on a full disk.
rm -rf "$root/store"
mkdir "$root/store"
if mount -t tmpfs -o size=8m tmpfs "$root/store" 2>/dev/null; then
	check_here "a daemon with a small store" start_daemon
	check "perl has samples" sampled perl 100 work_perl
	chmod 1777 "$root/store"
	dd if=/dev/zero of="$root/store/fill" bs=64k 2>/dev/null
	out=$(ctl reoptimize "$root/bin/perl" 2>&1)
	rc=$?
	check "reoptimize fails on a full disk ($rc)" [ "$rc" = 1 ]
	note "$out"
	check "the program stays" same_file "$root/bin/perl" "$root/orig/perl"
	check "the daemon answers" ctl list
	rm "$root/store/fill"
	check "with space it works again" ctl reoptimize "$root/bin/perl"
	check "and is proven" whole perl
	check "restore" ctl restore "$root/bin/perl"
	check "perl is back" same_file "$root/bin/perl" "$root/orig/perl"
	check_here "ends" stop_daemon
	umount "$root/store"
else
	skip "a full disk" "tmpfs cannot be mounted here"
fi

# The program on a full disk: there is no room for the generation beside it.
rm -rf "$root/store"
mkdir "$root/store"
if mount -t tmpfs -o size=5m,mode=755 tmpfs "$root/bin" 2>/dev/null; then
	cp "$root/orig/perl" "$root/bin/perl"
	check_here "a daemon for programs on a full disk" start_daemon
	check "perl has samples" sampled perl 100 work_perl
	out=$(ctl reoptimize "$root/bin/perl" 2>&1)
	rc=$?
	check "reoptimize fails there ($rc)" [ "$rc" = 1 ]
	check "and says why" grep -q "No space left" <<<"$out"
	check "the program stays" same_file "$root/bin/perl" "$root/orig/perl"
	check "nothing is left beside it" [ "$(ls -A "$root/bin")" = perl ]
	check_here "and ends" stop_daemon
	umount "$root/bin"
else
	skip "a full disk of the program" "tmpfs cannot be mounted here"
fi
done_testing
