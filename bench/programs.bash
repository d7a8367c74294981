# programs.bash - sourced by bench/speed.sh and bench/ablation.sh: the programs, their folders, training
#
# Everything of a program is in $WORK/NAME and stays there until its original changes:
#
#	v/VARIANT___.../FILE	the file as it was (original) and as each variant made it; names of
#					one length, since the stack's place depends on it
#	v/VARIANT___....why	why there is no such variant
#	train/1..3 test small		inputs
#	log pool.profile		the long recording, at RATE Hz: about POOL samples in the module or more
#	N.profile, exact.profile	thinned; counted by an instrumented program, exact-test.profile on the
#					test's input
#	exact@N.profile			of the functions only that N samples tell of
#	N+PERCENT.profile		counted likewise, of the functions only that are uncertain by N samples
#
# A program is a file that is optimized and a program that is run: the same one, or a library and its
# user, which then finds the library by LD_LIBRARY_PATH.
CACHE=${BENCH_CACHE:-/var/tmp/morph-bench-cache}
WORK=${BENCH_WORK:-$CACHE/speed}
loads=$PWD/bench/work
POOL=${POOL:-100000} RATE=${RATE:-10000}
LIMIT=${LIMIT:-600}		# seconds that any step may take
# percent, by default as the daemon counts
UNCERTAIN=${UNCERTAIN:-$(sed -n 's/^enum { DECIDE_COUNT_PCT = \([0-9]*\) };$/\1/p' policy/decide.h)}
STATE=$CACHE/state
. tests/torture/fetch.bash
TRAIN="train/1 train/2 train/3" TESTS="small test"	# inputs to learn from, and those whose output is compared
BOLT=${BOLT:-$(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -V | tail -n 1)}

# NAME WORKLOAD FILE PROGRAM, one a line; names with -q are bench/build.sh's.
programs_all() {
	local p lib=/usr/lib/x86_64-linux-gnu cc1
	for p in perl python3.11 speedtest1 gawk postgres; do
		echo "$p-q $p $CACHE/bin/$p $CACHE/bin/$p"
	done
	for p in perl python3.11 gawk bash git gzip; do
		echo "$p $p /usr/bin/$p /usr/bin/$p"
	done
	echo "php php /usr/bin/php8.2 /usr/bin/php8.2"
	echo "postgres postgres /usr/lib/postgresql/15/bin/postgres /usr/lib/postgresql/15/bin/postgres"
	cc1=$(gcc-12 -print-prog-name=cc1 2>/dev/null) && echo "cc1 cc1 $cc1 $cc1"
	echo "sqlite3 sqlite3 $lib/libsqlite3.so.0 /usr/bin/sqlite3"
	echo "clang clang $lib/libLLVM-14.so.1 /usr/bin/clang-14"
	echo "ruby ruby $lib/libruby-3.1.so.3.1 /usr/bin/ruby3.1"
	echo "gs gs $lib/libgs.so.10 /usr/bin/gs"
	programs_second
}

# The second set, Debian 12's alone: chosen by what people run, and frozen (this list, bench/work and its sizes)
# before any of them was measured, so nothing is left out for what it gained.
programs_second() {
	local lib=/usr/lib/x86_64-linux-gnu cc1plus
	# interpreters and shells
	for p in lua5.4 dash bc; do echo "$p $p /usr/bin/$p /usr/bin/$p"; done
	echo "mawk awk_uses /usr/bin/mawk /usr/bin/mawk"
	echo "tclsh tclsh $lib/libtcl8.6.so /usr/bin/tclsh8.6"
	echo "guile guile $lib/libguile-3.0.so.1 /usr/bin/guile"
	echo "vim vim /usr/bin/vim.basic /usr/bin/vim.basic"
	# compressors
	echo "xz xz $lib/liblzma.so.5 /usr/bin/xz"
	echo "zstd zstd /usr/bin/zstd /usr/bin/zstd"
	echo "bzip2 bzip2 $lib/libbz2.so.1.0 /usr/bin/bzip2"
	# compilers, assembler, linkers, what builds with them
	cc1plus=$(gcc-12 -print-prog-name=cc1plus 2>/dev/null) && echo "cc1plus cc1plus $cc1plus $cc1plus"
	echo "clang++ clang++ $lib/libclang-cpp.so.14 /usr/bin/clang-14"
	echo "as as /usr/bin/x86_64-linux-gnu-as /usr/bin/x86_64-linux-gnu-as"
	echo "ld ld $lib/libbfd-2.40-system.so /usr/bin/x86_64-linux-gnu-ld.bfd"
	echo "lld lld /usr/lib/llvm-14/bin/lld /usr/lib/llvm-14/bin/lld"
	for p in make cmake; do echo "$p $p /usr/bin/$p /usr/bin/$p"; done
	# databases and servers
	echo "mariadb mariadb /usr/sbin/mariadbd /usr/sbin/mariadbd"
	echo "redis-server redis-server /usr/bin/redis-server /usr/bin/redis-server"
	echo "nginx nginx /usr/sbin/nginx /usr/sbin/nginx"
	# documents, pictures, films
	echo "libxml2 libxml2 $lib/libxml2.so.2 /usr/bin/xmllint"
	echo "troff troff /usr/bin/troff /usr/bin/troff"
	echo "poppler poppler $lib/libpoppler.so.126 /usr/bin/pdftotext"
	echo "convert convert $lib/libMagickCore-6.Q16.so.6 /usr/bin/convert-im6.q16"
	echo "cjpeg cjpeg $lib/libjpeg.so.62 /usr/bin/cjpeg"
	echo "cwebp cwebp $lib/libwebp.so.7 /usr/bin/cwebp"
	echo "rsvg rsvg /usr/bin/rsvg-convert /usr/bin/rsvg-convert"
	echo "ffmpeg ffmpeg $lib/libavcodec.so.59 /usr/bin/ffmpeg"
	# small tools
	for p in grep sed sort rg; do echo "$p $p /usr/bin/$p /usr/bin/$p"; done
	echo "jq jq $lib/libjq.so.1 /usr/bin/jq"
	# libraries under several programs
	echo "libc libc $lib/libc.so.6 /usr/bin/dash"
	echo "zlib zlib $lib/libz.so.1 /usr/bin/python3.11"
	echo "openssl openssl $lib/libcrypto.so.3 /usr/bin/openssl"
	# puzzles and games
	echo "minisat minisat /usr/lib/libminisat.so.2 /usr/bin/minisat"
	echo "gnugo gnugo /usr/games/gnugo /usr/games/gnugo"
}

# Debian's packages for them, besides those that every machine has.
program_packages() {	# NAME
	case $1 in
	gawk | git | bc | vim | make | cmake | jq | zstd | mawk | ruby | minisat | gnugo) echo "$1" ;;
	perl | bash | dash | grep | sed | sort | libc | gzip | xz | openssl | *-q) ;;
	python3.11 | lua5.4) echo "$1" ;;
	php) echo php8.2-cli ;;
	postgres) echo postgresql-15 ;;
	cc1) echo gcc-12 ;;
	cc1plus) echo g++-12 ;;
	clang) echo clang-14 ;;
	clang++) echo clang-14 g++-12 ;;
	sqlite3) echo sqlite3 ;;
	gs) echo ghostscript ;;
	tclsh) echo tcl8.6 ;;
	guile) echo guile-3.0 ;;
	bzip2) echo bzip2 ;;
	as | ld) echo binutils gcc-12 ;;
	lld) echo lld-14 gcc-12 ;;
	mariadb) echo mariadb-server-core ;;
	redis-server) echo redis-server ;;
	nginx) echo nginx-light ;;
	libxml2) echo libxml2-utils xsltproc ;;
	troff) echo groff-base ;;
	poppler) echo poppler-utils ghostscript ;;
	convert) echo imagemagick-6.q16 ;;
	cjpeg) echo libjpeg-turbo-progs ;;
	cwebp) echo webp libjpeg-turbo-progs ;;
	rsvg) echo librsvg2-bin ;;
	ffmpeg) echo ffmpeg ;;
	rg) echo ripgrep ;;
	zlib) echo python3.11 git ;;
	esac
}

# What the chosen programs need of the machine.
prepare_machine() {
	local name rest
	case " ${PROGRAMS:--q} " in *"-q "*) bench/build.sh ;; esac
	mkdir -p "$STATE"
	missing_packages $(programs_all | while read -r name rest; do
		case " ${PROGRAMS:-$name} " in *" $name "*) program_packages "$name" ;; esac
	done | tr ' ' '\n' | sort -u) >&2
}

# Those of PROGRAMS (all) that this machine has.
programs() {
	programs_all | while read -r name rest; do
		case " ${PROGRAMS:-$name} " in *" $name "*) ;; *) continue ;; esac
		[ -e "${rest##* }" ] && set -- $rest && [ -e "$2" ] && echo "$name $rest"
	done
}

# Sets P (folder), NAME, load (workload), file (base name), bin (what is run; of programs, by variant).
program_load() {	# NAME WORKLOAD FILE PROGRAM
	NAME=$1 load=$2 P=$WORK/$1
	file=${3##*/} bin=$4 source=$3
	[ "$3" = "$4" ] && bin=
}

# Where a variant is, or with RUN_FROM its copy that is run.
variant_dir() { printf '%s/%s' "${RUN_FROM:-$P/v}" "$(printf "%-${NAME_WIDTH:-32}s" "$1" | tr ' ' _)"; }

# The command line that runs a variant's workload in one of the input folders; with RUN_FROM its copy, in the
# folder's copy beside that.
variant_run() {		# VARIANT INPUT
	local d in=$P/$2
	d=$(variant_dir "$1")
	[ -z "${RUN_FROM:-}" ] || in=$d.$2
	echo "cd $in && LD_LIBRARY_PATH=$d exec $loads/$load.sh run ${bin:-$d/$file}"
}

# As it, by way of a wrapper that is run in the program's place.
variant_run_under() {	# VARIANT INPUT WRAPPED-COMMAND...
	local d v=$1 input=$2
	d=$(variant_dir "$v")
	shift 2
	printf '#!/bin/sh\nexec %s %s "$@"\n' "$*" "${bin:-$d/$file}" >"$P/wrapper"
	chmod 755 "$P/wrapper"
	echo "cd $P/$input && LD_LIBRARY_PATH=$d exec $loads/$load.sh run $P/wrapper"
}

no_variant() {		# VARIANT WHY
	rm -rf "$(variant_dir "$1")"
	echo "$2" >"$(variant_dir "$1").why"
	echo "$NAME: no $1: $2" >&2
	return 1
}

digest() { sha256sum "$@" | cut -d ' ' -f 1 | sha256sum | cut -c 1-16; }

# CPU time of the original's test, roughly.
measure_ms() {
	local TIMEFORMAT='%U %S'
	{ time { (eval "$(variant_run original test)") >/dev/null 2>&1 </dev/null; }; } 2>&1 |
		awk '{ printf "%d\n", 1000 * ($1 + $2) }'
}

# The original, its inputs and their output.
prepare_program() {
	local size train small i id
	size=$(awk -v n="$load" '$1 == n { print $2, $3, $4 }' "$loads/sizes")
	id="$size $(digest "$source" "$loads/${load%%[.0-9]*}"* "$loads"/{weblog,prose,cxx_source}.awk "$loads"/{sources,mixture}.bash)"
	if [ "$(cat "$P/id" 2>/dev/null)" != "$id" ]; then
		rm -rf "$P"
		mkdir -p "$(variant_dir original)" && cp -L "$source" "$(variant_dir original)/$file" || return
		read -r size train small <<<"$size"
		for i in "train/1 $train 2" "train/2 $train 4" "train/3 $train 6" "test $size 77" "small $small 77"; do
			set -- $i
			mkdir -p "$P/$1" && (cd "$P/$1" && "$loads/$load.sh" prepare "$2" "$3") || return
		done
		for i in small test; do
			(eval "$(variant_run original $i)") >"$P/$i.expected" 2>/dev/null </dev/null
			[ -s "$P/$i.expected" ] || { echo "$NAME: the original prints nothing" >&2; return 1; }
		done
		echo "$id" >"$P/id"
	fi
	[ -s "$P/ms" ] || measure_ms >"$P/ms"
}

# All training inputs, again and again.
train_script() {	# VARIANT TIMES [WRAPPED-COMMAND...]
	local i v=$1 times=$2
	shift 2
	echo "for t in \$(seq $times); do"
	for i in $TRAIN; do
		if [ $# -gt 0 ]; then echo "($(variant_run_under "$v" $i "$@"))"; else echo "($(variant_run "$v" $i))"; fi
	done
	echo "done >/dev/null 2>&1 </dev/null"
}

profile_samples() { awk '$1 == "block" { n += $3 } END { printf "%d", n }' "$1"; }

# The profile of the log in $P/profiles, and how many samples of the module it has.
profile_log() {
	local f
	f=$P/profiles/$file.$(sha256sum "$(variant_dir original)/$file" | cut -c 1-12).profile
	rm -rf "$P/profiles" "$P/pool.profile"
	"$B/morphctl" profile "$P/log" -o "$P/profiles" >"$P/profile.out" 2>&1
	[ -e "$f" ] && mv "$f" "$P/pool.profile" && profile_samples "$P/pool.profile" && return
	tail -n 1 "$P/profile.out" >&2
	echo 0
}

# A log with POOL samples of the module (5 % fewer will do), in as many rounds of training as the test's
# time lets expect; if they are too few, again in as many as that shows.
record_pool() {
	local times n
	times=$(awk -v ms="$(cat "$P/ms")" -v pool="$POOL" -v rate="$RATE" \
		'BEGIN { printf "%d", 1 + 1.1 * pool / rate / (ms / 1000 * 2 * 0.85) }')
	for _ in 1 2 3; do
		train_script original "$times" >"$P/train.sh"
		"$B/morphctl" record -o "$P/log" --clock=cpu-clock --rate="$RATE" --registers=256 --memory -- \
			sh "$P/train.sh" 2>"$P/record.err"
		n=$(profile_log)
		echo "$NAME: $n samples in $times rounds of training" >&2
		[ "$n" -ge $((POOL * 95 / 100)) ] && return
		times=$(awk -v t="$times" -v n="$n" -v pool="$POOL" \
			'BEGIN { printf "%d", 1 + t * 1.15 * pool / (n + 1) }')
		[ "$times" -le 1000 ] || { echo "training leads to too few samples"; return 1; }
	done
}

# Profiles are made of the log anew by a newer Morph; a log of a file that was copied anew tells nothing.
prepare_pool() {
	local stamp
	stamp=$(digest "$B/morphctl" "$B/morph-edit")
	[ "$(cat "$P/pool.made" 2>/dev/null)" = "$stamp" ] && [ -e "$P/pool.profile" ] && return
	[ -e "$P/log" ] && profile_log >/dev/null
	[ -e "$P/pool.profile" ] || record_pool || return
	echo "$stamp" >"$P/pool.made"
}

# N.profile, N-pc.profile (without what registers told), exact.profile, exact@N.profile, or a sentence why not.
prepare_profile() {	# WHICH
	case $1 in
	exact) profile_exact ;;
	exact@*) profile_seen "${1#*@}" ;;
	*-pc)
		prepare_profile "${1%-pc}" &&
			awk '$1 != "edge" && $1 != "call"' "$P/${1%-pc}.profile" >"$P/$1.profile" ;;
	*) prepare_pool && { [ "$P/$1.profile" -nt "$P/pool.profile" ] ||
		"$B/bench/thin" "$P/pool.profile" "$1" 1 >"$P/$1.profile" || { rm -f "$P/$1.profile"; false; }; } ;;
	esac
}

# What an instrumented program counted on those inputs: $P/NAME.profile, made again by another Editor, or for
# another profile, only.
count_exact() {		# NAME PROFILE INPUT...; PROFILE "": all functions are counted
	local d i stamp original name=$1 only=()
	[ "$2" ] && only=(--profile "$2" --uncertain "$UNCERTAIN")
	stamp=$(digest "$B/morph-edit" ${2:+"$2"})
	shift 2
	[ "$(cat "$P/$name.made" 2>/dev/null)" = "$stamp" ] && [ -s "$P/$name.profile" ] && return
	d=$(variant_dir morph-counting) original=$(variant_dir original)/$file
	rm -rf "$d" "$P/$name.profile" && mkdir -p "$d"
	timeout "$LIMIT" "$B/morph-edit" instrument "$original" -o "$d/$file" --counts "$P/counts" \
		"${only[@]}" 2>&1 || return
	chmod 666 "$P/counts" && chmod 755 "$d/$file"
	for i in "$@"; do
		timeout "$LIMIT" sh -c "$(variant_run morph-counting "$i")" >/dev/null 2>&1 </dev/null
	done
	timeout "$LIMIT" "$B/morph-edit" counts "$original" "$P/counts" -o "$P/$name.profile" 2>&1 || return
	rm -rf "$d" "$P/counts"
	echo "$stamp" >"$P/$name.made"
}

profile_exact() { count_exact exact "" $TRAIN; }

counted_name() { echo "$1+$UNCERTAIN"; }	# N
prepare_counted() {	# N
	prepare_profile "$1" && count_exact "$(counted_name "$1")" "$P/$1.profile" $TRAIN
}

# What N samples leave out of account, but nothing estimated.
profile_seen() {	# N
	prepare_profile "$1" && profile_exact &&
		"$B/morph-edit" analyze --table "$P/table" "$(variant_dir original)/$file" >"$P/analyze.log" 2>&1 &&
		"$B/bench/seen" "$P/table" "$P/exact.profile" "$P/$1.profile" >"$P/exact@$1.profile"
}

# The workload's small and test output must be the original's.
same_output() {		# VARIANT
	local i rc
	for i in $TESTS; do
		timeout "$LIMIT" sh -c "$(variant_run "$1" $i)" 2>/dev/null </dev/null | cmp -s - "$P/$i.expected"
		rc=("${PIPESTATUS[@]}")
		[ "${rc[1]}" = 0 ] && continue
		echo "crashes or prints something else ($i, exit code ${rc[0]})"
		return 1
	done
}

# Executions on the test's input, by the complete profile of it: taken branches, entry jumps, hot pages.
figures() {		# VARIANT
	"$B/morph-edit" report "$(variant_dir original)/$file" --profile "$P/exact-test.profile" \
		--compare "$(variant_dir "$1")/$file" 2>>"$T/log" | awk -v original="$([ "$1" = original ] && echo 1)" '
		{ v = original ? $(NF - 1) : $NF }
		/^taken branches/ { t = v } /^entry jumps/ { e = v } /^hot 4-KiB pages/ { p = v }
		END { if (t == "") exit 1; printf "%.0f %.0f %d\n", t, e, p }'
}

lay_out() {		# VARIANT PROFILE
	local d
	d=$(variant_dir "$1")
	rm -rf "$d" && mkdir -p "$d" &&
		"$B/morph-edit" optimize "$(variant_dir original)/$file" --profile "$2" -o "$d/$file" &&
		chmod 755 "$d/$file"
}
