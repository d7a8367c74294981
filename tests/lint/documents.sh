#!/bin/bash
# documents.sh - manual pages are well formed and name every command and setting there is
. tests/tap.sh

for page in morphd.8 morphctl.1 morph-edit.1 morph-verify.1 morph.yaml.5; do
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
done_testing
