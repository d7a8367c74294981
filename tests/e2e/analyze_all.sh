#!/bin/bash
# analyze_all.sh - ELF programs of /usr/bin, and libraries that are not large, come to a verdict, in
# bounded time and memory: FILES of both at most, evenly chosen, the same each time (`make torture`
# takes all of them, and moves them)
#
# A verdict is exit code 0, or 3 with one line that gives a reason: what is installed is not ours, and
# any reason may be right.  Where something else tells as well whether a file is what the reason says, it
# must agree.  Perl, bash and other C programs are no programs to refuse.
set -u
. "$(dirname "$0")/../tap.sh"
edit=${B:-build}/morph-edit
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
touch "$work/refused" "$work/bad" "$work/wrong"

is_elf() { [ "$(head -c 4 "$1" 2>/dev/null)" = $'\x7fELF' ]; }

# One line, `morph-edit: 'FILE': REASON`; leaves REASON in $reason.
has_reason() {		# ERRORS FILE
	[ "$(wc -l <"$1")" = 1 ] && [[ $(cat "$1") == "morph-edit: '$2': "?* ]] || return 1
	reason=$(sed "s/.*': //" "$1")
}

files=${FILES:-600}
{ find /usr/bin -maxdepth 1 -type f -size +1k -print0
	find /usr/lib -type f -name '*.so*' -size -300k -print0; } | sort -z |
	while IFS= read -r -d '' f; do is_elf "$f" && printf '%s\0' "$f"; done >"$work/all"
all=$(tr -dc '\0' <"$work/all" | wc -c)
total=0 seen=0
while IFS= read -r -d '' f; do
	seen=$((seen + 1))
	[ "$all" -le "$files" ] || [ $((seen * files / all)) -gt $(((seen - 1) * files / all)) ] || continue
	total=$((total + 1))
	(ulimit -t 60 -v 4000000; "$edit" analyze "$f") >"$work/out" 2>"$work/err"
	code=$?
	case $code in
	0)	;;
	3)	if has_reason "$work/err" "$f"; then
			printf '%s\t%s\n' "$f" "$reason" >>"$work/refused"
		else
			echo "$f: refused without a reason: $(head -n 1 "$work/err")" >>"$work/bad"
		fi ;;
	*)	echo "$f: exit code $code: $(head -1 "$work/err")" >>"$work/bad" ;;
	esac
done <"$work/all"
note "$total of $all programs and libraries, $(wc -l <"$work/refused") refused"
note "$(cut -f 2 "$work/refused" | sed 's/[0-9][0-9]*/N/' | sort | uniq -c)"
check "there are programs to look at" [ "$total" -gt 100 ]
verdict() { ! grep . "$work/bad"; }
check "each file comes to a verdict" verdict

# Does something else say so, too?  Strings that only that runtime contains, or binutils.  What nothing
# else tells is believed.
agrees() {		# FILE REASON
	case $2 in
	"a Go program"*)	grep -q -a 'go1\.\|Go build' "$1" ;;
	*"a Haskell program"*)	grep -q -a GHCRTS "$1" ;;
	"a 32-bit file"*)	[ "$(od -An -tu1 -j4 -N1 "$1")" -eq 1 ] ;;
	"a dynamic loader"*)	readelf --dyn-syms -W "$1" 2>/dev/null | grep -q '_rtld_global\|_dl_debug_state' ;;
	"set-user-id"*)		[ -u "$1" ] || [ -g "$1" ] ;;
	"compiled for gprof"*)	readelf -sW "$1" 2>/dev/null | grep -q monstartup ;;
	"no code is covered"*)	! readelf --debug-dump=frames "$1" 2>/dev/null | grep -q ' FDE ' ;;
	".eh_frame: it can be written to") readelf -SW "$1" 2>/dev/null | grep -q ' \.eh_frame  .* WA ' ;;
	"its code is relocated"*) readelf -dW "$1" 2>/dev/null | grep -q 'TEXTREL' ;;
	"its code is writable")	readelf -lW "$1" 2>/dev/null | grep -q '^ *LOAD .* RWE ' ;;
	"it has no section headers") readelf -hW "$1" 2>/dev/null | grep -q 'Number of section headers: *0' ;;
	"not for x86-64")	! readelf -hW "$1" 2>/dev/null | grep -q 'Machine: .*X86-64' ;;
	esac
}
while IFS=$'\t' read -r f reason; do
	agrees "$f" "$reason" || echo "$f: $reason" >>"$work/wrong"
done <"$work/refused"
true_reasons() { ! grep . "$work/wrong"; }
check "no file is refused for what it is not" true_reasons

same_twice() { "$edit" analyze --table "$work/again" "$1" >/dev/null && cmp -s "$work/table" "$work/again"; }
for p in perl bash gzip sort; do
	f=$(command -v $p) || { skip "$p" "not installed"; continue; }
	rm -f "$work/table"
	"$edit" analyze --table "$work/table" "$f" >/dev/null 2>"$work/err"
	check "block table of $p" [ -s "$work/table" ]
	check "$p gives the same block table twice" same_twice "$f"
done
done_testing
