# stages.bash - sourced by bench/speed.sh, ablation.sh and older.sh, which set VARIANTS: their stages
#
# prepare trains, makes each variant (bench/variants.bash), verifies it and compares what it does; count
# runs cachegrind and `morph-edit report`, layouts the latter alone; these may run on a busy machine.
# measure runs original and variants side by side on one CPU, in slices of it (bench/pairs.c; PAIRS, 11,
# rounds after one uncounted): where a virtual machine has neighbours, runs of the same file one after the
# other may differ by a tenth, so by a hundredth.  report writes bench/results/NAME.md.  Without arguments:
# prepare measure count report.  Each but report works on PARALLEL (1) programs at a time, measure on a CPU
# for each, keeps its results in BENCH_WORK and goes on where it was; a program is measured again when one of
# its variants is another file, or with AGAIN=1.  Where a file's pages lie in memory decides which of them
# displace each other in the caches, and some file systems keep what was read or written at once in huge
# pages: every FRESH (1) rounds all files are copied to RUN_DIR (/dev/shm), a tmpfs without huge pages, all
# old ones removed first and in an order by chance, for a file that takes another's place gets the same pages
# again.  PROGRAMS are those meant, all by default (bench/programs.bash).
. bench/common.bash
. bench/programs.bash
. bench/variants.bash
PAIRS=${PAIRS:-11} PARALLEL=${PARALLEL:-1} FRESH=${FRESH:-1}

# FUNCTION with the number of a CPU and a line of `programs`, PARALLEL at a time.
in_parallel() {		# FUNCTION
	local k pids=()
	mkdir -p "$WORK"
	exec 7< <(programs)
	for ((k = 0; k < PARALLEL; k++)); do
		(
			exec 8>"$WORK/lock"
			while flock 8 && read -r line <&7; do
				flock -u 8
				"$1" $(($(nproc) - 1 - k % $(nproc))) $line
			done
		) &
		pids+=($!)
	done
	wait "${pids[@]}"
	exec 7<&-
}

prepare_one() {		# CPU NAME ...
	local v
	shift
	program_load "$@"
	mkdir -p "$P/v" && prepare_program || { echo "$NAME: not prepared" >&2; return; }
	for v in $VARIANTS; do prepare_variant "$v"; done
}

count_one() {		# CPU NAME ...
	local v
	program_load "${@:2}"
	[ -e "$P/id" ] || return
	for v in original $VARIANTS; do count_run "$v"; done
	layouts_one "$@"
}

layouts_one() {		# CPU NAME ...
	local v
	shift
	program_load "$@"
	[ -e "$P/id" ] || return
	for v in $VARIANTS; do count_layout "$v"; done
}

# The variants of a program that exist.
variants_there() {
	local v
	for v in original $VARIANTS; do [ -e "$(variant_dir "$v")/$file" ] && echo "$v"; done
}

# One program: $P/times.BENCH has the variants' names, their digest and a line of milliseconds each round.
measure_one() {		# CPU NAME ...
	local cpu=$1 v there key commands=() dirs=() times run=$copies/$2
	shift
	program_load "$@"
	times=$P/times.$BENCH
	there=$(variants_there | tr '\n' ' ')
	[ "$there" ] || return
	key=$PAIRS-$FRESH-$(for v in $there; do sha256sum <"$(variant_dir "$v")/$file"; done | digest)
	[ -z "${AGAIN:-}" ] && [ "$(sed -n 2p "$times" 2>/dev/null)" = "$key" ] && return
	mkdir "$run" || return
	for v in $there; do
		commands+=("$(RUN_FROM=$run variant_run "$v" test)")
		dirs+=("$(basename "$(variant_dir "$v")")")
	done
	cat >"$run.fresh" <<-END
		cd $run && rm -rf * && for d in \$(shuf -e ${dirs[*]}); do
			mkdir \$d && cp $P/v/\$d/$file \$d && cp -a $P/test \$d.test || exit
		done
	END
	"$B/bench/pairs" -s -n "$PAIRS" -c "$cpu" -t "$times.new" -b "sh $run.fresh" -e "$FRESH" \
		"${commands[@]}" >"$P/pairs.$BENCH" ||
		echo "$NAME: outputs differ" >&2
	[ -s "$times.new" ] && { echo "$there"; echo "$key"; cat "$times.new"; } >"$times"
	rm -rf "$times.new" "$run" "$run.fresh"
	echo "$NAME: $(awk '{ printf "%s ", $6 }' "$P/pairs.$BENCH")" >&2
}

estimate() {
	local line n=0 ms=0
	while read -r line; do
		program_load $line
		n=$(variants_there | wc -l)
		ms=$((ms + n * (PAIRS + 1) * $(cat "$P/ms" 2>/dev/null || echo 900)))
	done < <(programs)
	echo "about $((ms / 60000 / PARALLEL + 1)) minutes" >&2
}

# A line for each program and variant, and one for what it was compared with; speed.awk makes tables.
facts() {
	local line v d
	while read -r line; do
		program_load $line
		echo "program $NAME $(stat -c %s "$(variant_dir original)/$file")"
		for v in original $VARIANTS; do
			d=$(variant_dir "$v")
			[ -e "$d.why" ] && echo "none $NAME $v $(cat "$d.why")"
			[ -e "$d/$file" ] && echo "variant $NAME $v $(stat -c %s "$d/$file")"
			[ -e "$d.cg" ] && echo "counts $NAME $v $(cat "$d.cg")"
			[ -s "$d.report" ] && sed -E "s/^(.*[^ ]) +([0-9.]+) +([0-9.]+)\$/figure $NAME $v \\2 \\3 \\1/" "$d.report" | grep '^figure '
		done
		[ -e "$P/times.$BENCH" ] && sed "1s/^/times $NAME /; 2d; 3,\$s/^/round $NAME /" "$P/times.$BENCH"
		[ -e "$P/pairs.$BENCH" ] && awk -v name="$NAME" '{ print "same", name, NR + 1, $NF }' "$P/pairs.$BENCH"
	done < <(programs)
}

# What a script does with its arguments; its report() is its own.
stages() {		# BENCH [STAGE...]
	local stage
	BENCH=$1
	shift
	for stage in ${*:-prepare measure count report}; do
		case $stage in
		prepare)
			prepare_machine
			in_parallel prepare_one ;;
		measure)
			estimate
			copies=$(mktemp -d "${RUN_DIR:-/dev/shm}/morph-bench.XXXXXX") || exit 1
			chmod 755 "$copies"	# postgres does not run as root
			trap 'rm -rf "$T" "$copies"' EXIT
			in_parallel measure_one ;;
		count) in_parallel count_one ;;
		layouts) in_parallel layouts_one ;;
		report) report ;;
		*) echo "usage: bench/$BENCH.sh [prepare|measure|count|layouts|report]..." >&2; exit 2 ;;
		esac
	done
}
