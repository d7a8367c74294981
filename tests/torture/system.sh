#!/bin/bash
# system.sh ROOT ORDER COMMAND - a whole system in which everything is moved at once
#
# ROOT is the folder of a Debian system, which stays as it is.  Over it lie two systems for the time of the
# run: one as it is, and one in which every ELF file of /usr that can be moved, libc among them, is its
# verified generation in ORDER (common.bash).  COMMAND runs in both, by sh and as root; its output and exit
# code are to be the same, so it must print nothing that is different every time.  Ends in one line
#
#	N moved, N refused, N failed; N lines of output: same
#
# or different, after the first lines that differ.  The exit code is 1 if it is different or a file failed,
# 2 if nothing could be compared.  Files are moved $JOBS at a time, by default one per CPU.
#
# Morph, built by moved tools (the packages are PACKAGES_BUILD and PACKAGES_CHECK of the Makefile):
#
#	debootstrap --variant=minbase bookworm ROOT
#	chroot ROOT apt-get install -y --no-install-recommends make PACKAGE...
#	git clone . ROOT/root/tree
#	tests/torture/system.sh ROOT 1 'cd /root/tree && make -s programs-for-check >/dev/null 2>&1; echo $?
#		find build -type f | LC_ALL=C sort | xargs sha256sum'
set -u
die() {
	echo "system.sh: $*" >&2
	exit 2
}

[ $# = 3 ] || die "usage: system.sh ROOT ORDER COMMAND"
export root order=$2 command=$3
root=$(realpath -qe "$1") || die "no folder '$1'"
[ -d "$root/usr" ] && [ -d "$root/proc" ] || die "no Debian system in '$1'"
[[ $order =~ ^(layout|p?[0-9]+)$ ]] || die "no order '$order': there are layout, N and pN"
[ "$(id -u)" = 0 ] || die "mount namespaces need root"
cd "$(dirname "$0")/../.." || exit 2
B=$(realpath "${B:-build}")
[ -x "$B/morph-edit" ] && [ -x "$B/morph-verify" ] && [ -x "$B/tests/torture/elves" ] || die "$B is not built: make programs-for-check"
. tests/torture/common.bash

# Mounts and processes are in namespaces of their own and end with them: nothing is mounted any more, for
# nobody, in what is then removed.
if [ -z "${SYSTEM_PRIVATE:-}" ]; then
	export SYSTEM_PRIVATE
	mkdir -p "$TORTURE_TMP" && SYSTEM_PRIVATE=$(mktemp -d "$TORTURE_TMP/system.XXXXXX") || exit 2
	trap 'rm -rf "$SYSTEM_PRIVATE"' EXIT
	trap 'kill -KILL $! 2>/dev/null; wait $!; exit 2' INT TERM
	unshare --mount --pid --fork --kill-child tests/torture/system.sh "$root" "$order" "$command" &
	wait $!
	exit
fi
export T=$SYSTEM_PRIVATE

system() {		# NAME: mounts $T/NAME
	mkdir -p "$T/$1" "$T/layers/$1/upper" "$T/layers/$1/work" &&
		mount -t overlay overlay "$T/$1" \
			-o "lowerdir=$root,upperdir=$T/layers/$1/upper,workdir=$T/layers/$1/work" &&
		mount -t proc proc "$T/$1/proc"
}

# Files of the same content are one in the list of elves.
paths() {		# SIZE COPIES FILE
	if [ "$2" = 1 ]; then
		echo "$3"
	else
		find "$root" -xdev -type f -size "${1}c" -exec cmp -s "$3" {} \; -print
	fi
}

# Leaves a line for each path in $T/answers/DIGEST.  Copying over a file keeps its owner and mode.
move() {		# DIGEST SIZE COPIES FILE
	local W=$T/work/$1 answer=failed path
	mkdir "$W"
	if order_options "$order" "$4" "$W" &&
			"$EDIT" optimize "$4" "${order_options[@]}" -o "$W/gen" >/dev/null 2>"$W/err"; then
		"$VERIFY" "$4" "$W/gen" >/dev/null 2>"$W/err" && answer=moved
	elif [ $? = 3 ]; then
		answer=refused
	fi
	paths "$2" "$3" "$4" | while read -r path; do
		[ "$answer" != moved ] || cp "$W/gen" "$T/moved${path#"$root"}" 2>"$W/err" || answer=failed
		echo "$answer ${path#"$root"} $(head -n 1 "$W/err")"
	done >"$W/answers"
	mv "$W/answers" "$T/answers/$1"
	rm -rf "$W"
}
export -f move paths order_options

answers() {		# ANSWER: how many
	cat "$T"/answers/* | grep -c "^$1 "
}

run() {			# NAME
	mkdir -p "$T/said/$1"
	timeout --kill-after=10 3600 chroot "$T/$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 TZ=UTC sh -c "$command" >"$T/said/$1/out" 2>"$T/said/$1/err" </dev/null
	echo $? >"$T/said/$1/code"
}

system original && system moved || die "no system can be mounted over '$root'"
chroot "$T/original" sh -c true || die "no shell runs in '$root'"
"$B/tests/torture/elves" "$T/files" "$root/usr" || exit 2
total=$(wc -l <"$T/files")
mkdir "$T/answers" "$T/work"
echo "$total different ELF files in $root/usr, order $order"
progress_start "$total" "$T/answers"
tac "$T/files" | cut -f 1,2,7,8 | tr '\t\n' '\0\0' |
	xargs -0 -n 4 -P "${JOBS:-$(nproc)}" bash -c 'move "$@"' move
progress_stop
[ "$(ls "$T/answers" | wc -l)" = "$total" ] || die "there are files without an answer"
moved=$(answers moved) failed=$(answers failed)
[ "$moved" -gt 0 ] || die "nothing in '$root' can be moved"
cat "$T"/answers/* | grep '^failed '

for name in original moved; do
	echo "running the command in the $name system"
	run "$name"
done
result=same
(cd "$T/said" && diff -ra original moved) >"$T/diff" || result=different
head -n 20 "$T/diff"
echo "$moved moved, $(answers refused) refused, $failed failed;" \
	"$(cat "$T"/said/original/{out,err} | wc -l) lines of output: $result"
[ "$result" = same ] && [ "$failed" = 0 ]
