#!/bin/bash
# undo.sh - originals come back with nothing but the originals: no daemon, none that answers, no or a damaged
# database, a wrong policy, a full disk, after `make uninstall`, in another system's files, for files that nobody
# knows.  And nothing comes back where it does not belong.
#
# A daemon makes generations of sort (root's) and gzip (a user's) once; each test begins with a copy of that.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/newer.bash
need_root
make_root sort gzip
work() {		# PROGRAM
	case $1 in
	gzip) "$root/bin/gzip" -9 -n -c <"$root/data" >/dev/null ;;
	sort) LC_ALL=C "$root/bin/sort" "$root/data" >/dev/null ;;
	esac
}
seq 200000 | shuf >"$root/data"
chown nobody:nogroup "$root/bin/gzip"
chmod 751 "$root/bin/sort"
touch -d '2001-02-03 04:05:06.789' "$root/bin/sort"
setfattr -n user.note -v kept "$root/bin/sort" 2>/dev/null && xattrs=1
check_here "a daemon" start_daemon
for p in sort gzip; do
	check "$p has samples" sampled $p 100 work $p
	check "$p is laid out anew" ctl reoptimize "$root/bin/$p"
done
work sort
check_here "the daemon ends" stop_daemon
is_generation() { "$B/morph-verify" "$root/orig/$1" "${2:-$root/bin/$1}"; }
is_original() { cmp "$root/orig/$1" "${2:-$root/bin/$1}"; }
check "sort is a generation" is_generation sort
check "gzip is a generation" is_generation gzip
mkdir "$root/saved" && cp -a "$root/bin" "$root/store" "$root/saved" || exit 1
fresh() {		# as it was then; the folder of the programs is the same one
	rm -rf "$root/store"
	find "$root/bin" -mindepth 1 -delete
	cp -a "$root/saved/bin" "$root/saved/store" "$root"
}
alone() { timeout 120 "$B/morphctl" --socket "$root/none" "$@" >"$root/out" 2>&1; }	# no daemon
undo() { alone "${how:-undo}" --store="$root/store" "$@"; }
said() { grep -qE "$1" "$root/out" || { cat "$root/out"; return 1; }; }
original_of() { sha "$root/orig/$1"; }

# --- nothing but the originals ---

check "undo without a daemon" undo "$root/bin/sort"
check "the original is back" is_original sort
check "with its owner, mode and times" test "$(stat -c '%U %a %y' "$root/bin/sort")" = \
	"$(stat -c '%U %a %y' "$root/saved/bin/sort")"
[ -n "${xattrs:-}" ] && check "and attributes" grep -q kept <<<"$(getfattr --only-values -n user.note "$root/bin/sort")"
check "nothing is beside it" test "$(ls -A "$root/bin" | wc -l)" = 2
check "the other one is as it was" is_generation gzip
check "again: there is nothing to do" undo "$root/bin/sort"
check "and that is said" said "sort: is the original already"
check "a user's file too" undo "$root/bin/gzip"
check "its original is back" is_original gzip
check "it still is the user's" test "$(stat -c %U "$root/bin/gzip")" = nobody

fresh
chmod 4751 "$root/bin/sort"
setcap cap_net_raw+ep "$root/bin/gzip" 2>/dev/null && caps=1
check "what was made set-id since, or was given capabilities" undo "$root/bin/sort" "$root/bin/gzip"
check "both originals are back" eval "is_original sort && is_original gzip"
check "with what they were given" test "$(stat -c %a "$root/bin/sort")" = 4751
[ -n "${caps:-}" ] && check "and with the capabilities" grep -q cap_net_raw <<<"$(getcap "$root/bin/gzip")"

fresh
how=restore
check "restore is the same" undo --all
check "both originals are back" eval "is_original sort && is_original gzip"
how=
fresh
rm "$root"/store/morph.db*
check "no database" undo --all
check "both originals are back" eval "is_original sort && is_original gzip"
fresh
head -c 100000 /dev/urandom | as_manager tee "$root/store/morph.db" >/dev/null
echo "nonsense: [" >"$root/wrong.yaml"
check "a damaged database" undo --all
check "both originals are back" eval "is_original sort && is_original gzip"
fresh
rm -rf "$root/store/ledger" "$root"/store/morph.db*
check "no ledger, no database: the folder is searched" undo --all "$root/bin"
check "both originals are back" eval "is_original sort && is_original gzip"
fresh
fresh
entry=$(grep -lx "path $root/bin/sort" "$root"/store/ledger/*)
printf 'x' >>"$entry"
check "a damaged entry of the ledger does not pass for all" test "$(undo --all; echo $?)" != 0
check "it is named" said "${entry##*/}"
check "others come back" is_original gzip
check "its path does by what the file says" undo "$root/bin/sort"
check "the original is back" is_original sort
fresh
check "--all with a folder that is not there" test "$(undo --all "$root/bin" "$root/bin/none"; echo $?)" = 1
check "is told" said "/bin/none': No such file or directory; nothing was done"
check "nothing was done" eval "is_generation sort && is_generation gzip"
check "--all with a file is wrong usage" test "$(undo --all "$root/bin/gzip"; echo $?)" = 2
check "that is told" said "/bin/gzip': no folder, and with --all only folders are named; nothing was done"
check "nothing was done" eval "is_generation sort && is_generation gzip"
mkdir "$root/left" && cp "$B/morphctl" "$root/left"	# all that there is after make uninstall
check "nothing else is installed" timeout 60 "$root/left/morphctl" --socket "$root/none" undo --store="$root/store" \
	"$root/bin/sort" "$root/bin/gzip"
check "both originals are back" eval "is_original sort && is_original gzip"

fresh
ln "$root/bin/sort" "$root/bin/sort.too"
check "a dry run that looks where the ledger knows as well" undo --all --dry-run "$root/bin"
check "tells of each file once" said "^2 would be restored"
rm "$root/bin/sort.too"
rm -rf "$root/store/ledger" && : >"$root/store/ledger"
check "a ledger that cannot be read" undo "$root/bin/sort"
check "the original is back" is_original sort
check "and that is said" said "/ledger.*going on by what files say"
check "with --all it is no success" test "$(undo --all "$root/bin"; echo $?)" = 1
check "but what is found comes back" is_original gzip
fresh
rm -rf "$root/store/ledger" && mkdir -m 700 "$root/store/ledger"
check "a ledger that has lost its entries: not all is undone" test "$(undo --all; echo $?)" = 3
check "says what else there is" said "2 originals are kept that the ledger does not name: --search"
check "no less in a dry run" test "$(undo --all --dry-run; echo $?)" = 3
check "the folder is searched" undo --all "$root/bin"
check "both originals are back" eval "is_original sort && is_original gzip"
fresh
o="$root/store/originals/$(original_of sort)"
rm -f "$o" && mkfifo "$o"
check "a pipe in the place of an original" test "$(undo --all; echo $?)" != 0
check "is called that" said "$(original_of sort): not a regular file"
check "the generation stays" is_generation sort
check "and the other original comes back" is_original gzip

# --- nobody reads what is said, or a limit of the shell's on files ---

fresh
mkfifo "$root/pipe"
exec {reader}<>"$root/pipe" {unread}>"$root/pipe" {reader}<&-
"$B/morphctl" --socket "$root/none" undo --store="$root/store" "$root/bin/sort" "$root/bin/gzip" 2>&$unread
exec {unread}>&-
check "with nobody who reads" eval "is_original sort && is_original gzip"
fresh
(ulimit -f 1; undo "$root/bin/sort" "$root/bin/gzip"; echo $? >"$root/code")
check "a limit on files: originals themselves take their places, or it is an error" \
	test "$(cat "$root/code")" -le 1
check "each is whole" eval "(is_original sort || is_generation sort) && (is_original gzip || is_generation gzip)"
check "nothing is beside them" test "$(ls -A "$root/bin" | wc -l)" = 2

# --- files that nobody knows ---

fresh
mv "$root/bin/sort" "$root/bin/moved"
check "a generation that was moved" undo "$root/bin/moved"
check "its original is back" is_original sort "$root/bin/moved"
mv "$root/bin/gzip" "$root/bin/moved2"
check "a user's too, with a proof" undo "$root/bin/moved2"
check "its original is back" is_original gzip "$root/bin/moved2"

# A user's file that names root's original.
fresh
head -c 5000 /dev/urandom >"$root/secret"
secret=$(sha "$root/secret")
install -m 600 "$root/secret" "$root/store/originals/$secret"
mkdir "$root/user" && chown nobody "$root/user"
claim() {		# FILE: names the secret
	perl -0777 -pi -e 'BEGIN { $d = pack "H*", shift } s/(MORPHMAP.{8}).{32}/$1$d/s or die' "$secret" "$1"
}
cp "$root/bin/sort" "$root/user/claims"
claim "$root/user/claims"
chown nobody "$root/user/claims"
sum=$(sha "$root/user/claims")
undo "$root/user/claims"
check "a user's claim is not believed ($?)" said "not shown to be a generation of the original that it names"
check "and gives nothing away" test "$(sha "$root/user/claims")" = "$sum"
check "it is refused" test "$(undo "$root/user/claims"; echo $?)" = 3
# Nor at the path of another file that Morph knows.
cp "$root/user/claims" "$root/new" && chown nobody "$root/new" && mv "$root/new" "$root/bin/gzip"
check "nor in the place of a generation" test "$(undo "$root/bin/gzip"; echo $?)" = 3
check "it stays what it is" test "$(sha "$root/bin/gzip")" = "$sum"

# --- what must stay ---

fresh
newer "$root/orig/sort" "$root/newer" 7
cp "$root/newer" "$root/bin/new" && mv "$root/bin/new" "$root/bin/sort"
check "a newer package's file" undo "$root/bin/sort"
check "is left alone" cmp "$root/newer" "$root/bin/sort"
check "and that is said" said "sort: another file is there now, which is no generation; left as it is"
check "also with --all" undo --all
check "it is left alone" cmp "$root/newer" "$root/bin/sort"
destroyed() { [ "$1" = 0 ] && : >"$root/bin/sort" || head -c "$1" "$root/saved/bin/sort" >"$root/bin/sort"; }
for n in 0 5000 $(($(stat -c %s "$root/saved/bin/sort") - 1)); do
	fresh
	destroyed $n
	check "a generation of which $n bytes are left is refused" test "$(undo "$root/bin/sort"; echo $?)" = 3
	check "for what it is" said "sort': empty or cut off: neither the generation .* nor its original; --force"
	check "with --all, too" test "$(undo --all; echo $?)" = 3
	check "others come back" is_original gzip
	check "by force its original comes back" undo --force "$root/bin/sort"
	check "byte for byte" is_original sort
done
fresh
cp "$root/newer" "$root/bin/sort"
check "by force nothing comes over a whole file" undo --force "$root/bin/sort"
check "it is left alone" cmp "$root/newer" "$root/bin/sort"
fresh
rm "$root/bin/sort"
check "a generation that was deleted" test "$(undo "$root/bin/sort"; echo $?)" = 1
check "it is said how its original comes back" said "sort': No such file .*; the original .* is kept: .install -m 755"
check "that does it" eval "$(sed -n 's/.*`\(.*\)`.*/\1/p' "$root/out")"
check "the original is back" is_original sort
fresh
rm "$root/store/originals/$(original_of sort)"
undo "$root/bin/sort"
check "without its original a generation stays ($?)" is_generation sort
check "and is called one" said "a generation of $(original_of sort), which is not in"
fresh
chmod u+w "$root/store/originals/$(original_of sort)"
printf x >>"$root/store/originals/$(original_of sort)"
check "a damaged original is not put there" test "$(undo "$root/bin/sort"; echo $?)" != 0
check "and that is said" said "its content is damaged"
check "the generation stays" is_generation sort
if command -v strip >/dev/null; then
	fresh
	strip "$root/bin/sort"
	undo "$root/bin/sort"
	check "what somebody edited stays ($?)" said "edited by somebody; --force"
	check "by force its original comes back" undo --force "$root/bin/sort"
	check "byte for byte" is_original sort
fi
fresh
setpriv --reuid nobody --clear-groups "$B/morphctl" --socket "$root/none" undo --store="$root/store" "$root/bin/gzip" \
	>"$root/out" 2>&1
rc=$?
check "others are refused ($rc)" eval '[ $rc = 3 ] && said "only root may look there"'
check "nothing happens" is_generation gzip
check "wrong usage" test "$(undo; echo $?)" = 2

# --- another system's files ---

another_system() {
	fresh
	rm -rf "$root/sys"
	mkdir -p "$root/sys"/{usr/bin,var/lib,etc} && ln -s usr/bin "$root/sys/bin"
	mv "$root/bin/sort" "$root/bin/gzip" "$root/sys/usr/bin" && mv "$root/store" "$root/sys/var/lib/morph"
}
another_system
check "--root: paths, store and originals are below it" alone undo --root="$root/sys" /bin/sort
check "the original is back" is_original sort "$root/sys/usr/bin/sort"
check "by the path that it has there" said "^/usr/bin/sort: restored"
alone undo --root "$root/sys" --all
check "a list of other paths does not know the other one ($?)" is_generation gzip "$root/sys/usr/bin/gzip"
check "--search finds it" alone undo --root "$root/sys" --all --search
check "its original is back" is_original gzip "$root/sys/usr/bin/gzip"
ln -s /etc/passwd "$root/sys/usr/bin/outside" && ln -s ../../../../../../etc/passwd "$root/sys/usr/bin/out"
alone undo --root "$root/sys" /usr/bin/outside /usr/bin/out
check "links lead nowhere else ($?)" test "$(grep -c "No such file" "$root/out")" = 2

# --- Morph goes: not while a rewritten program would be left that has a way back ---

unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir "$root/fake"
cat >"$root/fake/morphctl" <<-END
	#!/bin/sh
	[ "\$1" = undo ] && shift && exec "$B/morphctl" undo --root="$root/sys" "\$@"
END
chmod 755 "$root/fake/morphctl"
sed "s|/var/lib/morph|$root/sys&|g; s|/etc/morph.yaml|$root/sys&|g; s|/run/systemd/system|$root/none|g" \
	debian/morph.prerm >"$root/prerm"
by_make() { timeout 120 make -s B="$B" DESTDIR="$root/sys" PREFIX=/usr SYSCONFDIR=/etc uninstall >"$root/out" 2>&1; }
by_package() { PATH=$root/fake:$PATH timeout 120 sh "$root/prerm" remove >"$root/out" 2>&1; }
sys_is() { "is_$1" sort "$root/sys/usr/bin/sort" && "is_$1" gzip "$root/sys/usr/bin/gzip"; }	# original | generation
installed() { [ -e "$root/sys/usr/sbin/morphd" ]; }
store_there() {		# of an installed Morph, without what the ledger knew
	another_system
	rm "$root"/sys/var/lib/morph/ledger/*
	install -D /dev/null "$root/sys/usr/sbin/morphd" && : >"$root/sys/etc/morph.yaml"
}
for how in by_make by_package; do
	store_there
	check "$how: a ledger that has lost its entries" $how
	check "both originals are back" sys_is original
	[ $how = by_package ] || check "and Morph is gone" not installed
	store_there
	mv "$root/sys/var/lib/morph/originals/$(original_of sort)" "$root/away"
	check "$how: one that cannot come back" not $how
	check "is named" said "sort': a generation of $(original_of sort), which is not in"
	check "Morph stays" installed
	mv "$root/away" "$root/sys/var/lib/morph/originals/$(original_of sort)"
	check "and with the original it goes" $how
	check "both originals are back" sys_is original
	store_there
	rm -r "$root/sys/var/lib/morph/originals"
	check "$how: nothing can come back" $how
	check "that is said" said "there is no $root/sys/var/lib/morph/originals, so nothing can be put back"
	left=$(eval "$(grep -o 'grep -rlF .morph.map' "$root/out") $root/sys" | sort)
	check "and how to find what is left" test "$left" = "$root/sys/usr/bin/gzip
$root/sys/usr/bin/sort"
	rm "$root/sys/etc/morph.yaml"
	check "$how: where there never was one" $how
	check "that is no matter" not said "nothing can be put back"
done
how=

# --- full disks ---

full() { head -c 1G /dev/zero >"$1" 2>/dev/null; }	# FILE: takes all the room
on_one_disk() {		# bin and store on a file system of their own
	rm -rf "$root/bin" "$root/store" "$root/disk"
	mkdir "$root/disk" && mount -t tmpfs -o size=16m,mode=755 tmpfs "$root/disk" || return 1
	cp -a "$root/saved/bin" "$root/saved/store" "$root/disk"
	mkdir "$root/bin" "$root/store"
	mount --bind "$root/disk/bin" "$root/bin" && mount --bind "$root/disk/store" "$root/store"
}
off_disk() { umount "$root/bin" "$root/store" "$root/disk"; rmdir "$root/bin" "$root/store" "$root/disk"; }
mkdir "$root/try"
if mount -t tmpfs -o size=16m,mode=755 tmpfs "$root/try" 2>/dev/null; then
	cp -a "$root/saved/bin" "$root/saved/store" "$root/try"
	full "$root/try/ballast"
	check "a full disk" alone undo --store="$root/try/store" "$root/try/bin/sort"
	check "the original is back" is_original sort "$root/try/bin/sort"
	check "nothing is beside it" test "$(ls -A "$root/try/bin" | wc -l)" = 2
	umount "$root/try"
	fresh
	mount -t tmpfs -o size=4m,mode=755 tmpfs "$root/try"
	cp -a "$root/bin/sort" "$root/try"
	full "$root/try/ballast"
	undo "$root/try/sort"
	check "another file system without room: said which ($?)" \
		said "'$root/try/sort': .*room for it: No space left on device; .*in another file system"
	check "the generation runs on" is_generation sort "$root/try/sort"
	check "nothing is beside it" test "$(ls -A "$root/try" | wc -l)" = 2
	rm "$root/try/ballast"
	check "with room it goes" undo "$root/try/sort"
	check "the original is back" is_original sort "$root/try/sort"
	umount "$root/try"
else
	skip "full disks" "nothing can be mounted here"
fi

# --- a daemon that is there, but of no help ---

fresh
check_here "a daemon starts" start_daemon
rm -f "$root/store"/x
mv "$root/bin/sort" "$root/bin/moved"
by_both() { timeout 120 "$B/morphctl" --socket "$root/sock" undo --store="$root/store" "$@" >"$root/out" 2>&1; }
check "a daemon that does not know the file" by_both "$root/bin/moved"
check "the original is back" is_original sort "$root/bin/moved"
check "what the daemon does not know is not told as a failure" not said "no samples"
check "what it knows goes by it" by_both "$root/bin/gzip"
check "the original is back" is_original gzip
check "and is in its history" grep -q restored <<<"$(ctl history "$root/bin/gzip")"
manager=$(role_pid manager)
fresh_bin() { cp -a "$root/saved/bin/$1" "$root/bin/.new" && mv "$root/bin/.new" "$root/bin/$1"; }
fresh_bin sort
kill -STOP "$manager"
check "a daemon that does not answer" by_both "$root/bin/sort"
check "the original is back" is_original sort
check "that is said" said "has not answered for 10 s; going on without it"
kill -CONT "$manager"
# Destroyed, and deleted.
fresh_bin sort && ctl look >/dev/null
verified() { ctl verify "$root/bin/sort" >"$root/out" 2>&1; }
check "it is verified" verified
destroyed 5000
check "a generation that was destroyed is not" test "$(verified; echo $?)" = 1
check "nor is it called the original" said "neither generation [0-9]* nor its original, and no whole program"
check "undo refuses it" test "$(by_both "$root/bin/sort"; echo $?)" = 3
check "and says what would help" said "sort': empty or cut off: .*--force"
check "by force its original comes back" by_both --force "$root/bin/sort"
check "byte for byte" is_original sort
check "that is verified" verified
check "as the original" said "yes +the original"
fresh_bin sort && ctl look >/dev/null && cp "$root/newer" "$root/bin/sort"
check "another version is nothing to complain of" verified
check "nor is it called the original" said "yes +not rewritten: another file than generation [0-9]* was made from"
check "by force nothing comes over it" test "$(by_both --force "$root/bin/sort"; echo $?)" = 3
check "it is left alone" cmp "$root/newer" "$root/bin/sort"
rm "$root/bin/sort"
check "gone" test "$(by_both "$root/bin/sort"; echo $?)" = 1
check "it is said how its original comes back" said "sort': No such file .*; the original .* is kept: .install -m 755"
check_here "the daemon ends" stop_daemon

# A daemon that has forgotten: it must not call a generation an original.
fresh
rm "$root"/store/morph.db*
check_here "a daemon with a new database" start_daemon
work sort && taken_in
timeout 60 setpriv --reuid nobody --clear-groups "$B/morphctl" --socket "$root/sock" restore "$root/bin/gzip" >"$root/out" 2>&1
check "is not told that a generation is an original ($?)" not said "is the original already"
ctl restore "$root/bin/sort" >"$root/out" 2>&1
check "nor is root ($?)" not said "is the original already"
check "it is undone all the same" by_both "$root/bin/sort"
check "the original is back" is_original sort
check_here "the daemon ends" stop_daemon

# One whose store was put back from a copy: the generation at the path is newer than all that it knows.
fresh
check_here "a daemon that goes on" start_daemon
LC_ALL=C "$root/bin/sort" -n -k1,1 "$root/data" >/dev/null
LC_ALL=C "$root/bin/sort" -r "$root/data" >/dev/null
check "makes another generation" eval 'taken_in && ctl reoptimize "$root/bin/sort"'
check "that is another one" eval '! cmp -s "$root/bin/sort" "$root/saved/bin/sort"'
check_here "it ends" stop_daemon
rm -rf "$root/store"
cp -a "$root/saved/store" "$root"
check_here "a daemon with the older store" start_daemon
work sort && taken_in
cp -a "$root/bin/sort" "$root/later"
check "a dry run would put the original there" by_both --dry-run "$root/bin/sort"
check "nothing is edited, so nothing would be lost" not said "changed would be lost"
check "its original comes back" by_both "$root/bin/sort"
check "byte for byte" is_original sort
cp -a "$root/later" "$root/bin/sort" && ctl look >/dev/null
check "by force, too" by_both --force "$root/bin/sort"
check "byte for byte" is_original sort
check_here "the daemon ends" stop_daemon

# One that has forgotten, and has lost its ledger: before its start, and while it runs.
fresh
rm -r "$root"/store/morph.db* "$root"/store/ledger/* "$root"/store/spool/*
: >"$root/log"
check_here "a daemon with nothing but originals" start_daemon
check "says how many there are" grep -q "2 originals are kept that the ledger does not name: .*undo --all --search" "$root/log"
check "it knows of no generation; not all is undone" test "$(by_both --all; echo $?)" = 3
check "it says so" said "no module has a generation"
check "and that is said" said "2 originals are kept that the ledger does not name: --search"
check "nor is it asked where a folder is not there" test "$(by_both --all "$root/bin/none"; echo $?)" = 1
check "that is told" said "/bin/none': No such file or directory; nothing was done"
check "and nothing else" not said "no module has a generation"
rm -r "$root/store/ledger"
check "no more when the ledger is deleted" test "$(by_both --all; echo $?)" = 3
check "and that is said" said "2 originals are kept that the ledger does not name: --search"
knows_sort() { work sort && taken_in && [ "$(listed sort generation)" = 1 ]; }
check "it gets to know the generation" within 60 knows_sort
check "and refuses it" test "$(by_both --all; echo $?)" = 3
check "for that reason" said "the ledger knows no such generation of it"
check "the folder is searched for what the daemon refuses" by_both --all "$root/bin"
check "both originals are back" eval "is_original sort && is_original gzip"
check "what nobody has rewritten is called that" by_both /etc/passwd
check "by what is there, not by samples" said "^/etc/passwd: no generation made by Morph; left as it is"
check "what is not there is gone" test "$(by_both "$root/bin/nosuch"; echo $?)" = 1
check_here "the daemon ends" stop_daemon

# One that has lost the originals, too.
fresh
rm -r "$root"/store/morph.db* "$root"/store/ledger/* "$root"/store/spool/* "$root"/store/originals/*
check_here "a daemon with nothing at all" start_daemon
explained() { work sort && taken_in >/dev/null && ctl explain "$root/bin/sort" >"$root/out" 2>&1; }
check "explain knows the program" within 60 explained
check "and does not call it an original" said "A generation runs whose original is not known"
check_here "the daemon ends" stop_daemon
done_testing
