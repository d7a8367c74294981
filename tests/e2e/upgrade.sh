#!/bin/bash
# upgrade.sh - packages and people replace programs under the daemon: while idle, while a job runs, between the
# proof and the swap, while processes of the old generation run; by dpkg, by rename, in place, with strip, from
# a backup.  What they put there stays, and the old original never comes back over it.
#
# dpkg is the real one, with a root, a database and a configuration of its own.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/newer.bash
need_root
make_root perl gzip sort
export HOME=$root/home PATH=$PATH:/usr/sbin:/sbin

# --- packages: NAME-VERSION.deb ---

package() {		# PROGRAM VERSION FILE
	local d=$root/package/$1-$2
	mkdir -p "$d/DEBIAN" "$d/bin" && cp "$3" "$d/bin/$1"
	printf 'Package: morph-%s\nVersion: %s\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: test\n' \
		"$1" "$2" >"$d/DEBIAN/control"
	(cd "$d" && md5sum "bin/$1" >DEBIAN/md5sums)
	dpkg-deb --build -Znone --root-owner-group "$d" "$root/package/$1-$2.deb"
}
have_dpkg() { command -v dpkg >/dev/null && command -v dpkg-deb >/dev/null; }
install_package() {	# PROGRAM VERSION
	dpkg --root="$root" --log="$root/dpkg.log" -i "$root/package/$1-$2.deb"
}
by_rename() { cp "$2" "$1.new;5f3a" && mv "$1.new;5f3a" "$1"; }	# PATH CONTENT: as rpm does
upgrade() {		# PROGRAM VERSION
	if have_dpkg; then install_package "$1" "$2"; else by_rename "$root/bin/$1" "$root/orig/$1.$2"; fi
}
for p in perl gzip sort; do
	for v in 2 3; do newer "$root/orig/$p" "$root/orig/$p.$v" $v || exit 1; done
	cp "$root/orig/$p" "$root/orig/$p.1"
done
mkdir -p "$root/package" "$HOME"
if have_dpkg; then
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
	: >"$root/var/lib/dpkg/status"
	sed "s|/run/morph/control.sock|$root/sock|g; s|morphctl look|& --socket $root/sock|; s|command -v morphctl|true|
		s|morphctl look --socket|$B/morphctl --socket|; s|$root/sock <|$root/sock look <|" etc/morph.dpkg >"$HOME/.dpkg.cfg"
	for p in perl gzip sort; do
		for v in 1 2 3; do
			package $p $v "$root/orig/$p.$v" >"$root/here" 2>&1 || { cat "$root/here"; exit 1; }
		done
		upgrade $p 1 >"$root/here" 2>&1 || { cat "$root/here"; exit 1; }
	done
fi

work() {		# PROGRAM
	case $1 in
	perl) "$root/bin/perl" -e '$s += $_ * $_ % 7 for 1 .. 3e6' ;;
	gzip) "$root/bin/gzip" -9 -n -c <"$root/data" >/dev/null ;;
	sort) LC_ALL=C "$root/bin/sort" "$root/data" >/dev/null ;;
	esac
}
is_version() { cmp "$root/bin/$1" "$root/orig/$1.$2"; }	# PROGRAM VERSION
changed() { [ "$(ctl history "$root/bin/$1" | grep -c ' changed ')" = "$2" ]; }	# PROGRAM TIMES
nothing_beside() { [ -z "$(find "$root/bin" -name '.morph-*' -o -name '*.dpkg-*')" ]; }
optimized() {		# PROGRAM: as generation of what is there
	sampled "$1" 100 work "$1" && ctl reoptimize "$root/bin/$1" && [ "$(listed "$1" generation)" -ge 1 ]
}
seq 300000 | shuf >"$root/data"
ulimit -c 0
check_here "a daemon" start_daemon

# Replaced while idle.
check "perl is laid out anew" optimized perl
if have_dpkg; then
	check "dpkg -V sees a changed file" grep -q bin/perl <<<"$(dpkg --root="$root" -V morph-perl)"
	out=$(ctl verify "--packages=$root" 2>&1)
	check "verify --packages: its original is what the package delivered ($?)" \
		grep -qE "^$root/bin/perl +1 +morph-perl +as delivered" <<<"$out"
	check "the exit status says so" ctl verify "--packages=$root"
	list=$root/var/lib/dpkg/info/morph-perl.md5sums
	cp "$list" "$root/list"
	sed -i 's/^./x/' "$list"
	out=$(ctl verify "--packages=$root" 2>&1)
	[ $? = 1 ] && grep -qE "^$root/bin/perl .* DIFFERS" <<<"$out" && ok "an original that was not delivered is named, exit status 1" || {
		not_ok "an original that was not delivered is named, exit status 1"; note "$out"; }
	: >"$list"
	check "one of no package is told apart" grep -qE "^$root/bin/perl .* in no package" <<<"$(ctl verify "--packages=$root")"
	mkdir "$root/merged" && ln -s "$root/bin" "$root/merged/bin"
	sed 's|  bin/|  merged/bin/|' "$root/list" >"$list"
	check "a listed path may lead through a link" grep -qE "^$root/bin/perl .* as delivered" <<<"$(ctl verify "--packages=$root")"
	cp "$root/list" "$list"
	check "no lists of dpkg: said" grep -q "no lists of dpkg" <<<"$(ctl verify "--packages=$root/home" 2>&1)"
else
	skip "verify --packages" "no dpkg"
fi
check "an upgrade while idle" upgrade perl 2
check "the daemon knows within 10 s, without anybody asking" within 10 changed perl 1
ctl restore "$root/bin/perl" >/dev/null 2>&1
ctl restore --all >/dev/null 2>&1
check "the new package stays" is_version perl 2
check "its use is counted anew" test "$(listed perl generation)" = 0
check "and it is laid out anew" optimized perl
check "from the new package" "$B/morph-verify" "$root/orig/perl.2" "$root/bin/perl"

# The same package once more, as apt-get install --reinstall does.
put_back() { ctl history "$root/bin/perl" | grep -q "put back .*the original is at its path again"; }
check "the same package again" upgrade perl 2
check "the daemon knows within 10 s, and it is an event" within 10 put_back
check "its original is there" is_version perl 2
check "what is known of its use stays" test "$(listed perl samples | cut -d. -f1)" -ge 100
check "and it is laid out anew" optimized perl
check "proven" "$B/morph-verify" "$root/orig/perl.2" "$root/bin/perl"

# While a job runs; between the proof and the swap.
stopped_at() {		# COMMAND PATH: asks for a reoptimization and stops that job of it
	ctl reoptimize "$2" >"$root/asked" 2>&1 &
	asked=$!
	while kill -0 $asked 2>/dev/null; do
		finds_job "$1" && kill -STOP "$job" 2>/dev/null || continue
		until grep -qs "^State:	T" "/proc/$job/status"; do	# a while after the signal, or it has ended
			kill -0 "$job" 2>/dev/null || return 1
		done
		return 0
	done
	return 1
}
for at in optimize verify; do
	check "perl has samples" sampled perl 100 work perl
	if ! stopped_at $at "$root/bin/perl"; then
		wait $asked
		skip "an upgrade while the job $at runs" "the job could not be stopped: $(tail -n 1 "$root/asked")"
		continue
	fi
	v=1
	is_version perl 1 >/dev/null && v=3
	check "an upgrade while the job $at runs" upgrade perl $v
	kill -CONT "$job"
	wait $asked
	check "the swap is refused ($?: $(tail -n 1 "$root/asked"))" grep -q "changed" "$root/asked"
	check "the new package stays" is_version perl $v
	check "nothing is left beside it" nothing_beside
done

# Processes of the old generation go on, die, and change nothing.
check "sort is laid out anew" optimized sort
mkfifo "$root/fifo"
LC_ALL=C "$root/bin/sort" "$root/fifo" >"$root/sorted" &
old=$!
exec 9>"$root/fifo"
head -n 1000 "$root/data" >&9
check "an upgrade while the old generation runs" upgrade sort 2
check "the daemon knows" within 10 changed sort 1
check "the new package is laid out anew too" optimized sort
tail -n +1001 "$root/data" >&9
exec 9>&-
wait $old
check "the old process gives the right result" cmp "$root/sorted" <(LC_ALL=C "$root/orig/sort" "$root/data")
exec 9<>"$root/fifo"
LC_ALL=C "$root/bin/sort" "$root/fifo" >/dev/null 9>&- &
old=$!
check "another upgrade" upgrade sort 3
check "the daemon knows that" within 10 changed sort 2
kill -SEGV $old 2>/dev/null
wait $old 2>/dev/null
exec 9>&-
taken_in
check "when one of the old generation dies, the new package stays" is_version sort 3
check "and is not refused for it" not grep -q "killed by signal" <<<"$(ctl --json list | grep "bin/sort")"

# In place, with strip, gone, from a backup.
cat "$root/orig/sort.2" >"$root/bin/sort"
check "written in place: known within 10 s" within 10 changed sort 3
ctl restore "$root/bin/sort" >/dev/null 2>&1
check "and stays" is_version sort 2
if command -v strip >/dev/null; then
	check "sort is laid out anew" optimized sort
	strip "$root/bin/sort" && cp "$root/bin/sort" "$root/stripped"
	check "somebody strips the generation: known within 10 s" within 10 changed sort 4
	ctl restore --all >/dev/null 2>&1
	check "what they made stays" cmp "$root/bin/sort" "$root/stripped"
	restored=$(ctl restore "$root/bin/sort" 2>&1)
	check "restore says what it is, and refuses ($?)" \
		grep -q "generation [0-9]*, edited by somebody; restore --force" <<<"$restored"
	check "what they made still stays" cmp "$root/bin/sort" "$root/stripped"
	check "and is not laid out anew" grep -q "made by Morph" <<<"$(ctl reoptimize "$root/bin/sort" 2>&1; work sort; ctl reoptimize "$root/bin/sort" 2>&1)"
	# With proof, and only then: a newer version is not what it was made from, edited or not.
	by_rename "$root/bin/sort" "$root/orig/sort.3" && strip "$root/bin/sort"
	cp "$root/bin/sort" "$root/newer"
	out=$(ctl restore --force "$root/bin/sort" 2>&1)
	check "by force nothing comes over another version ($?)" test "$?:${out##*: }" = \
		"3:not shown to be a generation that somebody edited; left as it is"
	check "it stays" cmp "$root/bin/sort" "$root/newer"
	cp "$root/stripped" "$root/patched"	# one byte of the original's code
	at=$((16#$(readelf -SW "$root/patched" | sed -n 's/^ *\[[ 0-9]*\] *\.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')))
	printf '\xf4' | dd of="$root/patched" bs=1 seek=$((at + 16)) conv=notrunc 2>/dev/null
	by_rename "$root/bin/sort" "$root/patched"
	out=$(ctl restore --force "$root/bin/sort" 2>&1)
	check "nor over code that was patched" cmp "$root/bin/sort" "$root/patched"
	check "who forces it is not told to force it" test -z "$(grep -e "--force" <<<"$out")"
	check "but why not" grep -q "morph" <<<"$out"
	by_rename "$root/bin/sort" "$root/stripped"
	objcopy --remove-section=.morph.map "$root/bin/sort"
	check "by force the original comes back, also without the map" ctl restore --force "$root/bin/sort"
	check "byte for byte" is_version sort 2
	check "the history tells" grep -q "original in the place of generation [0-9]*, which somebody had edited" \
		<<<"$(ctl history "$root/bin/sort")"
	check "once is enough" grep -q "is the original already" <<<"$(ctl restore --force "$root/bin/sort" 2>&1)"
	check "and it is laid out anew" optimized sort
else
	skip "strip" "no strip"
fi
by_rename "$root/bin/sort" "$root/orig/sort.1"
check "renamed over, as rpm does" optimized sort
cp -p "$root/bin/sort" "$root/backup"
check "verified" "$B/morph-verify" "$root/orig/sort.1" "$root/bin/sort"
samples=$(listed sort samples)
rm "$root/bin/sort"
check "a file that is gone cannot be restored" not ctl restore "$root/bin/sort"
check "and does not come back by itself" test ! -e "$root/bin/sort"
by_rename "$root/bin/sort" "$root/backup"
ctl look >/dev/null
check "back from a backup: it is the generation it was" test "$(listed sort generation)" -ge 1
check "with all its samples ($samples)" "$root/orig/perl" -e 'exit !($ARGV[1] >= $ARGV[0] && $ARGV[0] > 0)' "$samples" "$(listed sort samples)"
check "an upgrade over it" by_rename "$root/bin/sort" "$root/orig/sort.3"
ctl look >/dev/null
check "is laid out anew" optimized sort
cp -p "$root/backup" "$root/bin/sort.new" && mv "$root/bin/sort.new" "$root/bin/sort"
check "an old generation from a backup, over the new one's: look says so" grep -q "bin/sort" <<<"$(ctl look; ctl history "$root/bin/sort")"
check "restoring gives that one's original" ctl restore "$root/bin/sort"
check "byte for byte" is_version sort 1
check "the daemon has lived through it all" ctl status
check "nothing is left beside programs" nothing_beside
check_here "and ends" stop_daemon
done_testing
