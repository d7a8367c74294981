#!/bin/bash
# documents.sh - manual pages are well formed and name every command and setting there is;
# documents name only files that exist, and wrap at 100 columns; the table of parts is that of deps.sh
. tests/tap.sh

for page in morphd.8 morphctl.1 morph-edit.1 morph-verify.1 morph-live.8 morph.yaml.5; do
	if command -v mandoc >/dev/null; then
		check "$page is well formed" mandoc -Tlint -Wwarning "doc/$page"
	else
		skip "$page is well formed" "no mandoc"
	fi
done

# Commands: in --help a line indented by exactly two blanks begins with one; in the page each is
# an item `.It Cm NAME`.
in_help() {
	"$B/$1" --help | sed -nE 's/^  ([a-z][a-z-]*).*/\1/p' | sort -u
}
in_page() {
	sed -nE "s/^\.It Cm ([a-z][a-z-]*).*/\1/p; /^\.It Xo/{n;s/^\.Cm ([a-z][a-z-]*).*/\1/p}" "doc/$1.1" | sort -u
}
for program in morphctl morph-edit; do
	help=$(in_help $program) page=$(in_page $program)
	if [ -n "$help" ] && [ "$help" = "$page" ]; then
		ok "$program.1 has the commands of $program --help"
	else
		not_ok "$program.1 has the commands of $program --help"
		note "$(diff <(echo "$help") <(echo "$page"))"
	fi
done

settings=$(sed -nE 's/^SETTING\(([a-z_]+), *([a-z_]+),.*/\1.\2/p' policy/policy.def | sort)
page=$(sed -nE 's/^\.It Va ([a-z_]+\.[a-z_]+).*/\1/p' doc/morph.yaml.5 | sort)
shipped=$(awk '/^[a-z_]+:/ { section = $1; sub(/:.*/, "", section) }
	/^  [a-z_]+:/ { key = $1; sub(/:.*/, "", key); print section "." key }' etc/morph.yaml | sort)
[ "$settings" = "$page" ] && ok "morph.yaml.5 has every setting" || {
	not_ok "morph.yaml.5 has every setting"; note "$(diff <(echo "$settings") <(echo "$page"))"; }
[ "$settings" = "$shipped" ] && ok "etc/morph.yaml has every setting" || {
	not_ok "etc/morph.yaml has every setting"; note "$(diff <(echo "$settings") <(echo "$shipped"))"; }

texts="DESIGN.md HACKING.md README.md bench/results/README.md $(ls doc/*.md)"
prose() {		# FILE: without code blocks; one blank line for each of theirs
	awk '/^```/ { code = !code; print ""; next } { print code ? "" : $0 }' "$1"
}

# Words in backticks that begin with a folder of the tree, or are the name of a source file alone.
# Patterns (NAME, FOLDER, X, Y, *) name no file.
named() {		# FILE
	prose "$1" | awk 'BEGIN { RS = "" } { gsub(/\n/, " "); print }' | grep -o '`[^`]*`' |
		tr -s '` ' '\n' | sed -E 's/[,.;:)]+$//; s/^\(//' |
		grep -E '^(lib|binary|verify|live|policy|postmorph|editor|monitor|manager|etc|doc|bench|tests|\.ci)/|^[^/]*\.(c|h|sh|def|md)$' |
		grep -vE '\*|NAME|FOLDER|\$|(^|[/_])[XY]([/.]|$)' | sort -u
}
missing=$(for f in $texts; do
	named "$f" | while read -r path; do
		case $path in
		*/*) [ -e "$path" ] ;;
		*) [ -e "$path" ] || [ -n "$(find lib binary verify live share policy postmorph editor monitor manager tests bench \
			-name "$path" -print -quit)" ] ;;
		esac || echo "$f: $path"
	done
done)
[ -z "$missing" ] && ok "files that documents name exist" || {
	not_ok "files that documents name exist"; note "$missing"; }
[ "$(for f in $texts; do named "$f"; done | wc -l)" -gt 100 ] && ok "names of files were found in documents" ||
	not_ok "names of files were found in documents"

# "FOLDER: WHAT IT MAY INCLUDE", sorted, by DESIGN.md and by DEPS of deps.sh.  In DESIGN.md an inner
# folder begins with a blank, and its names are relative to its room where there is such a folder.
table=$(awk '/^\| folder \| what it is/ { on = 1; getline; next } on && !/^\|/ { exit } on' DESIGN.md |
	while IFS='|' read -r _ name _ may _; do
		case $name in
		' ` '*) name=${name#' ` '} folder=$room/${name%%/*} ;;
		*) name=${name#' `'} room=${name%%/*} folder=$room ;;
		esac
		for word in $(grep -o '`[^`]*`' <<<"$may" | tr -d '`'); do
			[ -d "$room/$word" ] && word=$room/$word
			echo "$folder: $word"
		done
		echo "$folder:"
	done | sort)
deps=$(awk '/^export DEPS="/ { on = 1; next } /^"$/ { on = 0 }
	on { print $1; for (i = 2; i <= NF; i++) print $1, $i }' tests/lint/deps.sh | sort)
[ -n "$deps" ] && [ "$table" = "$deps" ] && ok "the table of parts in DESIGN.md is that of deps.sh" || {
	not_ok "the table of parts in DESIGN.md is that of deps.sh"
	note "$(diff <(echo "$table") <(echo "$deps"))"; }

wide=$(for f in $texts; do
	prose "$f" | LC_ALL=C.UTF-8 grep -nE '^.{101}' | grep -vE '^[0-9]+:\|' | sed "s|^|$f:|"
done
for f in doc/*.[158]; do
	awk '/^\.Bd -literal/ { code = 1 } /^\.Ed/ { code = 0 } { print code ? "" : $0 }' "$f" |
		LC_ALL=C.UTF-8 grep -nE '^.{101}' | sed "s|^|$f:|"
done)
[ -z "$wide" ] && ok "documents wrap at 100 columns" || {
	not_ok "documents wrap at 100 columns"; note "$wide"; }
done_testing
