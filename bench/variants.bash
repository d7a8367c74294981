# variants.bash - sourced after programs.bash: a program as each tool makes it from each profile
#
#	original
#	copy					the original's bytes: what measuring alone makes of nothing
#	morph-exact, morph-N, morph-N-pc	counted exactly; N samples with what registers told; PCs only
#	morph-exact@N				counted exactly, of the functions only that N samples tell of
#	morph-N+shapes				N samples, and what was counted of these functions: how often
#						each runs is estimated, where it goes is true
#	bolt-exact, bolt-N			counted by bolt's own instrumentation; the PCs of N samples
#	bolt-...-nosplit, bolt-...-lines	functions not split; no hot jump across lines of 32 bytes
#
# Morph's may end in +counted: N samples, and the functions counted that hold UNCERTAIN percent of what is uncertain by them; in +older: made
# by the Editor OLDER; in +none or +no.PASS, without passes or all but this one; or in
# +keep-pointers: functions are entered by pointers over their entry jumps.  A variant is made again when
# its tool, its profile or its options change, and only kept when it does what the original does.

passes=$(sed -nE 's/^\t\{ "([a-z]+)", +".*", true,.*/\1/p' editor/passes/pass.c)
bolt_options="-reorder-blocks=ext-tsp -use-gnu-stack"
bolt_split="-split-functions -split-all-cold"

has_relocations() { readelf -SW "$(variant_dir original)/$file" | grep -q '\.rela\.text'; }

prepare_variant() {	# VARIANT
	local v=$1 d why stamp
	d=$(variant_dir "$v")
	if ! why=$(variant_profile "$v"); then
		no_variant "$v" "$(tail -n 1 <<<"$why")"
		return
	fi
	why=$(tail -n 1 <<<"$why")
	stamp=$(digest "$why" "$(variant_tool "$v")" bench/variants.bash)
	[ "$(cat "$d.made" 2>/dev/null)" = "$stamp" ] && [ -e "$d/$file" -o -e "$d.why" ] && return
	rm -rf "$d" "$d".*
	mkdir -p "$d"
	if why=$("make_${v%%-*}" "$v" "$why" "$d/$file" 2>&1 >"$d.log") && chmod +x "$d/$file" &&
			why=$(same_output "$v"); then
		rm -f "$d.why"
	else
		why=$(tail -n 1 <<<"$why" | cut -c 1-160)
		no_variant "$v" "${why:-$(tail -n 1 "$d.log")}"
	fi
	echo "$stamp" >"$d.made"
}

variant_tool() {	# VARIANT
	case $1 in
	bolt-*) echo "$BOLT/llvm-bolt" ;;
	*+older) echo "$OLDER" ;;
	*) echo "$B/morph-edit" ;;
	esac
}

make_copy() { cp "$(variant_dir original)/$file" "$3"; }	# VARIANT PROFILE OUT

# Prints the file of the profile that it is made from, or on the last line why there is none.
variant_profile() {	# VARIANT
	local which=${1#*-}
	case $1 in
	bolt-*)
		[ -x "$BOLT/llvm-bolt" ] || { echo "there is no llvm-bolt"; return 1; }
		which=${which%%-*}
		bolt_profile "$which" && echo "$P/$which.fdata" ;;
	copy) echo "$(variant_dir original)/$file" ;;
	*+counted) prepare_counted "${which%%+*}" && echo "$P/${which%%+*}.profile" ;;
	*+shapes) prepare_profile "exact@${which%%+*}" && echo "$P/${which%%+*}.profile" ;;
	*) prepare_profile "${which%%+*}" && echo "$P/${which%%+*}.profile" ;;
	esac
}

make_morph() {		# VARIANT PROFILE OUT
	local only=() counted
	case $1 in
	*+counted|*+counted@*)
		counted=${1#*-}
		only=(--counted "${2%/*}/$(counted_name "${counted%%+*}").profile")
		;;
	*+shapes)
		counted=${1#*-}
		only=(--counted "$P/exact@${counted%%+*}.profile")
		;;
	*+none) only=(--passes=) ;;
	*+keep-pointers) only=(--keep-pointers) ;;
	*+no.*) only=("--passes=-${1##*.}") ;;
	esac
	timeout "$LIMIT" "$(variant_tool "$1")" optimize "$(variant_dir original)/$file" --profile "$2" -o "$3" \
		--stats "${3%/*}.stats" "${only[@]}" &&
		timeout "$LIMIT" "$(dirname "$(variant_tool "$1")")/morph-verify" "$(variant_dir original)/$file" "$3"
}

bolt() {		# ARGUMENT...
	timeout "$LIMIT" "$BOLT/llvm-bolt" "$(variant_dir original)/$file" "$@" >"$P/bolt.log" 2>&1 && return
	local rc=$?
	sed -nE 's/^(BOLT-ERROR|.*rror): */\1: /p' "$P/bolt.log" | head -n 1 | grep . || echo "llvm-bolt ended with code $rc"
	return 1
}

# As recommended for each: without relocations bolt can reorder no functions.
make_bolt() {		# VARIANT PROFILE OUT
	local options="$bolt_options"
	if has_relocations; then
		options="$options -reorder-functions=cdsort -icf=1"
	else
		options="$options --allow-stripped"
	fi
	case $1 in *-nosplit*) ;; *) options="$options $bolt_split" ;; esac
	case $1 in *-lines) options="$options -x86-branches-within-32B-boundaries" ;; esac
	bolt -data="$2" $options -o "$3" >&2
}

bolt_profile() {	# WHICH
	local relocated=--allow-stripped
	[ -s "$P/$1.fdata" ] && return
	if has_relocations; then relocated=; fi
	if [ "$1" = exact ]; then
		[ -z "$relocated" ] || { echo "bolt needs relocations to count"; return 1; }
		bolt_count
		return
	fi
	prepare_pool && "$B/bench/pcs" "$P/log" "$(variant_dir original)/$file" "$1" 1 >"$P/$1.pcs" ||
		{ echo "no samples"; return 1; }
	timeout "$LIMIT" "$BOLT/perf2bolt" --pa -p "$P/$1.pcs" -nl $relocated -o "$P/$1.fdata" \
		"$(variant_dir original)/$file" >"$P/perf2bolt.log" 2>&1 ||
		{ echo "perf2bolt: $(tail -n 1 "$P/perf2bolt.log")"; rm -f "$P/$1.fdata"; return 1; }
}

# Each process leaves its counts in a file of its own.
bolt_count() {
	local d
	d=$(variant_dir bolt-counting)
	rm -rf "$d" "$P/bolt.counts" && mkdir -p "$d" "$P/bolt.counts" && chmod 1777 "$P/bolt.counts"
	bolt -instrument -instrumentation-file="$P/bolt.counts/f" -instrumentation-file-append-pid -o "$d/$file" || return
	chmod 755 "$d/$file"
	train_script bolt-counting 1 >"$P/train.sh"
	timeout "$LIMIT" sh "$P/train.sh"
	"$BOLT/merge-fdata" "$P"/bolt.counts/f* >"$P/exact.fdata" 2>"$P/merge.log" && [ -s "$P/exact.fdata" ] ||
		{ echo "bolt's counts are missing"; rm -f "$P/exact.fdata"; return 1; }
	rm -rf "$d" "$P/bolt.counts"
}

# instructions and I1 misses of the small input: in DIR.cg, for the file that is there now.
count_run() {	# VARIANT
	local d
	d=$(variant_dir "$1")
	[ -e "$d/$file" ] && command -v valgrind >/dev/null || return
	[ "$d.cg" -nt "$d/$file" ] && return
	rm -rf "$P/cg" && mkdir "$P/cg" && chmod 1777 "$P/cg"
	(eval "$(variant_run_under "$1" small valgrind -q --tool=cachegrind --cache-sim=yes --I1=32768,8,64 \
		--cachegrind-out-file="$P/cg/%p")") >/dev/null 2>&1 </dev/null
	awk '/^summary:/ { i += $2; m += $3 } END { print i + 0, m + 0 }' "$P"/cg/* >"$d.cg"
	rm -rf "$P/cg"
}

# What the layout does under the best profile there is: in DIR.report.
count_layout() {	# VARIANT
	local d judge=$P/exact.profile
	d=$(variant_dir "$1")
	[ -e "$d/$file" ] && [ "$1" != original ] || return
	[ -s "$judge" ] || judge=$P/pool.profile
	[ "$d.report" -nt "$d/$file" ] && [ "$d.report" -nt "$judge" ] && return
	timeout "$LIMIT" "$B/morph-edit" report "$(variant_dir original)/$file" --profile "$judge" \
		--compare "$d/$file" >"$d.report" 2>"$d.report.err" || rm -f "$d.report"
}

bolt_version() { echo "llvm-bolt is $("$BOLT/llvm-bolt" --version 2>/dev/null | grep -o 'version [0-9.]*' || echo missing)"; }
