#!/bin/bash
# analyze_all.sh - every ELF program of /usr/bin, and every library that is not large, comes to a
# verdict, in bounded time and memory (`make torture` takes all of them, and moves them)
#
# A verdict is exit code 0, or 3 with one line that gives a reason.  Programs with Go, OCaml or
# Haskell in their reason must really be that; nothing else may be refused for a runtime it does not
# have.  Perl, bash and other C programs must be almost completely movable.
set -u
edit=${B:-build}/morph-edit
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0

check() {		# CONDITION-STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

is_elf() { [ "$(head -c 4 "$1" 2>/dev/null)" = $'\x7fELF' ]; }

total=0
while IFS= read -r -d '' f; do
	is_elf "$f" || continue
	total=$((total + 1))
	(ulimit -t 60 -v 4000000; "$edit" analyze "$f") >"$work/out" 2>"$work/err"
	code=$?
	case $code in
	0)	;;
	3)	[ "$(wc -l <"$work/err")" = 1 ] || echo "$f: no reason" >>"$work/bad"
		echo "$f: $(cat "$work/err")" >>"$work/refused" ;;
	*)	echo "$f: exit code $code: $(head -1 "$work/err")" >>"$work/bad" ;;
	esac
done < <({ find /usr/bin -maxdepth 1 -type f -size +1k -print0
	find /usr/lib -type f -name '*.so*' -size -300k -print0; } | sort -z)
echo "# $total programs and libraries, $(cat "$work/refused" 2>/dev/null | wc -l) refused"
sed 's/^.*morph-edit: /# /' "$work/refused" 2>/dev/null | sed "s/'[^']*': //; s/[0-9][0-9]*/N/" |
	sort | uniq -c | sed 's/^/# /'
sed 's/^/# /' "$work/bad" 2>/dev/null
[ ! -s "$work/bad" ]
check $? "every file comes to a verdict"

# Which runtime a program really has shows in strings that only it contains.
false_alarm=0
while IFS= read -r line; do
	f=${line%%: *}
	case $line in
	*"Go program"*)		grep -q -a 'go1\.' "$f" ;;
	*OCaml*)		grep -q -a OCAMLRUNPARAM "$f" ;;
	*Haskell*)		grep -q -a GHCRTS "$f" ;;
	*"a 32-bit file"*)	[ "$(od -An -tu1 -j4 -N1 "$f")" -eq 1 ] ;;
	*"a dynamic loader"*)	readelf --dyn-syms -W "$f" 2>/dev/null | grep -q '_rtld_global' ;;
	*"set-user-id"*)	[ -u "$f" ] || [ -g "$f" ] ;;
	# patchelf moved what stood there, and left the letter X in its place.
	*"no room for program headers"*) head -c 4096 "$f" | grep -q -a XXXXXXXXXXXXXXXX ;;
	*"no code is covered"*)	! readelf --debug-dump=frames "$f" 2>/dev/null | grep -q ' FDE ' ;;
	*"it can be written to"*) readelf -SW "$f" 2>/dev/null | grep -q ' \.eh_frame  .* WA ' ;;
	*) false ;;
	esac || { echo "# $line"; false_alarm=1; }
done < <(cat "$work/refused" 2>/dev/null)
check $false_alarm "no file is refused for what it is not"

for p in /usr/bin/perl /usr/bin/bash /usr/bin/gzip /usr/bin/sort; do
	[ -e "$p" ] || { n=$((n + 1)); echo "ok $n - $p # SKIP not installed"; continue; }
	"$edit" analyze --table "$work/table" "$p" >"$work/out" && [ -s "$work/table" ]
	check $? "block table of $p"
	cp "$work/table" "$work/first"
	"$edit" analyze --table "$work/table" "$p" >/dev/null && cmp -s "$work/table" "$work/first"
	check $? "$p gives the same block table twice"
done
echo "1..$n"
