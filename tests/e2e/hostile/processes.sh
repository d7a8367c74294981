#!/bin/bash
# processes.sh - a Manager that was taken over wants something else than proven generations in running
# processes, or these in other processes than those that run their originals
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root perl sort
cat >"$root/loop.pl" <<'END'
$| = 1;
while (1) { my %h; $h{"k$_"} = $_ * 3 for 1 .. 500; my $s = 0; $s += $h{$_} for sort keys %h; print "$s\n"; }
END
"$root/bin/perl" "$root/loop.pl" >"$root/out" 2>&1 9>&- &
server=$!
sleep 1000 9>&- &
other=$!
end_all() { kill -9 "$server" "$other" 2>/dev/null; cleanup; }
trap end_all EXIT
check_here "a daemon" start_daemon
check "perl is sampled" sampled perl 100 sleep 0.3
check "and laid out anew" ctl reoptimize "$root/bin/perl"
installed=$(sha "$root/bin/perl") original=$(sha "$root/orig/perl")
"$B/morph-edit" optimize --all --keep-pointers "$root/orig/perl" -o "$root/form" 2>/dev/null
"$B/morph-edit" optimize --all "$root/orig/perl" -o "$root/other-form" 2>/dev/null
# One byte of new text is another one.
cp "$root/form" "$root/damaged"
at=$(readelf -SW "$root/form" | awk '$2 == ".morph.text" || $3 == ".morph.text" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
printf '\xcc' | dd of="$root/damaged" bs=1 seek=$((0x${at:-1000} + 64)) conv=notrunc 2>/dev/null

manager=$(role_pid manager)
kill -STOP "$manager"
lie() { "$B/tests/e2e/hostile/liar" "$manager" "$@" >"$root/said" 2>&1; }
refused() {		# REASON ARGUMENT...
	lie "${@:2}"
	local rc=$?
	[ $rc = 3 ] && grep -q "$1" "$root/said" || { echo "ended with $rc: $(cat "$root/said")"; return 1; }
	[ -z "$("$B/morph-live" list "$root/store/live")" ]
}
perl=$root/bin/perl
check "a form that is damaged is refused" refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/damaged"
check "so is a generation for files, with other pointers" \
	refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/other-form"
check "and another program" refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/orig/sort"
check "and what the ledger does not know" \
	refused "the ledger knows no such generation" "$server" "$root/bin/sort" "$(sha "$root/bin/sort")" "$original" "$root/form"
check "and another original" \
	refused "the ledger knows no such generation" "$server" "$perl" "$installed" "$(sha "$root/bin/sort")" "$root/form"
check "and a path elsewhere" refused "not in a folder for programs" "$server" /etc/perl "$installed" "$original" "$root/form"
check "a process that runs another program is left alone" \
	refused "is not mapped there" "$other" "$perl" "$installed" "$original" "$root/form"
check "so is one that is not there" refused "not there any more" 4194303 "$perl" "$installed" "$original" "$root/form"
# --- one that counts, for a while ---

"$B/morph-edit" instrument --private "$root/orig/perl" -o "$root/counts" --counts "$root/counts.zero" 2>/dev/null
"$B/morph-edit" instrument --private "$root/orig/sort" -o "$root/sort-counts" --counts "$root/counts.zero" 2>/dev/null
cp "$root/counts" "$root/counts-damaged"
at=$(readelf -SW "$root/counts" | awk '$2 == ".morph.text" || $3 == ".morph.text" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
printf '\xcc' | dd of="$root/counts-damaged" bs=1 seek=$((0x${at:-1000} + 64)) conv=notrunc 2>/dev/null
check "one that counts cannot stay" refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/counts"
check "one that counts and is damaged is refused" \
	refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/counts-damaged" count
check "and that of another program" \
	refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/sort-counts" count
check "and of a path elsewhere" \
	refused "not in a folder for programs" "$server" /etc/perl "$installed" "$original" "$root/counts" count
check "and of a file that is not at the path" \
	refused "changed meanwhile" "$server" "$root/bin/sort" "$original" "$original" "$root/counts" count
check "a process that runs another program does not count" \
	refused "is not mapped there" "$other" "$perl" "$installed" "$original" "$root/counts" count
lie "$server" "$perl" "$installed" "$original" "$root/counts" count
check "one that is proven may count where there is room" grep -q "^at [0-9a-f]*$\|^counted" "$root/said"
check "and cannot stay for all that" refused "not proven to be fit" "$server" "$perl" "$installed" "$original" "$root/counts"
check "each is in root's log" test "$(grep -c "running process refused\|into process $other of user 0:" "$root/log")" -ge 14
# What may be: where there is room for the form, or that it was mapped.
lie "$server" "$perl" "$installed" "$original" "$root/form"
check "a proven form is no lie" grep -q "^at [0-9a-f]*$\|^done" "$root/said"
check "a file that could still change ends the manager" \
	not lie "$server" "$perl" "$installed" "$original" "$root/form" open
check "which the log says" within 10 grep -q "LIVE_ON of a file that could still change" "$root/log"
check "the daemon goes on with another one" within 20 ctl status
same_lines() { [ "$(sed '$d' "$root/out" | sort -u | wc -l)" = 1 ]; }
check "every answer of the process is the same" same_lines
check_here "the daemon ends" stop_daemon
done_testing
