#!/bin/bash
# sources.sh - files that a person can hold in mind; nothing of the machine they were written on
. tests/tap.sh

sources=$(find lib binary verify live share policy postmorph editor monitor manager tests bench etc doc .ci -type f \
	! -path '*/corpus/*' ! -path '*/results/*'; echo Makefile; ls ./*.md 2>/dev/null)

long=$(echo "$sources" | grep -E '\.([ch]|def|sh)$' | xargs wc -l |
	awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines" }')
[ -z "$long" ] && ok "no file is over 700 lines" || { not_ok "no file is over 700 lines"; note "$long"; }

wide=$(for f in $(echo "$sources" | grep -E '\.[ch]$'); do
	expand "$f" | awk -v f="$f" 'length($0) > 96 { print f ":" NR ": " length($0) " columns" }'
done)
[ -z "$wide" ] && ok "no line is over 96 columns" || { not_ok "no line is over 96 columns"; note "$wide"; }

# Functions of more than 60 lines between their braces.
long_functions() {	# FILE...
	awk 'FNR == 1 { begun = 0 }
	/^\{/ { begun = FNR; head = before }
	!/^[[:space:]{]/ { before = $0 }
	/^\}/ && begun {
		if (FNR - begun - 1 > 60)
			print FILENAME ":" begun ": " FNR - begun - 1 " lines: " head
		begun = 0
	}' "$@"
}
long=$(long_functions $(echo "$sources" | grep -E "\.[ch]$"))
[ -z "$long" ] && ok "no function is over 60 lines" || { not_ok "no function is over 60 lines"; note "$long"; }
try=$(mktemp) || exit 1
{ echo 'int f(void)'; echo '{'; yes '	;' | head -61; echo '}'; } >"$try"
[ -n "$(long_functions "$try")" ] && ok "a long function is noticed" || not_ok "a long function is noticed"
rm -f "$try"

# An archive has one object of a name: of two sources of one, the second would take the place of the first.
same_names() {		# FILE...: those below one room; manager/ctl has an archive of its own, main.c is in none
	printf '%s\n' "$@" | awk '{
		n = split($0, part, "/")
		room = part[1] == "manager" && part[2] == "ctl" ? "manager/ctl" : part[1]
		if (part[n] != "main.c" && seen[room, part[n]]++)
			print room ": several " part[n]
	}'
}
same=$(same_names $(echo "$sources" | grep -E '^(lib|binary|verify|live|policy|postmorph|editor|monitor|manager)/.*\.c$'))
[ -z "$same" ] && ok "no two sources of a room have one name" || { not_ok "no two sources of a room have one name"; note "$same"; }
[ "$(same_names manager/work/x.c manager/store/x.c manager/ctl/x.c lib/x.c)" = "manager: several x.c" ] &&
	ok "two of one name are noticed" || not_ok "two of one name are noticed"

# The folder this runs in, if it is a telling one, must not stand in sources or programs.
here=$(pwd -P)
case $here in
/tmp* | / | /usr* | /root) skip "no path of this machine" "the folder $here is not telling" ;;
*)
	found=$(echo "$sources" | xargs grep -lF "$here" /dev/null; for p in morphd morphctl morph-edit morph-verify morph-live morph-share; do
		[ -e "$B/$p" ] && grep -lF "$here" "$B/$p"; done)
	[ -z "$found" ] && ok "no path of this machine" || { not_ok "no path of this machine"; note "$found"; }
	;;
esac

# What programs print goes through lib/say.c, lib/tableprint.c and the log, which escape the text of others.
# The rest is listed: own texts, and numbers.
own_text='^(lib/(say|tableprint|tabletext)|manager/parent/(log|job|options)|manager/ctl/(main|ctl_ask|screen|statusline)|manager/main|editor/(main|passes/ir_print|cmd/cmd_(derived|symbols)|exchange/insntext|graph/memory)|verify/main|live/main)\.[ch]:'
found=$(grep -nE '\b(v?f?printf|v?dprintf|perror|psignal|v?syslog|v?warnx?|v?errx?|error)\(' \
	$(find lib binary verify live share policy postmorph editor monitor manager -name '*.[ch]') | grep -vE "$own_text")
[ -z "$found" ] && ok "text of others is printed escaped only" || {
	not_ok "text of others is printed escaped only"; note "$found"; }

found=$(echo "$sources" | grep -E '\.[ch]$' | xargs grep -nE '\b(TODO|FIXME|XXX)\b')
[ -z "$found" ] && ok "nothing left to do" || { not_ok "nothing left to do"; note "$found"; }

bad=$(find tests bench -name '*.sh' -print0 | xargs -0 -n 1 bash -n 2>&1)
[ -z "$bad" ] && ok "shell scripts parse" || { not_ok "shell scripts parse"; note "$bad"; }
mode=$(find tests/*/ bench -name '*.sh' ! -perm -u+x)
[ -z "$mode" ] && ok "shell scripts are executable" || { not_ok "shell scripts are executable"; note "$mode"; }
done_testing
