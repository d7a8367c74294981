#!/bin/bash
# install.sh - `make install` puts everything in its place, keeps a changed policy, and
# `make uninstall` takes all of it away but the policy
. tests/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-install.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
quiet_make() { make -s B="$B" DESTDIR="$T" PREFIX=/usr SYSCONFDIR=/etc "$@"; }

check "make install" quiet_make install
want="etc/dpkg/dpkg.cfg.d/morph
etc/morph.yaml
usr/bin/morph-edit
usr/bin/morph-verify
usr/bin/morphctl
usr/lib/systemd/system/morphd.service
usr/lib/sysusers.d/morph.conf
usr/lib/tmpfiles.d/morph.conf
usr/libexec/morph/morph-edit
usr/libexec/morph/morph-live
usr/libexec/morph/morph-share
usr/libexec/morph/morph-verify
usr/sbin/morphd
usr/share/bash-completion/completions/morph-edit
usr/share/bash-completion/completions/morphctl
usr/share/fish/vendor_completions.d/morphctl.fish
usr/share/man/man1/morph-edit.1
usr/share/man/man1/morph-verify.1
usr/share/man/man1/morphctl.1
usr/share/man/man5/morph.yaml.5
usr/share/man/man8/morph-live.8
usr/share/man/man8/morphd.8
usr/share/zsh/vendor-completions/_morphctl"
have=$(cd "$T" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort)
[ "$have" = "$want" ] && ok "every file is in its place" || {
	not_ok "every file is in its place"; note "$(diff <(echo "$want") <(echo "$have"))"; }
check "installed morph-edit runs" "$T/usr/bin/morph-edit" --help
check "installed morph-verify runs" "$T/usr/bin/morph-verify" --help
check "installed morph-share runs" "$T/usr/libexec/morph/morph-share" --help
check "installed morphctl runs" "$T/usr/bin/morphctl" --help
check "installed morphd runs" "$T/usr/sbin/morphd" --help
check "the installed policy is right" "$T/usr/bin/morphctl" policy check "$T/etc/morph.yaml"
check "the unit names installed paths" grep -q '^ExecStart=/usr/sbin/morphd .*/etc/morph.yaml$' \
	"$T/usr/lib/systemd/system/morphd.service"

echo "# mine" >>"$T/etc/morph.yaml"
quiet_make install >/dev/null 2>&1
check "a changed policy is kept" grep -q '^# mine$' "$T/etc/morph.yaml"
check "make uninstall" quiet_make uninstall
have=$(cd "$T" && find . ! -type d)
[ "$have" = ./etc/morph.yaml ] && ok "only the policy stays" || { not_ok "only the policy stays"; note "$have"; }

completes() {		# EXPECTED WORD...: the last one is completed to it, among others
	local expected=$1
	shift
	completion=$(PATH=$(realpath "$B"):$PATH bash -c '. etc/morph.bash-completion
		compopt() { :; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _morph; echo "${COMPREPLY[@]}"' bash "$@")
	case " $completion " in
	*" $expected "*) ok "completion knows $expected" ;;
	*) not_ok "completion knows $expected"; note "$completion" ;;
	esac
}
completes reoptimize morphctl re
completes --dry-run morphctl reoptimize --d
completes reload morphctl policy re
completes --shuffle= morph-edit optimize --sh
completes on morphctl auto o
completes off morphctl --socket x auto of
completes --since= morphctl --socket x report --si
[ "$completion" = --since= ] && ok "each option once" || { not_ok "each option once"; note "$completion"; }
touch "$T/listed"
completes "" morphctl list "$T/li"
[ -z "$completion" ] && ok "and no files for list" || { not_ok "and no files for list"; note "$completion"; }
completes "$T/listed" morphctl policy check "$T/li"
mkdir "$T/fake"
cat >"$T/fake/morphctl" <<-'END'
	#!/bin/sh
	echo '{"modules": [{ "path": "/usr/bin/known", "samples": 1 }'
END
chmod +x "$T/fake/morphctl"
for words in "keep" "cfg" "policy show"; do
	completes /usr/bin/known "$T/fake/morphctl" $words /usr/bin/kn
done
for shell in zsh fish; do
	command -v $shell >/dev/null && { $shell -n etc/morph.$shell-completion && ok "completion for $shell" ||
		not_ok "completion for $shell"; }
done
offers() {		# LINE WORD...: these, and nothing else
	local out
	out=$(cd "$T/fake" && HOME=$T PATH=${morphctl:-$(realpath "$OLDPWD/$B")}:$PATH fish --no-config -c \
		"source $OLDPWD/etc/morph.fish-completion; complete -C '$1'" | tr '\n' ' ')
	[ "$out" = "${*:2}${2:+ }" ] && ok "fish offers for '$1': ${*:2}" || { not_ok "fish offers for '$1': ${*:2}"; note "$out"; }
}
if command -v fish >/dev/null; then
	offers "morphctl auto " off on
	offers "morphctl --socket x auto of" off
	offers "morphctl policy " check reload show
	offers "morphctl list "
	offers "morphctl --socket x list --" --all
	morphctl=$T/fake offers "morphctl policy show " /usr/bin/known morphctl
fi
# cmocka is a package for make check only
built=$(make -n B="$T/none" all "$T/none/bench/pairs")
[ -n "$built" ] && ! grep -q 'tests/unit\|cmocka' <<<"$built" && ok "the demonstration builds nothing of the unit tests" ||
	{ not_ok "the demonstration builds nothing of the unit tests"; note "$(grep 'tests/unit\|cmocka' <<<"$built" | head -n 3)"; }
done_testing
