#!/bin/bash
# keep.sh - morphctl keep: a module that nobody has sampled is laid out by a profile that is handed to the
# daemon; what is no profile of it changes nothing, and who may not do that is refused
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root sort gzip
mkdir "$root/counting"
# What `morphctl try --save` has of sort: here made by hand, since that depends on a gain.
seq 60000 | shuf >"$root/data"
count() {
	"$B/morph-edit" instrument "$root/bin/sort" -o "$root/counting/sort" --counts "$root/counting/counts" &&
		"$root/counting/sort" "$root/data" >"$root/out" && LC_ALL=C "$root/counting/sort" -c "$root/out" >/dev/null 2>&1
	"$B/morph-edit" counts "$root/bin/sort" "$root/counting/counts" -o "$root/profile"
}
check "sort is counted" count
is_generation() { "$B/morph-verify" "$root/orig/$1" "$root/bin/$1"; }
is_original() { cmp "$root/orig/$1" "$root/bin/$1"; }
fails() {		# CODE TEXT COMMAND...
	local rc=0
	"${@:3}" >"$root/said" 2>&1 || rc=$?
	[[ $rc = $1 ]] && grep -qE -- "$2" "$root/said" || { echo "$rc"; cat "$root/said"; return 1; }
}
check "without a daemon" fails 1 "morphd does not answer" ctl keep "$root/bin/sort" "$root/profile"
check_here "a daemon" start_daemon
check "a profile of another file" fails "[13]" "another|other" ctl keep "$root/bin/gzip" "$root/profile"
check "gzip is as it was" is_original gzip
echo nonsense >"$root/nonsense"
check "no profile" fails "[13]" "." ctl keep "$root/bin/sort" "$root/nonsense"
check "bytes" fails 1 "not a profile" ctl keep "$root/bin/sort" "$root/bin/gzip"
check "nothing" fails "[13]" "." ctl keep "$root/bin/sort" /dev/null
check "no file" fails 1 "No such file" ctl keep "$root/bin/sort" "$root/none"
check "no module" fails 1 "No such file" ctl keep "$root/bin/none" "$root/profile"
check "not among the policy's modules" fails 3 "not among the policy" ctl keep /usr/bin/sort "$root/profile"
check "sort is as it was" is_original sort
chmod 644 "$root/profile"
cp "$B/morphctl" "$root/morphctl" && chmod 755 "$root/morphctl"
as_nobody() { setpriv --reuid daemon --regid daemon --clear-groups "$root/morphctl" --socket "$root/sock" "$@"; }
check "others may not" fails 3 "only root and the group of the daemon's user may do this" \
	as_nobody keep "$root/bin/sort" "$root/profile"
for size in 100K 8M; do		# more than those may send; a socket takes all of it, or not
	{ cat "$root/profile"; head -c $size /dev/zero | tr '\0' '#'; } >"$root/large" && chmod 644 "$root/large"
	check "nor with a profile of $size: that is said" \
		fails 3 "only root and the group of the daemon's user may do this" as_nobody keep "$root/bin/sort" "$root/large"
done
check "sort still is as it was" is_original sort

check "it is laid out by the profile" ctl keep "$root/bin/sort" "$root/profile"
check "and is a generation" is_generation sort
check "it runs" cmp <(LC_ALL=C "$root/bin/sort" "$root/data") <(LC_ALL=C "$root/orig/sort" "$root/data")
check "the history says by what" grep -q "by a profile that was given" <<<"$(ctl history)"
check "again, from the original" ctl keep "$root/bin/sort" "$root/profile"
check "generation 2" test "$(listed sort generation)" = 2
check "undo" ctl undo "$root/bin/sort"
check "the original is back" is_original sort
check_here "the daemon ends" stop_daemon
done_testing
