#!/bin/bash
# fleetlayout.sh - what a machine's layouts gain by what a fleet knows, beside what they gain by its own use
#
# 20 machines use a program, each in a way of its own: by other inputs, for one or two of its kinds of use
# (bench/work/NAME).  Each gives 5,000 samples, and the first three executions that an instrumented program
# counted, to a fleet's database on a private PostgreSQL cluster.  A 21st that has 500 samples of its own asks for the
# fleet's, and is laid out.  All of it goes the way it goes on machines: by the Manager's own code
# (bench/fleetmachine.c), morph-share and the database's functions.  Once more every fifth machine lies.
#
# Beside it are layouts by 500 and by 100,000 samples of the 21st's own training, and by complete counts of that.  All
# are held against the complete profile of an input of the 21st that nothing was trained on.  Nothing is timed: the
# figures are the same on any machine with the same programs and recordings.
#
#	bench/fleetlayout.sh [prepare|layouts|misses|report]...
#					each goes on where it was; misses (cachegrind) are left out by default
#	PROGRAMS="perl cc1plus ..."	postgres cc1plus clang perl sqlite3
#	USES="all ..."			what the 21st does: all kinds, and the first of them alone
#	COUNTING=3			without the two more who count where one of five lies
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root: it samples, and starts a server as another user"; exit 1; }
MACHINES=20 SAMPLES=5000 FEW=500 COUNTING=${COUNTING:-5} MANY=${MANY:-100000}
PROGRAMS=${PROGRAMS:-postgres cc1plus clang perl sqlite3} LIMIT=${LIMIT:-900}
BENCH_WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/fleetlayout}
. bench/common.bash
. bench/programs.bash
. tests/e2e/fleet.bash

# NAME WORKLOAD FILE PROGRAM SIZE USE..., one a line; each size takes about half a second.
programs_all() {
	local lib=/usr/lib/x86_64-linux-gnu cc
	echo "postgres postgres /usr/lib/postgresql/15/bin/postgres /usr/lib/postgresql/15/bin/postgres 8000 transactions questions"
	cc=$(gcc-12 -print-prog-name=cc1plus 2>/dev/null) && echo "cc1plus cc1plus $cc $cc 1 fast debug check"
	echo "clang clang $lib/libLLVM-14.so.1 /usr/bin/clang-14 700 fast debug small"
	echo "perl perl_uses /usr/bin/perl /usr/bin/perl 50000 text numbers objects"
	echo "sqlite3 sqlite_uses $lib/libsqlite3.so.0 /usr/bin/sqlite3 5000 queries writes words"
}
programs() {
	local name load file program rest
	programs_all | while read -r name load file program rest; do
		case " $PROGRAMS " in *" $name "*) ;; *) continue ;; esac
		[ -e "$file" ] && [ -e "$program" ] && echo "$name $load $file $program $rest"
	done
}

# --- who does what ---

layout_load() {		# NAME WORKLOAD FILE PROGRAM SIZE USE...
	program_load "$@"
	ROOM=$P size=$5 kinds=("${@:6}")
}
# A machine's, or the 21st's, folder in the place of the program's: inputs, recordings, profiles.
be() {			# MACHINE
	P=$ROOM/$1
	mkdir -p "$P" && ln -sfn ../v "$P/v"
}
uses_of() {		# MACHINE
	local k=$(($1 - 1)) n=${#kinds[@]}
	echo "${kinds[k % n]}"
	[ "$1" -le $((MACHINES / 2)) ] || echo "${kinds[(k + 1) % n]}"
}
prepare_input() {	# FOLDER SEED USE...: unless it is there
	[ -e "$P/$1/ready" ] && return
	rm -rf "$P/$1" && mkdir -p "$P/$1" &&
		(cd "$P/$1" && "$loads/$load.sh" prepare "$size" "$2" "${@:3}" >&2) && touch "$P/$1/ready"
}
# record_pool() expects that a round of training, of so many inputs like this one, takes twice as long as `ms`.
measure_input() {	# FOLDER INPUTS
	local TIMEFORMAT='%U %S'
	[ -s "$P/ms" ] || { time { (eval "$(variant_run original "$1")") >/dev/null 2>&1 </dev/null; }; } 2>&1 |
		awk -v n="$2" '{ printf "%d\n", 500 * n * ($1 + $2) }' >"$P/ms"
}

prepare_machine_of() {	# MACHINE
	be "$1"
	TRAIN=train POOL=$SAMPLES
	prepare_input train $((100 + $1)) $(uses_of "$1") && measure_input train 1 && prepare_profile "$SAMPLES" || return
	[ "$1" -gt "$COUNTING" ] || profile_exact
}

prepare_own() {		# all, or a use
	local what=("$1")
	[ "$1" != all ] || what=("${kinds[@]}")
	be "own-$1"
	TRAIN="train/1 train/2" POOL=$MANY
	prepare_input train/1 2 "${what[@]}" && prepare_input train/2 4 "${what[@]}" && prepare_input test 77 "${what[@]}" &&
		measure_input train/1 2 || return
	prepare_profile exact && count_exact exact-test "" test && prepare_profile "$MANY" && prepare_profile "$FEW"
}

prepare_one() {		# NAME ...
	local i u
	layout_load "$@"
	mkdir -p "$(variant_dir original)" && cp -L "$source" "$(variant_dir original)/$file" || return
	for i in $(seq "$MACHINES"); do prepare_machine_of "$i" || return; done
	for u in ${USES:-all ${kinds[0]}}; do prepare_own "$u" || return; done
}

prepare() {
	local line
	mkdir -p "$STATE"
	missing_packages $(programs_all | while read -r name _; do
		case " $PROGRAMS " in *" $name "*) program_packages "$name" ;; esac
	done | tr ' ' '\n' | sort -u) >&2
	while read -r line; do
		prepare_one $line >&2 || echo "${line%% *}: not prepared" >&2
	done < <(programs)
}

# --- the fleet ---

start_fleet() {
	chmod 755 "$T"
	choose_server "$T/pg"
	trap 'stop_server; rm -rf "$T"' EXIT
	make_server && start_server && make_fleet "$MACHINES" >&2 && sql postgres "CREATE ROLE m21 LOGIN IN ROLE morph_contributor"
}
setting() { sql postgres "UPDATE morph.setting SET value = $2 WHERE name = '$1'"; }

# A profile that is as plausible, and wrong: each block has the samples of the one at the other end of the program,
# and of the ways out of a block the likely one is the unlikely one.
lie() {			# PROFILE EXECUTIONS: those of blocks stay, so that edges fit to them
	awk -v executions="$2" '
		$1 == "block" { at[++n] = $2; count[n] = $3; next }
		$1 == "edge" && $2 == from { to[++ways] = $3; times[ways] = $4; next }
		{ flush() }
		$1 == "edge" { from = $2; ways = 1; to[1] = $3; times[1] = $4; next }
		{ print }
		function flush(  i) {
			for (i = 1; i <= n; i++) print "block", at[i], executions ? count[i] : count[n + 1 - i]
			for (i = 1; i <= ways; i++) print "edge", from, to[i], times[ways + 1 - i]
			n = ways = 0; from = ""
		}
		END { flush() }' "$1"
}

machine() { "$B/bench/fleetmachine" "$B/morph-share" "$(conninfo "$1")" "$(variant_dir original)/$file" "$ROOM/table" "${@:2}"; }

# All give: LIARS "", or "yes" for every fifth; the first COUNTED count as well.
all_give() {		# LIARS COUNTED
	local i samples counts
	sql postgres "TRUNCATE morph.contribution, morph.merged, morph.fleet, morph.budget"
	setting least_contributors 5
	setting merge_after_s 1000000	# at the end
	for i in $(seq "$MACHINES"); do
		be "$i"
		samples=$P/$SAMPLES.profile counts=
		[ "$i" -gt "$2" ] || counts=$P/exact.profile
		if [ "$1" ] && [ $((i % 5)) = 0 ]; then
			lie "$samples" "" >"$T/samples" && samples=$T/samples
			[ -z "$counts" ] || { lie "$counts" 1 >"$T/counts" && counts=$T/counts; }
		fi
		machine "m$i" give "$samples" $counts 2>"$T/machine.err" || { cat "$T/machine.err"; return 1; }
	done | sort | uniq -c >&2
	[ "${PIPESTATUS[0]}" = 0 ] || return
	setting merge_after_s 0
	merge_anew
	# The first three are all who count: a fleet that wants to see what they say must say so.
	agreed_by 3
}
agreed_by() { setting least_contributors "$1" && merge_anew; }

# The 21st's layouts: $P/layout.VARIANT, by samples alone and with counts; $P/made.VARIANT says of what.
take() {		# USE VARIANT
	be "own-$1"
	machine m21 take "$P/$FEW.profile" "$P/$2.profile" "$P/$2.counted" 2>/dev/null >"$P/made.$2" && lay "$2" --profile "$P/$2.profile" || return
	[ "$2" = lied -a "$COUNTING" -lt 5 ] || lay "$2+counts" --profile "$P/$2.profile" --counted "$P/$2.counted"
}
lay() {			# VARIANT OPTION...
	local d
	d=$(own_dir "$1")
	mkdir -p "$d" && timeout "$LIMIT" "$B/morph-edit" optimize "$(variant_dir original)/$file" -o "$d/$file" "${@:2}" >&2 &&
		chmod 755 "$d/$file"
	timeout "$LIMIT" "$B/morph-edit" report "$(variant_dir original)/$file" --profile "$P/exact-test.profile" \
		--compare "$d/$file" 2>/dev/null >"$P/report.$1"
}
own_dir() { printf '%s/layout.%s' "$P" "$(printf '%-16s' "$1" | tr ' ' _)"; }

layouts_one() {		# NAME ...
	local u
	layout_load "$@"
	[ -s "$ROOM/table" ] || "$B/morph-edit" analyze --table "$ROOM/table" "$(variant_dir original)/$file" >&2 || return
	for u in ${USES:-all ${kinds[0]}}; do
		be "own-$u"
		lay complete --profile "$P/exact.profile" && lay own --profile "$P/$MANY.profile" && lay few --profile "$P/$FEW.profile" || return
	done
	all_give "" 3 || return
	sql postgres "SELECT round(avg(pg_column_size(c.*)) FILTER (WHERE kind = 0)) || ' ' || round(avg(pg_column_size(c.*)) FILTER (WHERE kind = 1)) FROM morph.contribution c" >"$ROOM/bytes"
	for u in ${USES:-all ${kinds[0]}}; do take "$u" fleet || return; done
	agreed_by 1
	for u in ${USES:-all ${kinds[0]}}; do take "$u" told || return; done
	all_give yes "$COUNTING" || return
	for u in ${USES:-all ${kinds[0]}}; do take "$u" lied || return; done
}

layouts() {
	local line
	start_fleet >&2 || { cat "$pg/log" >&2; exit 1; }
	while read -r line; do
		layouts_one $line || echo "${line%% *}: not laid out" >&2
	done < <(programs)
	stop_server
}

# I1 misses of an input of a tenth of the size, of the 21st's use: $P/misses has a row for the table.
misses_one() {		# P is the 21st's
	local v d line="| $NAME | $u | I1 misses" o= c= n size=$((size / 10 + 1))
	prepare_input small 79 $([ "$u" = all ] && echo "${kinds[@]}" || echo "$u") || return
	for v in original $VARIANTS; do
		d=$(own_dir "$v")
		[ "$v" != original ] || d=$(variant_dir original)
		n=$(misses_of "$d")
		[ "$v" != original ] || o=$n
		[ "$v" != complete ] || c=$n
		line="$line | $n"
		case $v in original | complete) ;; *) line="$line ($(share_of "$o" "$n" "$c"))" ;; esac
	done
	echo "$line |" >"$P/misses"
}
misses_of() {		# FOLDER of a variant
	local run=$P/run
	rm -rf "$P/cg" "$run" && mkdir "$P/cg" && chmod 1777 "$P/cg" && cp -a "$P/small" "$run"
	printf '#!/bin/sh\nexec valgrind -q --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --cachegrind-out-file=%s %s "$@"\n' \
		"$P/cg/%p" "${bin:-$1/$file}" >"$P/wrapper"
	chmod 755 "$P/wrapper"
	(cd "$run" && LD_LIBRARY_PATH=$1 timeout "$LIMIT" "$loads/$load.sh" run "$P/wrapper" >/dev/null 2>&1 </dev/null)
	awk '/^summary:/ { m += $3 } END { print m + 0 }' "$P"/cg/*
}
misses() { each_own misses_one; }

# --- what came of it ---

share_of() { awk -v o="$1" -v x="$2" -v c="$3" 'BEGIN { if (x == "") printf "-"; else printf "%.3f", (o - x) / (o - c) }'; }

VARIANTS="complete own few fleet told lied fleet+counts told+counts lied+counts"
figure() {		# LINE VARIANT: of its report; of the original by "original"
	awk -v line="$1" -v original="$([ "$2" = original ] && echo 1)" 'index($0, line) == 1 { print original ? $(NF - 1) : $NF }' \
		2>/dev/null "$P/report.$([ "$2" = original ] && echo complete || echo "$2")"
}
row() {			# WHAT LINE
	local v o c f line
	o=$(figure "$2" original) c=$(figure "$2" complete)
	line="| $NAME | $u | $1 | $o"
	for v in $VARIANTS; do
		f=$(figure "$2" "$v")
		line="$line | $f"
		[ "$v" = complete ] || line="$line ($(share_of "$o" "$f" "$c"))"
	done
	echo "$line |"
}

# What the targets are about, in taken branches: of the gain by so many own samples, and of the complete profile's.
targets() {
	local v
	for v in original $VARIANTS; do local "${v/+counts/_counts}=$(figure "taken branches" "$v")"; done
	echo "| $NAME | $u | $(share_of "$original" "$fleet" "$own") | $(share_of "$original" "$lied" "$own") |" \
		"$(share_of "$original" "$fleet_counts" "$complete") | $(share_of "$original" "$told_counts" "$complete") |" \
		"$(share_of "$original" "$lied_counts" "$complete") |"
}

each_own() {		# COMMAND...: for each program's 21st that was laid out
	local line u
	while read -r line; do
		layout_load $line
		for u in ${USES:-all ${kinds[0]}}; do
			[ ! -s "$ROOM/own-$u/report.lied" ] || { be "own-$u" && "$@"; }
		done
	done < <(programs)
}

both() { row "taken branches" "taken branches" && row "Ext-TSP" "Ext-TSP score"; [ ! -s "$P/misses" ] || cat "$P/misses"; }
made() { [ "$u" != all ] || sed -E "s/(.*) (.*)/* $NAME: a contribution of samples is \\1 bytes, of complete counts \\2/" "$ROOM/bytes"
	sed -n "2s/.*/* $NAME, $u: &/p" "$P/made.fleet"
	sed -n "2s/.*/* where all is told: &/p" "$P/made.told"
	sed -n "2s/.*/* the same with liars: &/p" "$P/made.lied"; }

report() {
	result fleetlayout "What layouts gain by a fleet's evidence"
	cat <<-END
	20 machines of differing use give $SAMPLES samples each, three of them complete counts of executions as well, to a database on
	PostgreSQL; a 21st with $FEW samples of its own is laid out by what it gets from there: \`fleet\`, \`fleet+counts\`. \`told\`: where
	what a single one has is told, too (\`least_contributors\` 1), as among machines of one owner. \`lied\`: every fifth gives samples
	of other blocks, and edges the wrong way round; of five who count, one. \`complete\`, \`own\`, \`few\`: by complete counts, $MANY and
	$FEW samples of the 21st's own training. Executions are those of an input of the 21st that was not used, by its complete profile;
	in parentheses the share of the complete profile's gain. What is seen of samples is of five contributors at least, of
	executions, which in this fleet are three people's, of three (\`least_contributors\`). I1 misses are cachegrind's, of 32 KiB, on
	a smaller input. No figure is a time.

	| program | the 21st's use | fleet, of the gain by $MANY own samples | with liars | with counts, of the complete profile's gain | all of them told | with a liar among five |
	|---|---|---|---|---|---|---|
	END
	each_own targets
	echo
	echo "| program | use | figure | original | ${VARIANTS// / | } |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	each_own both
	printf '\nRows of the database, and what the 21st was laid out by:\n\n'
	each_own made
	result_end
}

for stage in ${*:-prepare layouts report}; do "$stage"; done
