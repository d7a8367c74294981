#!/bin/bash
# instrument.sh - instrumented programs do what they did, and what they count is what callgrind counts
#
# Besides: threads and processes at the same time, calls that do not come back or come back twice,
# libraries, every kind of file; real programs under their workloads.
. tests/moving.sh
. tests/programs/instrument/counted.bash

all="plain throw jump _exit exit signal threads"
build "PIE" g++ -O2 -fpie -pie && modes "PIE" "$P" $all
build "PIE, checked branches" g++ -O1 -fpie -pie -fcf-protection=full && modes "PIE, checked branches" "$P" plain throw
build "not optimized" g++ -O0 -fpie -pie && modes "not optimized" "$P" plain jump
build "fixed address" g++ -O2 -fno-pie -no-pie && modes "fixed address" "$P" $all
build "static" g++ -O2 -static && modes "static" "$P" plain throw
build "clang" clang++ -O2 -fpie -pie && modes "clang" "$P" plain throw jump
build "stripped" g++ -O3 -s -fpie -pie && modes "stripped" "$P" plain throw

flags_kept_between
flags_kept_across

# --- a library: what was counted in it before its start routine ran is nothing ---

if build "library" g++ -O2 -shared -fpic -Dmain=counted_main && mv "$P" "$T/lib/libcounted.so"; then
	echo 'extern "C" int counted_main(int, char **) __asm__("_Z12counted_mainiPPc");
	      int main(int argc, char **argv) { return counted_main(argc, argv); }' >"$T/main.cc"
	g++ -O1 -o "$P" "$T/main.cc" -L"$T/lib" -lcounted &&
		modes "library" "$T/lib/libcounted.so" plain throw jump _exit signal
	rm -f "$T"/lib/*
fi

# --- several at a time: as the same work one after the other ---

# The counts of the functions that do the work, by their symbols.
work_counts() {		# the profile is in $T/profile
	nm -n "$T/original" | awk '
		function hex(s,   i, v) {
			for (i = 1; i <= length(s); i++)
				v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		NR == FNR { if ($2 ~ /[tT]/) { n++; at[n] = hex($1); name[n] = $3 } next }
		$1 == "block" || $1 == "edge" {
			a = hex(substr($2, 3))
			for (i = n; i > 1 && at[i] > a; i--)
				;
			if (name[i] ~ /step|work|add|twice|flip/)
				print
		}' - "$T/profile"
}

together() {		# MODE [OPTION...]
	local mode=$1
	shift
	instrument "$T/original" "$P" "$@" && run_mode "$T/run" "$mode" && profile "$mode" "$T/original" &&
		work_counts >"$T/got" || return
	if [ -s "$T/want" ] && cmp -s "$T/want" "$T/got"; then
		ok "$mode $*: counts are exact"
	else
		not_ok "$mode $*: counts are exact"
		note "$(diff "$T/want" "$T/got" | head -n 10)"
	fi
}

if build "several at a time" g++ -O2 -fpie -pie; then
	cp "$P" "$T/original"
	instrument "$T/original" "$P" && run_mode "$T/run" serial && profile "serial" "$T/original"
	work_counts >"$T/want"
	together serial --threads
	together threads --threads
	together forks --threads
	together fork
fi

# --- the file of counts ---

cp "$T/original" "$P"
run_mode "$T/before" throw
if instrument "$T/original" "$P"; then
	"$edit" counts "$T/original" "$T/counts" -o "$T/profile" 2>"$T/e"
	[ $? = 1 ] && grep -q "nothing was counted" "$T/e" && ok "a program that has not run has no counts" ||
		not_ok "a program that has not run has no counts"
	mv "$T/counts" "$T/aside"
	run_mode "$T/after" throw
	same_run "without its file of counts" "$T/before" "$T/after"
	for size in 0 100 5000; do
		head -c $size "$T/aside" >"$T/counts"
		cp "$T/counts" "$T/cut"
		run_mode "$T/after" throw
		same_run "with a file of counts of $size bytes" "$T/before" "$T/after"
		cmp -s "$T/counts" "$T/cut" && ok "which stays as it is" || not_ok "which stays as it is"
	done
	{ head -c 20 "$T/aside"; printf 'x'; tail -c +22 "$T/aside"; } >"$T/counts"
	cp "$T/counts" "$T/cut"
	run_mode "$T/after" throw
	same_run "with the file of counts of another program" "$T/before" "$T/after"
	cmp -s "$T/counts" "$T/cut" && ok "which stays as it is" || not_ok "which stays as it is"
	cp "$T/aside" "$T/counts"
	run_mode "$T/after" throw
	profile "once" "$T/original" && cp "$T/profile" "$T/once"
	run_mode "$T/after" throw
	profile "twice" "$T/original"
	awk '$1 ~ /block|edge|call/ { $NF = sprintf("%.3f", 2 * $NF) } 1' "$T/once" | cmp -s - "$T/profile" &&
		ok "runs add up" || not_ok "runs add up"
	# Counters elsewhere, counts the same; less of them run.
	if instrument "$T/original" "$T/placed" --profile "$T/once"; then
		mv "$P" "$T/plain" && mv "$T/placed" "$P"
		run_mode "$T/after" throw
		same_run "counters placed by a profile" "$T/before" "$T/after"
		cmp -s "$P" "$T/plain" && not_ok "they are elsewhere" || ok "they are elsewhere"
		profile "placed" "$T/original" && cmp -s "$T/once" "$T/profile" && ok "they count the same" ||
			{ not_ok "they count the same"; note "$(diff "$T/once" "$T/profile" | head -n 10)"; }
		mv "$T/plain" "$P"
	fi
	# Of some functions only; the same of those.
	awk '$1 == "clock" { $2 = "tick" } $1 == "block" { $3 = "20.000" } $1 !~ /edge|call/' "$T/once" >"$T/samples"
	if instrument "$T/original" "$T/placed" --profile "$T/samples" --uncertain 50; then
		mv "$P" "$T/plain" && mv "$T/placed" "$P"
		run_mode "$T/after" throw
		same_run "what is uncertain counted" "$T/before" "$T/after"
		mv "$T/plain" "$P"
		profile "uncertain" "$T/original"
		# One byte less of what says what is counted.
		cp "$T/counts" "$T/cut"
		size=$(($(od -An -tu8 -j120 -N8 "$T/cut") - 1))
		for i in 0 1 2; do printf "\\x$(printf %02x $((size >> 8 * i & 255)))"; done | dd of="$T/cut" bs=1 seek=120 conv=notrunc status=none
		"$edit" counts "$T/original" "$T/cut" -o "$T/cut.profile" 2>"$T/e"
		[ $? = 1 ] && grep -q "by another version of this program" "$T/e" && ok "all that says what is counted must be there" ||
			{ not_ok "all that says what is counted must be there"; note "$(cat "$T/e")"; }
		part=$(grep -c ^block "$T/profile") all=$(grep -c ^block "$T/once")
		[ "$part" -gt 3 ] && [ $((10 * part)) -lt $((9 * all)) ] && ok "it is a part: $part of $all blocks" ||
			not_ok "it is a part: $part of $all blocks"
		grep -vxFf "$T/once" "$T/profile" >"$T/more"
		[ -s "$T/more" ] && { not_ok "its counts are the same"; note "$(head "$T/more")"; } || ok "its counts are the same"
		for how in "infer:" "optimize: verify"; do
			"$edit" ${how%:*} "$T/original" --profile "$T/samples" --counted "$T/profile" -o "$T/generation" 2>"$T/e" &&
				{ [[ $how = *: ]] || "$verify" "$T/original" "$T/generation" 2>>"$T/e"; } &&
				ok "${how%:*} takes them beside samples" || { not_ok "${how%:*} takes them beside samples"; note "$(cat "$T/e")"; }
		done
		# Also of functions without samples.
		awk '$1 != "block" || !n++' "$T/samples" >"$T/sample"
		"$edit" optimize "$T/original" --profile "$T/sample" --counted "$T/profile" -o "$T/few" --report >"$T/report" 2>"$T/e" &&
			grep -q "^taken branches" "$T/report" && ok "and reports" || { not_ok "and reports"; note "$(cat "$T/e")"; }
		mv "$P" "$T/plain" && cp "$T/generation" "$P"
		run_mode "$T/after" throw
		same_run "the generation of both" "$T/before" "$T/after"
		mv "$T/plain" "$P"
	fi
	wrong() {	# EXIT-CODE MESSAGE ARGUMENT...
		"$edit" "${@:3}" -o "$T/wrong" 2>"$T/e"
		[ $? = "$1" ] && grep -qe "$2" "$T/e" && [ ! -e "$T/wrong" ] && ok "$2" || { not_ok "$2"; note "$(cat "$T/e")"; }
	}
	wrong 2 "--uncertain needs --profile" instrument "$T/original" --uncertain 50
	wrong 2 "0 percent would count nothing" instrument "$T/original" --profile "$T/samples" --uncertain 0
	wrong 2 "'101' is not a number from 0 to 100" instrument "$T/original" --profile "$T/samples" --uncertain 101
	grep -v "^block" "$T/samples" >"$T/none"
	wrong 3 "no function of which the profile tells anything uncertain" instrument "$T/original" --profile "$T/none" --uncertain 50
	wrong 1 "nothing is uncertain: the profile is complete" instrument "$T/original" --profile "$T/once" --uncertain 50
	wrong 2 "--counted needs --profile" optimize "$T/original" --all --counted "$T/once"
	wrong 1 "a complete profile beside one that is not" optimize "$T/original" --profile "$T/samples" --counted "$T/samples"
	wrong 1 "a complete profile beside one that is not" infer "$T/original" --profile "$T/once" --counted "$T/once"
	"$edit" counts "$P" "$T/counts" -o "$T/profile" 2>"$T/e"
	[ $? = 1 ] && grep -q "of another file" "$T/e" && ok "counts are of one original" || not_ok "counts are of one original"
	mkdir -p "$T/profiles"
	"${edit%/*}/morphctl" profile "$T/counts" -o "$T/profiles" >"$T/e" 2>&1 &&
		"$edit" counts "$T/original" "$T/counts" -o "$T/twice" &&
		cmp -s "$T/twice" "$T"/profiles/original.*.profile && ok "morphctl profile makes the same of it" ||
		{ not_ok "morphctl profile makes the same of it"; note "$(cat "$T/e")"; }
	out=$("$verify" "$T/original" "$P" 2>&1)
	[ $? = 3 ] && [[ $out = *instrumented* ]] && ok "the verifier refuses it by name" || not_ok "the verifier refuses it by name: $out"
	out=$("$edit" optimize "$P" --all -o "$T/generation" 2>&1)
	[ $? = 3 ] && [[ $out = *instrumented* ]] && ok "it is not optimized" || not_ok "it is not optimized: $out"
	cp "$T/aside" "$T/cut"
	instrument "$T/original" "$T/generation"
	cmp -s "$T/cut" "$T/counts" && cmp -s "$P" "$T/generation" && ok "the same input gives the same bytes" ||
		not_ok "the same input gives the same bytes"
	"$edit" optimize "$T/original" --profile "$T/once" -o "$T/generation" 2>"$T/e" &&
		"$verify" "$T/original" "$T/generation" 2>>"$T/e" && ok "an exact profile optimizes" ||
		{ not_ok "an exact profile optimizes"; note "$(cat "$T/e")"; }
fi

# --- real programs ---

real() {		# FILE WORKLOAD SIZE
	local name=$2
	[ -x "$1" ] || { skip "$name" "this machine has no $1"; return; }
	(cd "$T/work" && rm -rf ./* && "$work/$name.sh" prepare "$3" 7) || { not_ok "$name: prepare"; return; }
	cp "$1" "$T/bin/$name"
	record_run "$T/before" "$work/$name.sh" run "$T/bin/$name"
	instrument "$1" "$T/bin/$name" || return
	record_run "$T/after" "$work/$name.sh" run "$T/bin/$name"
	same_run "$name" "$T/before" "$T/after"
	profile "$name" "$1" || return
	[ "$(grep -c '^edge' "$T/profile")" -gt 100 ] && ok "$name: $(grep -c '^block' "$T/profile") blocks ran" ||
		not_ok "$name: edges"
}

real "$(realpath /usr/bin/perl 2>/dev/null)" perl 5
real "$(realpath /usr/bin/sqlite3 2>/dev/null)" sqlite3 5
file=$(library libsqlite3.so.0)
if [ -n "$file" ] && [ -x /usr/bin/sqlite3 ]; then
	(cd "$T/work" && rm -rf ./* && "$work/sqlite3.sh" prepare 5 7)
	record_run "$T/before" "$work/sqlite3.sh" run /usr/bin/sqlite3
	if instrument "$file" "$T/lib/libsqlite3.so.0"; then
		record_run "$T/after" env LD_LIBRARY_PATH="$T/lib" "$work/sqlite3.sh" run /usr/bin/sqlite3
		same_run "libsqlite3" "$T/before" "$T/after"
		profile libsqlite3 "$file" && [ "$(grep -c '^call' "$T/profile")" -gt 100 ] && ok "libsqlite3: calls" || not_ok "libsqlite3: calls"
	fi
else
	skip "libsqlite3" "this machine lacks it"
fi
done_testing
