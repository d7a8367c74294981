#!/bin/bash
# cross.sh - layouts made for one use, or for two, and measured on another of the same program
#
#	bench/cross.sh [prepare|measure|report]...	stages as bench/stages.bash says
#
# Each program has three uses that differ in kind (bench/work/NAME says which).  A layout is made from
# what is seen of one use, or of two, by samples (5000: what the daemon has after a while), by these and counts
# of what they leave uncertain, as it counts (5000+counted), or by complete counts (exact); on each use run,
# side by side: the original, a copy of it, the layouts from the use itself (another input), from each of the
# others and from both.
#
#	PROGRAMS='perl xz' WHICH=5000 bench/cross.sh prepare measure
cd "$(dirname "$0")/.." || exit 1
POOL=${POOL:-5000} PAIRS=${PAIRS:-9}
WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/cross}
BENCH_WORK=$WORK
VARIANTS=copy NAME_WIDTH=36
. bench/stages.bash
WHICH=${WHICH:-5000 5000+counted}

# NAME WORKLOAD FILE PROGRAM USE=SIZE..., one a line; each size takes 0.3 to 0.5 s.
programs_all() {
	local lib=/usr/lib/x86_64-linux-gnu cc
	echo "perl perl_uses /usr/bin/perl /usr/bin/perl text=40000 numbers=55000 objects=65000"
	echo "python3.11 python_uses /usr/bin/python3.11 /usr/bin/python3.11 text=60000 numbers=60000 objects=30000"
	echo "ruby ruby_uses $lib/libruby-3.1.so.3.1 /usr/bin/ruby3.1 text=35000 numbers=100000 objects=55000"
	echo "lua5.4 lua5.4 /usr/bin/lua5.4 /usr/bin/lua5.4 text=45000 numbers=60000 objects=150000"
	echo "tclsh tclsh $lib/libtcl8.6.so /usr/bin/tclsh8.6 text=55000 numbers=200000 objects=250000"
	echo "gawk awk_uses /usr/bin/gawk /usr/bin/gawk report=50000 strings=25000 numbers=60000"
	echo "bash bash_uses /usr/bin/bash /usr/bin/bash text=2750 numbers=2250 lists=12500"
	echo "sqlite3 sqlite_uses $lib/libsqlite3.so.0 /usr/bin/sqlite3 queries=3750 writes=10000 words=15000"
	echo "git git_uses /usr/bin/git /usr/bin/git history=750 objects=500 search=600"
	echo "gs gs_uses $lib/libgs.so.10 /usr/bin/gs pages=2 pdf=4 compute=14"
	cc=$(gcc-12 -print-prog-name=cc1 2>/dev/null) && echo "cc1 cc1_uses $cc $cc debug=650 fast=600 check=1000"
	cc=$(gcc-12 -print-prog-name=cc1plus 2>/dev/null) && echo "cc1plus cc1plus $cc $cc fast=1 debug=1 check=1"
	echo "xz xz $lib/liblzma.so.5 /usr/bin/xz pack=2250 best=1750 unpack=3250"
	echo "zstd zstd /usr/bin/zstd /usr/bin/zstd pack=5000 best=2350 unpack=8000"
	echo "grep grep /usr/bin/grep /usr/bin/grep words=75000 patterns=4000 letters=37500"
}

programs() {
	local name load file program rest
	programs_all | while read -r name load file program rest; do
		case " ${PROGRAMS:-$name} " in *" $name "*) ;; *) continue ;; esac
		[ -e "$program" ] && [ -e "$file" ] && echo "$name $load $file $program $rest"
	done
}

prepare_machine() {
	mkdir -p "$STATE"
	missing_packages $(programs_all | while read -r name _; do program_packages "$name"; done | tr ' ' '\n' | sort -u) >&2
}

# As program_load, and uses and their sizes, TESTS.
cross_load() {		# NAME WORKLOAD FILE PROGRAM USE=SIZE...
	local u
	program_load "$@"
	uses=() sizes=() TESTS=
	for u in "${@:5}"; do
		uses+=("${u%=*}") sizes+=("${u#*=}")
		TESTS="$TESTS test-${u%=*}"
	done
}

# Of these, without one: what a layout for others was not seen of.
uses_without() { printf '%s\n' "${uses[@]}" | grep -vx "$1"; }
layouts_on() { echo "$1"; uses_without "$1"; uses_without "$1" | paste -sd +; }	# USE
all_layouts() { for u in "${uses[@]}"; do layouts_on "$u"; done | sort -u; }

prepare_program() {	# the original, its inputs and their output
	local k id
	id="${uses[*]} ${sizes[*]} $(digest "$source" "$loads/${load%%[._0-9]*}"* "$loads"/{weblog,prose,cxx_source}.awk "$loads"/{sources,mixture}.bash)"
	[ "$(cat "$P/id" 2>/dev/null)" = "$id" ] && return
	rm -rf "$P"
	mkdir -p "$(variant_dir original)" && cp -L "$source" "$(variant_dir original)/$file" || return
	for k in "${!uses[@]}"; do
		for i in "train 2" "test 77"; do
			set -- $i
			mkdir -p "$P/$1-${uses[k]}" && (cd "$P/$1-${uses[k]}" && "$loads/$load.sh" prepare "${sizes[k]}" "$2" "${uses[k]}") || return
		done
		(eval "$(variant_run original "test-${uses[k]}")") >"$P/test-${uses[k]}.expected" 2>/dev/null </dev/null
	done
	measure_use >"$P/ms"
	echo "$id" >"$P/id"
}

measure_use() {		# CPU time of one use's test, roughly
	local TIMEFORMAT='%U %S'
	{ time { (eval "$(variant_run original "test-${uses[0]}")") >/dev/null 2>&1 </dev/null; }; } 2>&1 |
		awk '{ printf "%d\n", 1000 * ($1 + $2) }'
}

# What was seen of a layout's uses is in $P/of/USE+USE, with the same original and inputs.
variant_profile() {	# VARIANT; prints the profile's file, or on the last line why there is none
	local which=${1#morph-} of u
	[ "$1" != copy ] || { echo "$(variant_dir original)/$file"; return; }
	of=${which#*@} which=${which%@*}
	(
		P=$P/of/$of TRAIN=
		mkdir -p "$P" && ln -sfn ../../v "$P/v"
		for u in ${of//+/ }; do
			ln -sfn "../../train-$u" "$P/train-$u"
			TRAIN="$TRAIN train-$u"
		done
		# record_pool() expects that a round of training takes twice as long as a test.
		set -- $TRAIN
		awk -v n=$# '{ printf "%d\n", $1 * n / 2 }' "$P/../../ms" >"$P/ms"
		case $which in
		*+counted) prepare_counted "${which%%+*}" ;;
		*) prepare_profile "$which" ;;
		esac && echo "$P/${which%%+*}.profile"
	)
}

prepare_one() {		# CPU NAME ...
	local w u
	cross_load "${@:2}"
	mkdir -p "$P/v" && prepare_program || { echo "$NAME: not prepared" >&2; return; }
	prepare_variant copy
	for w in $WHICH; do
		for u in $(all_layouts); do prepare_variant "morph-$w@$u"; done
	done
}

# $P/times.USE: the variants' names, their digest and a line of milliseconds each round.
measure_one() {		# CPU NAME ...
	local use
	cross_load "${@:2}"
	for use in "${uses[@]}"; do measure_use_of "$1" "$use"; done
}

measure_use_of() {	# CPU USE
	local cpu=$1 use=$2 v w there=original key commands=() dirs=() times=$P/times.$2 run=$copies/$NAME
	for v in copy $(for w in $WHICH; do layouts_on "$use" | sed "s/^/morph-$w@/"; done); do
		[ -e "$(variant_dir "$v")/$file" ] && there="$there $v"
	done
	key=$PAIRS-$(for v in $there; do sha256sum <"$(variant_dir "$v")/$file"; done | digest)
	[ -z "${AGAIN:-}" ] && [ "$(sed -n 2p "$times" 2>/dev/null)" = "$key" ] && return
	mkdir "$run" || return
	for v in $there; do
		commands+=("$(RUN_FROM=$run variant_run "$v" "test-$use")")
		dirs+=("$(basename "$(variant_dir "$v")")")
	done
	cat >"$run.fresh" <<-END
		cd $run && rm -rf * && for d in \$(shuf -e ${dirs[*]}); do
			mkdir \$d && cp $P/v/\$d/$file \$d && cp -a $P/test-$use \$d.test-$use || exit
		done
	END
	"$B/bench/pairs" -s -n "$PAIRS" -c "$cpu" -t "$times.new" -b "sh $run.fresh" "${commands[@]}" >"$P/pairs.$use" ||
		echo "$NAME: outputs differ" >&2
	[ -s "$times.new" ] && { echo "$there"; echo "$key"; cat "$times.new"; } >"$times"
	rm -rf "$times.new" "$run" "$run.fresh"
	echo "$NAME $use: $(awk '{ printf "%s ", $6 }' "$P/pairs.$use")" >&2
}

estimate() { :; }

cross_facts() {
	local line use w u
	while read -r line; do
		cross_load $line
		for use in "${uses[@]}"; do
			[ -e "$P/times.$use" ] && sed "1s/^/times $NAME $use /; 2d; 3,\$s/^/round $NAME $use /" "$P/times.$use"
			[ -e "$P/pairs.$use" ] && awk -v name="$NAME" -v use="$use" '$NF != "yes" { print "differs", name, use, NR + 1 }' "$P/pairs.$use"
		done
		for w in $WHICH; do
			for u in $(all_layouts); do
				d=$(variant_dir "morph-$w@$u")
				[ -e "$d.why" ] && echo "none $NAME morph-$w@$u $(cat "$d.why")"
			done
		done
	done < <(programs)
}

report() {
	result "cross-$(processor_vendor)" "Layouts made for one use and measured on another"
	cat <<-END
	CPU time of the original divided by that of the layout, on the use that heads the row: medians of $PAIRS rounds in which all of a row
	run side by side in slices of 5 ms of one CPU, each round from fresh copies; the least and the greatest of the rounds in parentheses.
	The uses differ in kind (\`bench/work\`); trained and tested inputs differ in their seeds. \`own\`: from the same use; \`first\` and
	\`second\`: from one other use, in the order in which the program's other rows stand; \`both\`: from both others together.
	\`5000\`: by as many samples in the module; \`5000+counted\`: by these, and counts of the functions that hold $UNCERTAIN % of what they
	leave uncertain; \`exact\`: complete counts. \`copy\` has the original's bytes.

	END
	cross_facts | awk -v which="$WHICH" -f bench/median.awk -f bench/cross.awk
	result_end
}

stages cross "$@"
