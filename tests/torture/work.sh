#!/bin/bash
# work.sh PATTERN - programs with a known workload: originals and generations side by side
#
# A workload is a file NAME.sh in the folder TORTURE_WORKS (default: work) that is sourced, behind the folder's
# common.bash, and defines
#
#	packages	Debian packages it needs; sources: source packages
#	files		prints the files to be moved, real paths, one a line
#	prepare		fills the empty folder it is called in (optional)
#	run		works in a copy of that folder
#
# Every run is in a mount namespace of its own where each of the files is covered by what is under
# test: a copy of the original, or its generation.  So paths, argv[0], /proc/self/exe and everything
# that starts these programs by name are the same.  Addresses are not randomised, the environment is
# empty but for PATH, HOME and the locale.
#
# The original runs three times, the second and third time with randomised addresses: a generation is
# longer, so its heap is elsewhere, and what prints addresses or sorts by them differs in it with as
# much right as in the original itself.  Where the original's output varies, only lines "unit NAME ..."
# that came out the same all three times count, and at least nine of ten must.  A unit that differs in a
# generation gets a second run there: on a busy machine some measure time; the report names those that
# were the same only then.  What is missing is a skip with its reason.  A line for each order goes to
# $STATE/work-lines, kept in $STATE/work-EDITOR by content of files and workload.
#
# No file is run whose generation is not proven: an order that has one has failed.
#
# A run that was ended because it took longer than TORTURE_WORK_S seconds (default 3600) says nothing
# about its output: it failed, and is not kept, so that it is tried again.
set -u
shopt -s extglob
. tests/torture/common.bash
here=$(realpath tests/torture/work)
works=$(realpath "${TORTURE_WORKS:-$here}")
export SOURCES=$STATE/sources TORTURE_HERE=$here
kept=$STATE/work-$EDITOR
gens=$STATE/generations-$EDITOR
mkdir -p "$kept" "$gens" "$SOURCES" "$TORTURE_TMP"
trap 'rm -rf "$gens"' EXIT
PATH=/usr/sbin:/usr/bin:/sbin:/bin	# not what somebody put in front of the distribution
W=$TORTURE_TMP/work
RANDOM_RUNS="random-1 random-2"
RUN_S=${TORTURE_WORK_S:-3600}
. tests/torture/fetch.bash
. "$here/common.bash"
[ "$works" = "$here" ] || . "$works/common.bash"

line() {		# NAME FILES ORDER RESULT NOTE
	printf 'work=%s\tfiles=%s\torder=%s\tresult=%s\tnote=%s\n' "$@"
}

# A proven generation in $gens; the same for every workload.
generation() {		# FILE ORDER: leaves $made, or the reason in $W/err when there is none
	made=$gens/$(sha256sum "$1" | cut -c 1-16).$2
	[ -e "$made" ] || { order_options "$2" "$1" "$W" && made_of "$1" "$made.new" && mv "$made.new" "$made"; }
	[ -e "$made" ] && chmod --reference="$1" "$made" && chown --reference="$1" "$made"
}

# What is neither proven nor refused by the Editor is not run: its workload has failed.
made_of() {		# FILE GENERATION, by $order_options
	limited "$EDIT" optimize "$1" "${order_options[@]}" -o "$2"
	[ "$end" != 3 ] || return
	[ "$end" = 0 ] && limited "$VERIFY" "$1" "$2" && return
	echo "not proven: $1: $end $(head -n 1 "$W/err")" >>"$W/unproven"
	return 1
}

limited() {		# COMMAND...: leaves $end
	"$LIMITED" "$TORTURE_CPU" "$TORTURE_MEM" "$@" 3>/dev/null 2>"$W/err" >"$W/end"
	read -r end _ <"$W/end" && [ "$end" = 0 ]
}

# Runs the workload with the pairs COVER<TAB>FILE of $W/map mounted; leaves $W/$2.{out,err,rc}.
record() {		# NAME AS ADDRESSES: fixed or random
	local fixed=
	[ "$3" = random ] || fixed="setarch -R"
	rm -rf "$W/here" && cp -a "$W/prepared" "$W/here" || return 1
	timeout --kill-after=10 "$RUN_S" unshare -m --propagation private $fixed \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$W/here" \
		LC_ALL=C.UTF-8 TZ=UTC SOURCES="$SOURCES" TORTURE_HERE="$here" \
		bash tests/torture/inside.sh "$works/$1.sh" "$W/map" "$W/here" \
		>"$W/$2.out" 2>"$W/$2.err" </dev/null
	echo $? >"$W/$2.rc"
}

# Says so when the run was ended because of the time it took.
ended() {		# AS
	case $(cat "$W/$1.rc") in
	124 | 137) echo "ended after $RUN_S s, not by itself" ;;
	*) return 1 ;;
	esac
}

same() {		# AS AS: a sentence about the first difference, or nothing
	local part
	for part in rc err out; do
		cmp -s "$W/$1.$part" "$W/$2.$part" && continue
		printf '%s: ' "$part"
		diff -a "$W/$1.$part" "$W/$2.$part" | sed -n 2,3p | tr -d '\000-\010\016-\037' | tr '\t|\n' '  ;' |
			cut -c 1-300
		return 1
	done
}

# The units that came out the same in all runs of the original.
stable_units() {
	local as all
	grep '^unit ' "$W/original.out" | sort >"$W/units"
	all=$(wc -l <"$W/units")
	for as in $RANDOM_RUNS; do
		grep '^unit ' "$W/$as.out" | sort | comm -12 "$W/units" - >"$W/units.both"
		mv "$W/units.both" "$W/units"
	done
	[ "$all" -gt 0 ] && [ $(($(wc -l <"$W/units") * 10)) -ge $((all * 9)) ]
}

units_lost() {		# AS...: units that none of the runs has
	cat "${@/#/$W/}" | grep '^unit ' | sort -u | comm -23 "$W/units" - >"$W/lost"
	head -n 3 "$W/lost" | tr '\t|\n' '  ;' | cut -c 1-300
}

compare() {		# NAME AS: leaves $result and $note
	local late=
	if note=$(ended "$2"); then
		result=failed
		return
	fi
	if [ "$varies" = 0 ]; then
		note=$(same original "$2")
	else
		note=$(units_lost "$2.out")
	fi
	if [ -n "$note" ] && [ -s "$W/units" ]; then
		late=$note
		record "$1" "$2-again" fixed
		if note=$(ended "$2-again"); then
			result=failed note="the second run $note; the first: $late"
			return
		fi
		note=$(units_lost "$2.out" "$2-again.out")
	fi
	result=same
	[ -z "$note" ] || result=different
	if [ -z "$note" ] && [ -s "$W/units" ]; then
		note="$(grep -c '^unit ' "$W/original.out") units"
		[ "$varies" = 0 ] || note="$note, $(wc -l <"$W/units") of them always the same in the original"
		[ -z "$late" ] || note="$note; the same only in a second run: $late"
	fi
	[ -z "$left" ] || note="$note; not moved: $left"
}

map_of() {		# ORDER: writes $W/map, leaves $count and $left: three of those with the same reason
	local f
	count=0
	: >"$W/map"
	: >"$W/left"
	: >"$W/unproven"
	while read -r f; do
		if [ "$1" = original ]; then
			cp -p "$f" "$W/covers/$(sha256sum "$f" | cut -c 1-16)"
			made=$W/covers/$(sha256sum "$f" | cut -c 1-16)
		elif ! generation "$f" "$1"; then
			printf '%s\t%s\n' "${f##*/}" "$(sed "s/^morph-[a-z]*: //; s|^'[^']*': ||" "$W/err" |
				head -n 1)" >>"$W/left"
			continue
		fi
		count=$((count + 1))
		printf '%s\t%s\n' "$made" "$f" >>"$W/map"
	done <"$W/files"
	left=$(awk -F '\t' '
		!($2 in n) { reason[++reasons] = $2 }
		++n[$2] <= 3 { names[$2] = names[$2] $1 " " }
		END {
			for (i = 1; i <= reasons; i++) {
				more = n[reason[i]] - 3
				printf "%s%s(%s) ", names[reason[i]],
					(more > 0 ? "and " more " more " : ""), reason[i]
			}
		}' "$W/left")
}

# The runs of the original; leaves $varies.  Prints a line and fails when there is nothing to compare with.
original() {		# NAME
	local as
	map_of original
	record "$1" original fixed
	if note=$(ended original); then
		line "$1" - - failed "the original: $note"
		return 1
	fi
	if [ "$(cat "$W/original.rc")" != 0 ] || [ ! -s "$W/original.out" ]; then
		line "$1" - - failed "the original ends with $(cat "$W/original.rc"): $(tail -n 1 \
			"$W/original.err" | tr '\t|' '  ' | cut -c 1-200)"
		return 1
	fi
	if grep -q '^unit ' "$W/original.out" && [ "$(grep -c '^unit ' "$W/original.out")" -lt 10 ]; then
		line "$1" - - failed "the original has only $(grep -c '^unit ' "$W/original.out") units"
		return 1
	fi
	varies=0
	for as in $RANDOM_RUNS; do
		record "$1" "$as" random
		if note=$(ended "$as"); then
			line "$1" - - failed "the original, with random addresses: $note"
			return 1
		fi
		same original "$as" >>"$W/varying" || varies=1
	done
	if ! stable_units && [ "$varies" = 1 ]; then
		line "$1" - - failed "the original differs from itself: $(head -n 1 "$W/varying")"
		return 1
	fi
}

one() {			# NAME
	local name=$1 key why order
	rm -rf "$W" && mkdir -p "$W/prepared" "$W/covers"
	packages= sources=
	prepare() { :; }
	. "$works/$name.sh"
	if ! why=$(missing_packages $packages) || ! why=$(missing_sources $sources); then
		line "$name" - - skipped "$why"
		return
	fi
	rm -f "$W/unbuilt"
	files | sort -u >"$W/files"
	if [ -e "$W/unbuilt" ]; then		# what a workload makes itself is not missing
		line "$name" - - failed "$(cat "$W/unbuilt")"
		return
	fi
	if [ ! -s "$W/files" ]; then
		line "$name" - - skipped "this machine has none of its files"
		return
	fi
	key=$(cat "$works/$name.sh" "$W/files" $(cat "$W/files") | sha256sum | cut -c 1-16)
	if ! (cd "$W/prepared" && prepare >"$W/prepare.log" 2>&1); then
		line "$name" - - failed "prepare: $(tail -n 1 "$W/prepare.log" | tr '\t|' '  ' | cut -c 1-200)"
		return
	fi
	varies=
	for order in layout $ORDERS; do
		if [ -e "$kept/$name-$key-$order" ]; then
			cat "$kept/$name-$key-$order"
			continue
		fi
		if [ -z "$varies" ]; then
			original "$name" || return
		fi
		map_of "$order"
		if [ -s "$W/unproven" ]; then
			line "$name" "$count" "$order" failed "$(head -n 1 "$W/unproven" | tr '\t|' '  ')"
			continue
		fi
		if [ "$count" = 0 ]; then
			line "$name" 0 "$order" skipped "nothing of it can be moved: $left"
			continue
		fi
		record "$name" "$order" fixed
		compare "$name" "$order"
		rm -rf "$kept/$name-$order.failed"
		[ "$result" = same ] || { mkdir -p "$kept/$name-$order.failed"
			cp "$W/original".* "$W/$order".* "$W/map" "$kept/$name-$order.failed"; }
		line "$name" "$count" "$order" "$result" "$note" >"$W/line"
		cat "$W/line"
		[ "$result" = failed ] || cp "$W/line" "$kept/$name-$key-$order"
	done
}

for script in "$works"/*.sh; do
	name=$(basename "$script" .sh)
	case $name in
	$1) ;;
	*) continue ;;
	esac
	if ! unshare -m --propagation private true 2>/dev/null; then
		line "$name" - - skipped "mount namespaces need root" | tee -a "$STATE/work-lines"
		continue
	fi
	(one "$name") | tee -a "$STATE/work-lines" | sed 's/	/  /g; s/[a-z]*=//g'
done
