#!/bin/bash
# hardlinks.sh - a program with several names (hard links), as Debian's perl is: laid out and put back under all of
# them, by the daemon, without it, from another root, after kills; and what becomes of names meanwhile
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/newer.bash
need_root
make_root sort
sed -i 's|hard_links: true.*|hard_links: false|; s|include: .*|include: ["'"$root"'/bin/*", "'"$root"'/other/*"]|' "$root/morph.yaml"
# Two names in one folder, and one in another, which the package's list tells.
mkdir -p "$root/other" "$root/host/var/lib/dpkg/info" "$root/host/proc" "$root/host/etc"
ln "$root/bin/sort" "$root/bin/sort5.36"
ln "$root/bin/sort" "$root/other/sort-too"
printf '%s\n' /. "$root/bin/sort" "$root/other/sort-too" "$root/bin/sort5.36" >"$root/host/var/lib/dpkg/info/sorting.list"
names=("$root/bin/sort" "$root/bin/sort5.36" "$root/other/sort-too")
chmod 751 "$root/bin/sort"
touch -d '2001-02-03 04:05:06.789' "$root/bin/sort"
was=$(stat -c '%U %a %y' "$root/bin/sort")
seq 100000 | shuf >"$root/data"
work() { LC_ALL=C "${1:-$root/bin/sort}" "$root/data" >/dev/null; }

one_file() {		# all names are one, and there is no other
	local n
	[ "$(stat -c '%h' "$root/bin/sort")" = "${#names[@]}" ] || { stat "${names[@]}"; return 1; }
	for n in "${names[@]}"; do
		[ "$n" -ef "$root/bin/sort" ] || { ls -li "${names[@]}"; return 1; }
	done
	[ "$(ls -A "$root/bin" "$root/other" | grep -c '^[.]morph')" = 0 ] || { ls -lA "$root/bin" "$root/other"; return 1; }
}
are_original() { one_file && cmp "$root/orig/sort" "$root/bin/sort" && [ "$(stat -c '%U %a %y' "$root/bin/sort")" = "$was" ]; }
are_generation() { one_file && "$B/morph-verify" "$root/orig/sort" "$root/bin/sort"; }
said() { grep -qE "$1" "$root/out" || { cat "$root/out"; return 1; }; }
asked() { ctl "$@" >"$root/out" 2>&1; }
sorts() { ctl list --json 2>/dev/null | grep -o '"path": "[^"]*sort[^"]*"' | sort -u; }

check_here "the daemon starts" start_daemon --host "$root/host"
check "it has samples" sampled sort 60 work
work "$root/bin/sort5.36"; work "$root/bin/sort5.36"; work "$root/other/sort-too"
taken_in
check "what runs by another name is the same module" test "$(sorts)" = "\"path\": \"$root/bin/sort\""
check "what will be done is told beforehand" eval 'asked policy show "$root/bin/sort"; said "bin/sort +yes .*with its other names .*sort5.36" && said "other/sort-too"'
check "laid out anew" asked reoptimize "$root/bin/sort"
check "all names are the generation" are_generation
check "the history tells under which" eval 'asked history "$root/bin/sort"; said "installed .*also as .*sort5.36" && said "sort-too"'
check "root's log, too" grep -q "swapped '$root/bin/sort'.*also as .*sort5.36" "$root/log"
check "the ledger has each of them" test "$(grep -l "^path $root/\(bin\|other\)/sort" "$root"/store/ledger/* | wc -l)" = 3
work "$root/bin/sort5.36"
check "another generation by another name" asked reoptimize "$root/bin/sort5.36"
check "all names are it" are_generation
check "restored by another name" asked restore "$root/other/sort-too"
check "and that is said" said "restored, also as"
check "all names are the original, as it was" are_original

# --- what is refused, and said beforehand ---

refused() {		# PATTERN: beforehand and when it is asked for; nothing is touched
	asked policy show "$root/bin/sort"
	said "bin/sort +no .*$1" || return 1
	asked explain "$root/bin/sort"
	said "$1" || return 1
	asked reoptimize "$root/bin/sort"
	[ $? = 3 ] && said "$1" && cmp "$root/orig/sort" "$root/bin/sort"
}
ln "$root/bin/sort" "$root/elsewhere"
check "a name that cannot be found is a reason" refused "4 hard links, of which 3 were found; .*modules.hard_links"
check "and told in the history once" test "$(ctl history "$root/bin/sort" | grep -c 'refused.*hard links')" = 1
rm "$root/elsewhere"
sed -i 's|"'"$root"'/other/\*"|"'"$root"'/none/*"|' "$root/morph.yaml"
ctl policy reload >/dev/null 2>&1
check "a name that is not among the policy's modules is a reason" refused "other name '$root/other/sort-too' is not among"
sed -i 's|"'"$root"'/none/\*"|"'"$root"'/other/*"|' "$root/morph.yaml"
ctl policy reload >/dev/null 2>&1
chmod 777 "$root/other"
check "a name in a folder that others can write is a reason" refused "others can write its directory"
chmod 755 "$root/other"
chown nobody "$root/other"
check "one in another user's folder, too" refused "belongs to another user"
chown root "$root/other"
ln "$root/bin/sort" "$root/elsewhere"
sed -i 's|hard_links: false|hard_links: true|' "$root/morph.yaml"
ctl policy reload >/dev/null 2>&1
check "allowed, it keeps what it has" asked reoptimize "$root/bin/sort"
check "the others are the generation" "$B/morph-verify" "$root/orig/sort" "$root/other/sort-too"
check "it is the original" cmp "$root/orig/sort" "$root/elsewhere"
rm "$root/elsewhere"
check "restored" asked restore "$root/bin/sort"
check "all names are the original" are_original
sed -i 's|hard_links: true|hard_links: false|' "$root/morph.yaml"
ctl policy reload >/dev/null 2>&1

# In a folder that the manager has no way into, so that the parent is asked whose a name is.
mkdir "$root/bin/closed"
cp "$root/orig/sort" "$root/bin/closed/sort"
for n in one two; do ln "$root/bin/closed/sort" "$root/bin/closed/$n"; done
chmod 700 "$root/bin/closed"
cp "$root/morph.yaml" "$root/without.yaml"
sed -i 's|include: \[|&"'"$root"'/bin/closed/*", |' "$root/without.yaml"
for n in one two; do
	{ cat "$root/without.yaml"; printf 'rules:\n- {name: not this, paths: ["%s"], refuse: true}\n' "$root/bin/closed/$n"; } >"$root/morph.yaml"
	ctl policy reload >/dev/null 2>&1
	check "a name that a rule refuses is a reason ($n)" eval 'asked policy show "$root/bin/closed/sort"; said "closed/sort +no .*refuses its other name .*closed/$n"'
done
rm -r "$root/bin/closed"
sed -e "s|\"$root/bin/closed/\*\", ||" "$root/without.yaml" >"$root/morph.yaml"
ctl policy reload >/dev/null 2>&1

# --- kills ---

kills=0
killed_swap() {		# reoptimize|restore: the parent is killed somewhere in its exchanges
	local pid i
	ctl "$1" "$root/bin/sort" >/dev/null 2>&1 &
	pid=$!
	for i in $(seq 20000); do
		if [ -e "$root/store/originals/"journal-* ]; then
			kill -9 "$daemon"
			kills=$((kills + 1))
			break
		fi 2>/dev/null
		kill -0 $pid 2>/dev/null || break
	done
	wait $pid 2>/dev/null
	kill -9 "$daemon" 2>/dev/null		# the moment may have been missed
	wait "$daemon" 2>/dev/null
}
right() { are_original || are_generation; }
for i in 1 2 3 4; do
	asked restore "$root/bin/sort"
	killed_swap reoptimize
	for n in "${names[@]}"; do
		check "kill $i: ${n##*/} works" work "$n"
	done
	daemon=
	check_here "the daemon comes back" start_daemon --host "$root/host"
	check "all names are one file again" right
done
note "$kills of 4 were killed with a journal, $(grep -c 'interrupted swap' "$root/log") of them recovered"
asked restore "$root/bin/sort"

# --- without the daemon ---

check "laid out anew" asked reoptimize "$root/bin/sort"
check "all names are the generation" are_generation
check_here "the daemon ends" stop_daemon
mkdir "$root/saved" && cp -a "$root/bin" "$root/other" "$root/store" "$root/saved" || exit 1
fresh() {		# as it was then, one file with three names
	rm -rf "$root/bin" "$root/other" "$root/store"
	(cd "$root/saved" && tar cf - --format=posix bin other store) | (cd "$root" && tar xpf -)
}
alone() { timeout 120 "$B/morphctl" --socket "$root/none" "$@" >"$root/out" 2>&1; }
undo() { alone undo --store="$root/store" "$@"; }
fresh
check "as it was" are_generation
check "undo by one name" undo "$root/bin/sort5.36"
check "all names are the original" are_original
check "that is said" said "sort5.36: restored, also as .*bin/sort"
fresh
check "undo --all" undo --all
check "all names are the original" are_original
check "it is one file" said "^1 restored"
fresh
rm -rf "$root/store/ledger" "$root"/store/morph.db*
check "without ledger and database" undo "$root/bin/sort"
check "what is in its folder comes back" test "$root/bin/sort" -ef "$root/bin/sort5.36"
check "the original" cmp "$root/orig/sort" "$root/bin/sort5.36"
check "what cannot be found is told of" said "under 1 other name the file stays as it is"
check "and comes back by its own name" undo "$root/other/sort-too"
check "the original" cmp "$root/orig/sort" "$root/other/sort-too"
fresh
check "a dry run" undo --dry-run "$root/bin/sort"
check "changes nothing" are_generation
fresh
mkdir -p "$root/sys$root" "$root/sys/var/lib" && mv "$root/bin" "$root/other" "$root/sys$root" && mv "$root/store" "$root/sys/var/lib/morph"
check "in another system's files" alone undo --root="$root/sys" "$root/bin/sort"
for n in "${names[@]}"; do
	check "${n##*/} is the original" cmp "$root/orig/sort" "$root/sys$n"
	check "one file" test "$root/sys$n" -ef "$root/sys$root/bin/sort"
done
rm -rf "$root/sys"

# An undo that was killed between two names: some have the original, others the generation.
fresh
cp -a "$root/orig/sort" "$root/bin/new" && chmod 751 "$root/bin/new" && mv "$root/bin/new" "$root/bin/sort"
touch -d '2001-02-03 04:05:06.789' "$root/bin/sort"
check "half of an undo: the next one goes on" undo "$root/bin/sort"
check "all names are one file again, the original" are_original
check "and that is said" said "sort: is the original already; '.*', another name of it, got it back"

# More names than are swapped at once: somebody linked the generation since.
more() { local i; for i in $(seq 40); do ln "$root/bin/sort" "$root/bin/more$i"; done; }
all_more() {
	local n
	[ "$(stat -c %h "$root/bin/sort")" = 43 ] || { stat "$root/bin/sort"; return 1; }
	for n in "${names[@]}" "$root"/bin/more*; do
		[ "$n" -ef "$root/bin/sort" ] || { ls -li "$root/bin"; return 1; }
	done
	cmp "$root/orig/sort" "$root/bin/more17" && [ -z "$(find "$root/bin" "$root/other" -name '.morph*')" ]
}
fresh
more
check "a file with more names than are swapped at once" undo --all
check "all of them are the original" all_more
check "and that is said" said "restored, and under 27 more names"
fresh
check_here "a daemon starts" start_daemon --host "$root/host"
check "another generation" asked reoptimize "$root/bin/sort"
more
check "what the daemon leaves comes back with it" asked restore "$root/bin/sort"
check "all of them are the original" all_more
check_here "the daemon ends" stop_daemon

# A package that replaces one name, and then the other.
fresh
newer "$root/orig/sort" "$root/newer" 7
cp "$root/newer" "$root/bin/new" && mv "$root/bin/new" "$root/bin/sort"
check "one name was replaced: it stays" undo --all
check "what is newer" cmp "$root/newer" "$root/bin/sort"
check "the others are the original" cmp "$root/orig/sort" "$root/bin/sort5.36"
check "one file" test "$root/bin/sort5.36" -ef "$root/other/sort-too"
fresh
check_here "the daemon starts" start_daemon --host "$root/host"
install -m 755 "$root/newer" "$root/bin/.sort.dpkg-new"
ln "$root/bin/.sort.dpkg-new" "$root/bin/.sort5.36.dpkg-new"
ln "$root/bin/.sort.dpkg-new" "$root/other/.sort-too.dpkg-new"
for n in "${names[@]}"; do
	mv "$(dirname "$n")/.$(basename "$n").dpkg-new" "$n"
done
work; work "$root/bin/sort5.36"
check "a package that replaced all names is noticed" within 30 eval 'taken_in; asked list; ! said "sort .*install"; [ "$(listed sort generation)" = 0 ]'
check "its file stays" cmp "$root/newer" "$root/bin/sort5.36"
check "it has samples" sampled sort 60 work
check "and is laid out anew" asked reoptimize "$root/bin/sort"
check "under all names" one_file
check "the new one" "$B/morph-verify" "$root/newer" "$root/other/sort-too"
check "restored" asked restore --all
check "the new one is back under all names" eval 'one_file && cmp "$root/newer" "$root/other/sort-too"'
check_here "the daemon ends" stop_daemon

# --- by itself ---

rm -rf "$root/store" "${names[@]}"
cp "$root/orig/sort" "$root/bin/sort"
cp "$root/orig/sort" "$root/bin/sort5.36"	# a file of its own yet, which is refused as well
ln "$root/bin/sort5.36" "$root/elsewhere2"
for n in "${names[2]}" "$root/elsewhere"; do
	ln "$root/bin/sort" "$n"
done
{
	always_idle | sed "s|hard_links: true|hard_links: false|; s|include: .*|include: [\"$root/bin/*\", \"$root/other/*\"]|"
	printf "%s\n" "optimize:" "  automatic: true" "  min_samples: 20" "  max_unseen_pct: 100" "  observe_first_h: 0" "  count: off"
} >"$root/morph.yaml"
check_here "the daemon starts" start_daemon --host "$root/host"
until_it() {		# COMMAND...: holds, with work going on; within a minute or so
	local end=$(($(date +%s) + 90))
	while [ "$(date +%s)" -lt $end ]; do
		work; work "$root/bin/sort5.36"
		"$@" >"$root/it" 2>&1 && return 0
	done
	cat "$root/it"; ctl list --wide; tail -n 20 "$root/log"
	return 1
}
judged() { ctl list --wide | grep -q "3 hard links, of which 2 were found"; }
check "what it would be refused for is its verdict" until_it judged
check "nothing is tried" not grep -q refused <<<"$(ctl history 2>&1)"
check "it is the original" cmp "$root/orig/sort" "$root/bin/sort"
check "so has the other one" within 60 eval 'work "$root/bin/sort5.36"; taken_in; [ -n "$(listed sort5.36 samples)" ]'
ln -f "$root/bin/sort" "$root/bin/sort5.36"	# two that were modules are one file
rm "$root/elsewhere" "$root/elsewhere2"
check "without the name that cannot be found it is laid out by itself" until_it are_generation
taken_in
fewer=sort more=sort5.36
awk -v x="$(listed sort samples)" -v y="$(listed sort5.36 samples)" 'BEGIN { exit !(x + 0 > y + 0) }' && fewer=sort5.36 more=sort
asked reoptimize "$root/bin/$fewer"
check "of the two modules the one with more samples lays it out ($?)" \
	said "bin/$fewer': the file is '$root/bin/$more' as well, of which there are more samples"
check "that one does" asked reoptimize "$root/bin/$more"
check "it stays one file" one_file
check_here "the daemon ends" stop_daemon
done_testing
