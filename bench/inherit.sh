#!/bin/bash
# inherit.sh - what a profile of one version of a program is worth for another, between versions that Debian
# delivered
#
# Both versions are trained alike, by the training of bench/speed.sh.  The newer one is laid out by its own
# profile and by what it inherits of the older one's, and both are held against the complete profile of an
# input that was not used.  Nothing is timed: the figures are the same on any machine.
#
#	PAIRS="NAME:OLDER:NEWER ..."	which (below); OLDER and NEWER are suites of Debian
#	SAMPLES=N			20000; 0: complete counts alone
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
s=bookworm-security
PAIRS=${PAIRS:-perl:bookworm:$s python3.11:bookworm:$s git:$s:bookworm openssl:bookworm:$s php:bookworm:$s
	nginx:bookworm:$s postgres:bookworm:$s xz:bookworm:$s libxml2:$s:bookworm gs:bookworm:$s
	perl:bullseye:bookworm gawk:bullseye:bookworm bash:bullseye:bookworm git:bullseye:bookworm
	gzip:bullseye:bookworm dash:bullseye:bookworm grep:bullseye:bookworm}
SAMPLES=${SAMPLES-20000} POOL=${POOL:-25000} LIMIT=${LIMIT:-900}
BENCH_WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/inherit}
. bench/common.bash
. bench/programs.bash
PROGRAMS=$(tr ' \t' '\n\n' <<<"$PAIRS" | cut -d : -f 1 | sort -u | xargs)
prepare_machine

APT=$BENCH_WORK/apt
apt_of() {		# COMMAND...: an apt that knows these suites alone, and changes nothing of the system
	apt-get -qq -o Dir::State="$APT/state" -o Dir::Cache="$APT/cache" -o Dir::Etc::sourcelist="$APT/list" \
		-o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root "$@"
}
mkdir -p "$APT/state/lists/partial" "$APT/cache/archives/partial" "$APT/debs"
cat >"$APT/list" <<'L'
deb http://deb.debian.org/debian bullseye main
deb http://deb.debian.org/debian bookworm main
deb http://deb.debian.org/debian-security bullseye-security main
deb http://deb.debian.org/debian-security bookworm-security main
L
apt_of update >&2 || { echo "skipped: packages of other versions cannot be fetched"; exit 0; }
result inherit "What a profile is worth for the next version"

package() {		# NAME: of the program's or library's file
	case $1 in
	perl) echo perl-base ;;
	python3.11) echo python3.11-minimal ;;
	openssl) echo libssl3 ;;
	php) echo php8.2-cli ;;
	postgres) echo postgresql-15 ;;
	xz) echo liblzma5 ;;
	gs) echo libgs10 ;;
	sqlite3) echo libsqlite3-0 ;;
	*) echo "$1" ;;
	esac
}

# The program's file in that suite's package, unpacked; and the package's version.
unpack() {		# NAME SUITE FILE
	local deb to=$APT/root/$1.$2 p
	p=$(package "$1")
	if [ ! -s "$to/version" ]; then
		rm -rf "$to" "$APT"/debs/* && mkdir -p "$to" || return
		(cd "$APT/debs" && apt_of download "$p/$2") >&2 || return
		deb=$(ls "$APT"/debs/*.deb) && dpkg -x "$deb" "$to" && dpkg -f "$deb" Version >"$to/version" || return
	fi
	# with usrmerge or without
	for p in "$to$3" "$to${3#/usr}"; do
		[ -e "$p" ] && { echo "$p"; return; }
	done
	echo "$1: no $3 in $2" >&2
	return 1
}

# Of the executions of branches with several ways out, by the complete profile: how many lie where the likelier
# way is the same.
right_ways() {		# COMPLETE INHERITED
	awk '$1 != "edge" { next }
		FNR == NR { all[$2] += $4; if ($4 > most[$2]) { most[$2] = $4; way[$2] = $3 } ways[$2]++; next }
		$4 > guess[$2] { guess[$2] = $4; to[$2] = $3 }
		END {
			for (b in all)
				if (ways[b] > 1) { n += all[b]; if (to[b] == way[b]) right += all[b] }
			printf "%.1f", n ? 100 * right / n : 0
		}' "$1" "$2"
}

share() { awk -v o="$1" -v x="$2" -v c="$3" 'BEGIN { if (o > c) printf "%.3f", (o - x) / (o - c); else printf "-" }'; }

# Lays the program out by what it inherits: sets inherited (taken branches) and told, by which there is one.
inherit() {		# PROFILE VARIANT
	local out=$P/$2.profile
	"$B/morph-edit" inherit "$(variant_dir original)/$file" --signature "$older.signature" --profile "$1" -o "$out" \
		--json >"$T/told" 2>>"$T/log" && lay_out "$2" "$out" >&2 || return
	told=$(jq -r '.inherited[0] | "\(.matched) of \(.functions) | \(.matched_pct * 10 | round / 10)"' "$T/told")
	read -r inherited _ <<<"$(figures "$2")"
	"$B/morph-edit" infer "$(variant_dir original)/$file" --profile "$out" -o "$T/counts" >>"$T/log" 2>&1
	right=$(right_ways "$P/exact-test.profile" "$T/counts")
}

measure() {		# NAME OLDER NEWER WORKLOAD FILE PROGRAM
	local name=$1 from=$2 to=$3 load_of=$4 at=$5 program=$6 f older original complete own inherited told right rest row
	f=$(unpack "$name" "$from" "$at") || return
	[ "$program" = "$at" ] && program=$f
	program_load "$name.$from" "$load_of" "$f" "$program"
	older=$P/older
	prepare_program >&2 && prepare_profile exact >&2 &&
		"$B/morph-edit" analyze "$(variant_dir original)/$file" --signature "$older.signature" >/dev/null || return
	cp "$P/exact.profile" "$older.exact" || return
	[ "$SAMPLES" = 0 ] || { prepare_profile "$SAMPLES" >&2 && cp "$P/$SAMPLES.profile" "$older.samples"; } || return

	f=$(unpack "$name" "$to" "$at") || return
	[ "$6" = "$at" ] && program=$f
	program_load "$name.$to.new" "$load_of" "$f" "$program"
	prepare_program >&2 && prepare_profile exact >&2 && count_exact exact-test "" test >&2 &&
		lay_out complete "$P/exact.profile" >&2 || return
	read -r original rest <<<"$(figures original)"
	read -r complete rest <<<"$(figures complete)"
	inherit "$older.exact" inherited-exact || return
	row="| $name | $(cat "$APT/root/$name.$from/version") | $(cat "$APT/root/$name.$to/version") | $told | $right"
	row="$row | $original | $complete | $inherited | $(share "$original" "$inherited" "$complete")"
	if [ "$SAMPLES" != 0 ] && prepare_profile "$SAMPLES" >&2 && lay_out own-samples "$P/$SAMPLES.profile" >&2; then
		read -r own rest <<<"$(figures own-samples)"
		inherit "$older.samples" inherited-samples || return
		row="$row | $(share "$original" "$own" "$complete") | $(share "$original" "$inherited" "$complete")"
	fi
	echo "$row |"
}

echo "Executions on the test's input of the newer version, by its complete profile. \`recognised\`: functions with weight"
echo "in the older version's complete profile of the training, and the share of that weight whose blocks were recognised."
echo "\`ways right\`: the share of the executions of branches at which the likelier way is what the inherited profile says."
echo "\`share\`: of the gain in taken branches that the newer version's own complete profile of the training has$([ "$SAMPLES" = 0 ] || echo "; by
$SAMPLES samples of the newer version, and by as many of the older one, as well")."
echo
heading="| program | older | newer | recognised | weight, % | ways right, % | taken: original | complete | inherited | share |"
[ "$SAMPLES" = 0 ] || heading="$heading own samples | inherited samples |"
echo "$heading"
sed -E 's/[^|]+/---/g' <<<"$heading"
for pair in $PAIRS; do
	IFS=: read -r name from to <<<"$pair"
	line=$(programs_all | awk -v n="$name" '$1 == n' | head -n 1)
	[ "$line" ] && measure "$name" "$from" "$to" $(cut -d ' ' -f 2- <<<"$line") ||
		echo "$pair: not measured" >&2
done
result_end
