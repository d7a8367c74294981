#!/bin/bash
# madedaemon.sh - code that programs make while they run, by name in the daemon's reports; files that name nothing, and
# users who see nothing of each other
cd "$(dirname "$0")/../.." || exit 1
TMPDIR=/var/tmp	# not below what is mounted over here
. tests/e2e/private.bash
need_root
one=64001 two=64002
make_root
maps=()
end_all() {
	local p
	for p in "${running[@]}"; do kill "$p" 2>/dev/null; done
	rm -f "${maps[@]}"
	cleanup
}
trap end_all EXIT
${CC:-cc} -O2 -o "$root/jit" tests/e2e/madecode/jit.c 2>"$root/why" || skip_all "$(cat "$root/why")"
cp "$B/morphctl" "$root/morphctl"
mkdir "$root/$one"
cp "$root/jit" "$root/$one/tool"
chown -R $one:$one "$root/$one"
cat >>"$root/morph.yaml" <<-END
	users:
	  see_others: false
END
sed -i "s|include:.*|include: [\"$root/bin/*\", \"$root/$one/*\"]|" "$root/morph.yaml"
check_here "a daemon" start_daemon

# PROGRAM UID map|dump FOLDER [NAME]: it has run, and is still there: $pid, and a descriptor in $hold.  Through the
# command in `through`, if there is one, that becomes it.
running=()
run() {
	out=$root/out.$RANDOM
	rm -f "$root/in" && mkfifo "$root/in" && chmod 666 "$root/in"
	"${through[@]}" setpriv --reuid "$2" --regid "$2" --clear-groups "$1" "$3" "$4" 20000000 "${5:-rest of it}" stay \
		<"$root/in" >"$out" 2>"$root/why" &
	running+=($!)
	exec {hold}>"$root/in"
	within 60 test -s "$out" || { cat "$root/why"; return 1; }
	pid=$(head -n 1 "$out")
	map=/tmp/perf-$pid.map
	maps+=("$map")
}
over() {		# the last one that was begun
	exec {hold}>&-
	wait "${running[-1]}"
}
report() { ctl --json report --limit=1000 "$@"; }
of() { echo "[.procedures[] | select(.module == \"[made at run time by $1]\")]"; }
names() { report | jq -c "$(of "$1") | map(.procedure) | sort"; }
# NAME's share of what PROGRAM made is about PCT.
share() { report | jq "$(of "$1") | (map(.samples) | add) as \$all |
	(.[] | select(.procedure == \"$2\")).samples / \$all * 100 | . > $3 - 12 and . < $3 + 12" | grep -qx true; }
none='["[code made at run time]"]'
unnamed() {		# once its samples have come
	local n program=$1
	within 30 eval 'taken_in; n=$(names "$program"); [ "$n" != "[]" ]'
	echo "$n"
	[ "$n" = "$none" ]
}
as() {			# UID COMMAND...
	setpriv --reuid "$1" --regid "$1" --clear-groups timeout 120 "$root/morphctl" --socket "$root/sock" "${@:2}"
}

cp "$root/jit" "$root/bin/map"
check_here "a program that writes a map" run "$root/bin/map" 0 map /tmp
taken_in
samples=$(report | jq "$(of "$root/bin/map") | map(.samples) | add // 0")
[ "${samples%.*}" -gt 20 ] || skip_all "too few samples ($samples)"
note "$samples samples in code made at run time"
check "a quarter is the first loop's" share "$root/bin/map" "Quarter::run" 25
check "the rest is the second's" share "$root/bin/map" "rest of it" 75
check "what was there before is not named" test "$(names "$root/bin/map" | grep -c before)" = 0
check "nor where it was" test "$(report | jq "$(of "$root/bin/map") | all(.entry == null)")" = true
whole=$(report | jq ".modules[] | select(.module == \"[made at run time by $root/bin/map]\").samples")
check "together they are the program's row" test "$whole" = "$samples"
check "which can be asked for" test "$(report "[made at run time by $root/bin/map]" |
	jq -c '.procedures | map(.procedure) | sort')" = "$(names "$root/bin/map")"
check "people are told, too" grep -q "made at run time by $root/bin/map\].*Quarter::run" <(ctl report --limit=1000)
over

cp "$root/jit" "$root/bin/dump"
mkdir "$root/dumps"
run "$root/bin/dump" 0 dump "$root/dumps"
taken_in
check "a jitdump: a quarter is the first loop's" share "$root/bin/dump" "Quarter::run" 25
check "the rest is the second's" share "$root/bin/dump" "rest of it" 75
over

cp "$root/jit" "$root/bin/shared"
SHARED=1 run "$root/bin/shared" 0 map /tmp
taken_in
check "code in memory that is mapped shared" share "$root/bin/shared" "rest of it" 75
over

# --- folders of its own ---

if unshare --mount true 2>/dev/null; then
	cp "$root/jit" "$root/bin/apart"
	echo 'mount -t tmpfs -o mode=1777 none /tmp && exec "$@"' >"$root/apart"
	through=(unshare --mount bash "$root/apart")
	check_here "a program with a /tmp of its own" run "$root/bin/apart" $one map /tmp
	taken_in
	check "has its map there" test ! -e "$map"
	check "which names what it made" share "$root/bin/apart" "rest of it" 75
	over
	cp "$root/jit" "$root/bin/mounts"
	run "$root/bin/mounts" $one map /tmp
	through=()
	cp "/proc/$pid/root$map" "$root/secret"
	chmod 600 "$root/secret"
	check_here "a program that has root's file there" nsenter -t "$pid" -m mount --bind "$root/secret" "$map"
	taken_in
	check "is not told what it holds" unnamed "$root/bin/mounts"
	over
else
	skip "a program with a /tmp of its own" "no mount namespaces"
fi

# --- what is not there any more ---

cp "$root/jit" "$root/bin/ended"
run "$root/bin/ended" 0 map /tmp
over
taken_in
check "a program that has ended has no names" unnamed "$root/bin/ended"

# --- files that are not to be believed ---

# CLAIM NAME COMMAND...: what the program made has no names when its file ($map) was changed so before it ran.
not_so() {
	local claim=$1 program=$root/bin/$2 begin=$SECONDS
	shift 2
	cp "$root/jit" "$program"
	WAIT=1 run "$program" $one map /tmp || { not_ok "$claim"; return; }
	cp -p "$map" "$root/kept"
	"$@"
	echo >&"$hold"
	within 60 eval '[ "$(wc -l <"$out")" = 2 ]' || { not_ok "$claim"; return; }
	taken_in
	check "$claim: nothing is named" unnamed "$program"
	note "after $((SECONDS - begin)) s"
	over
	rm -rf "$map"
}
link() { rm "$map" && ln -s "$root/kept" "$map" && chmod 644 "$root/kept"; }
pipe() { rm "$map" && mkfifo -m 666 "$map"; }
hard() { ln "$map" "$map.more" && maps+=("$map.more"); }
# in a sticky folder nobody creates what is another's already (fs.protected_regular)
huge() { truncate -c -s 1T "$map"; }
others() { chown $two "$map" && chmod 644 "$map"; }
locked() { chmod 0 "$map"; }
old() { touch -d '1 hour ago' "$map"; }
folder() { rm "$map" && mkdir "$map"; }
many() { yes 'ffffffffffffffff ffffffffffffffff everything' | head -n 200000 >"$root/many" && cp "$root/many" "$map"; }
not_so "a link" link link
not_so "a pipe" pipe pipe
not_so "one with two names" hard hard
not_so "a huge one" huge huge
not_so "another user's" others others
not_so "one that its user may not read" locked locked
not_so "one of before" old old
not_so "a folder" folder folder
not_so "one of code that is nowhere" many many
check "the daemon is well" ctl status

# --- users ---

odd=$'evil\e[31m<b>&\xe2\x80\xae\x80'		# in any locale
chmod 755 "$root/$one"
run "$root/$one/tool" $one map /tmp "$odd"
first=$hold
run "$root/$one/tool" $two map /tmp "the other one's secret"
taken_in
tool="[made at run time by $root/$one/tool]"
shown='evil\\\\x1b[31m<b>&\\\\u202e\\\\x80'		# as JSON has it
check "root sees what both have made" test "$(report "$tool" | jq -c '.procedures | map(.procedure) | sort')" = \
	"[\"Quarter::run\",\"$shown\",\"the other one's secret\"]"
check "a user sees what he has made with his program" test "$(as $one --json report "$tool" |
	jq -c '.procedures | map(.procedure) | sort')" = "[\"Quarter::run\",\"$shown\"]"
check "also among all" test "$(as $one --json report --limit=1000 | jq -c "$(of "$root/$one/tool") | map(.procedure) | sort")" = \
	"[\"Quarter::run\",\"$shown\"]"
check "and less than root" awk -v his="$(as $one --json report "$tool" | jq '[.procedures[].samples] | add')" \
	-v all="$(report "$tool" | jq '[.procedures[].samples] | add')" 'BEGIN { exit !(his > 0 && his < all) }'
check "not what is root's" test "$(as $one --json report --limit=1000 | grep -c "$root/bin")" = 0
check "who owns no program sees nothing" test "$(as $two --json report 2>/dev/null | grep -c 'made at\|Quarter\|secret')" = 0
check "nor when he asks for it" grep -q "no samples of such a module that is yours" <(as $two report "$tool" 2>&1)
check "no name steers a terminal" test "$(ctl report "$tool" | grep -c $'\e\|\xe2\x80\xae')" = 0
exec {first}>&-
over

before=$(names "$root/bin/map")
stop_daemon
check_here "the daemon again" start_daemon
check "knows it still" test "$before" = "$(names "$root/bin/map")"
done_testing
