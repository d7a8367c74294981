#!/bin/bash
# journals.sh - swaps that were interrupted, and what users did to their traces meanwhile: each is told,
# and none holds up another
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip sort
mkdir -m 700 -p "$root/store/originals"
mkdir "$root/ro"
leave() { mountpoint -q "$root/ro" && umount "$root/ro"; cleanup; }
trap leave EXIT

folder_of() { stat -c '%d %i' "$(dirname "$1")"; }
journal() {		# LETTERS PATH [LETTERS PATH]: of a swap that wanted to put something else there
	local text="$root/journal"
	{
		echo "morph-journal $([ $# = 2 ] && echo 2 || echo 3)"
		echo "from $(sha "$2")"
		echo "to $(sha /dev/null)"
		echo "owner 0"
		echo "directory $(folder_of "$2")"
		echo "temporary .morph-$1"
		echo "path $2"
		[ $# = 2 ] || echo "also $(folder_of "$4") .morph-$3 $4"
	} >"$text"
	sum=$(sha "$text")
	echo "sum $sum" >>"$text"
	install -m 600 "$text" "$root/store/originals/journal-$1"
}

# A folder where the temporary was; half a temporary; one that is damaged; one whose disk is read-only.
journal aaaaaa "$root/bin/gzip"
mkdir "$root/bin/.morph-aaaaaa" && touch "$root/bin/.morph-aaaaaa/theirs"
journal bbbbbb "$root/bin/sort"
echo half >"$root/bin/.morph-bbbbbb"
# Two names of a file, cut off between their exchanges: the second one is the new file (an empty one) already.
cp "$root/orig/sort" "$root/bin/two" && ln "$root/bin/two" "$root/bin/two-too"
journal eeeeee "$root/bin/two" ffffff "$root/bin/two-too"
mv "$root/bin/two-too" "$root/bin/.morph-ffffff"
touch "$root/bin/.morph-eeeeee" && ln "$root/bin/.morph-eeeeee" "$root/bin/two-too"
# The same, but a user has made another file of the first one.
cp "$root/orig/sort" "$root/bin/three" && ln "$root/bin/three" "$root/bin/three-too"
journal gggggg "$root/bin/three" hhhhhh "$root/bin/three-too"
mv "$root/bin/three-too" "$root/bin/.morph-hhhhhh"
touch "$root/bin/.morph-gggggg" && ln "$root/bin/.morph-gggggg" "$root/bin/three-too"
echo theirs >"$root/theirs" && mv "$root/theirs" "$root/bin/three"
journal cccccc "$root/bin/sort"
sed -i 's/^owner.*/owner 1/' "$root/store/originals/journal-cccccc"
stuck=
if mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/ro" 2>/dev/null; then
	stuck=yes
	cp "$root/bin/gzip" "$root/ro/prog"
	journal dddddd "$root/ro/prog"
	echo half >"$root/ro/.morph-dddddd"
	mount -o remount,ro "$root/ro"
fi

check_here "the daemon starts" start_daemon
history() { ctl history "$1" 2>&1; }
told() { within 10 eval "history '$1' | grep -q '$2'"; }
check "the folder is left alone" [ -e "$root/bin/.morph-aaaaaa/theirs" ]
check "its swap is settled" [ ! -e "$root/store/originals/journal-aaaaaa" ]
check "and told to the Manager" told "$root/bin/gzip" "undone.*a kill had interrupted"
check "half a temporary is removed" [ ! -e "$root/bin/.morph-bbbbbb" ]
check "its swap is told as well" told "$root/bin/sort" "undone.*a kill had interrupted"
check "a swap between two names is taken back" [ "$root/bin/two" -ef "$root/bin/two-too" ]
check "the old file" cmp "$root/orig/sort" "$root/bin/two-too"
check "has no other name" [ "$(stat -c %h "$root/bin/two")" = 2 ]
check "that is told" told "$root/bin/two" "undone.*a kill had interrupted"
check "what is a user's by now stays his" grep -q theirs "$root/bin/three"
check "the other name is finished" [ -e "$root/bin/three-too" -a ! -s "$root/bin/three-too" ]
check "nothing is left of either" [ -z "$(ls -A "$root/bin" | grep -E "^[.]morph-[e-h]")" ]
rm "$root"/bin/two* "$root"/bin/three*
check "root's log has both" [ "$(grep -c "interrupted swap of '$root/bin/\(gzip\|sort\)': undone" "$root/log")" = 2 ]
check "a damaged one is kept" [ -e "$root/store/originals/journal.damaged-1" ]
check "and told" told "$root/store/originals/journal.damaged-1" damaged
if [ -n "$stuck" ]; then
	check "one that cannot be settled stays" [ -e "$root/store/originals/journal-dddddd" ]
	check "is told" told "$root/ro/prog" stuck
	check "and logged with its reason" grep -q "not cleaned up yet.*Read-only file system" "$root/log"
else
	skip "one that cannot be settled" "no tmpfs can be mounted"
fi

# All of it is in nobody's way.
seq 100000 | shuf >"$root/data"
work() { LC_ALL=C "$root/bin/sort" "$root/data" && "$root/bin/gzip" -n -c "$root/data"; }
check "gzip has samples" sampled gzip 20 work
check "so has sort" sampled sort 20 work
check "gzip is laid out anew beside that folder" ctl reoptimize "$root/bin/gzip"
check "and sort" ctl reoptimize "$root/bin/sort"
check_here "the daemon ends, and starts without being told of their folder" \
	eval 'stop_daemon && start_daemon --folders /nonexistent'
check "there nothing is laid out anew" not ctl reoptimize "$root/bin/gzip"
check "but both are restored" ctl restore --all
check "byte for byte" same_file "$root/bin/gzip" "$root/orig/gzip"
check "root's log tells of it" grep -q "restored '$root/bin/gzip'" "$root/log"
check "both" same_file "$root/bin/sort" "$root/orig/sort"
check_here "the daemon ends" stop_daemon
if [ -n "$stuck" ]; then
	mount -o remount,rw "$root/ro"
	check_here "the daemon starts again" start_daemon
	check "what was stuck is settled" [ ! -e "$root/store/originals/journal-dddddd" ]
	check "its temporary is gone" [ ! -e "$root/ro/.morph-dddddd" ]
	check "that is told" told "$root/ro/prog" undone
	check_here "and ends" stop_daemon
fi
done_testing
