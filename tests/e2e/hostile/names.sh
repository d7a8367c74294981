#!/bin/bash
# names.sh - programs named by somebody who wants to steer the terminal, or break --json, of whoever asks
#
# Each is run and laid out anew; then everything that names it is looked at: all commands, with and
# without --json, errors, the log, and what morph-edit and morph-verify say.  What harms is told by
# Unicode as perl knows it, not by our own table.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
sed -i 's/min_samples: .*/min_samples: 1/' "$root/morph.yaml"
check_here "the daemon starts" start_daemon

names=(
	$'c0-\e[31m\x7f' $'line-\nnext' $'c1-\xc2\x9b31m\xc2\x85' $'raw-\x9b31m' $'cut-\xe2\x80'
	$'bidi-\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9'
	$'marks-\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c' $'separators-\xe2\x80\xa8\xe2\x80\xa9' 'quote-"\x9b'
)
head -c 300000 /dev/urandom >"$root/data"
for n in "${names[@]}"; do
	cp "$root/orig/gzip" "$root/bin/$n"
done

# Nothing but lines of characters that are shown.
harmless() {		# FILE
	perl -MEncode -e '
		local $/; open my $f, "<:raw", $ARGV[0] or die; my $raw = <$f>;
		my $text = eval { decode("UTF-8", $raw, Encode::FB_CROAK) };
		die "not UTF-8\n" unless defined $text;
		$text =~ s/\n//g;
		die sprintf "U+%04X is in it\n", ord $1 if $text =~ /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}])/;' "$1"
}
json() {		# FILE: two readers of it agree
	python3 -m json.tool <"$1" >/dev/null && jq -e . <"$1" >/dev/null
}
says() {		# COMMAND...: on both outputs, whatever its code
	"$@" >"$root/out" 2>"$root/errors" || true
	harmless "$root/out" && harmless "$root/errors"
}
says_json() {
	says "$B/morphctl" --socket "$root/sock" --json "$@" && json "$root/out"
}

all_sampled() {
	local n i
	for i in $(seq 60); do
		for n in "${names[@]}"; do "$root/bin/$n" -9 <"$root/data" >/dev/null; done
		taken_in || return 1
		ctl --json list >"$root/list"
		[ "$(grep -c '"path": "'"$root/bin/"'.*"samples": [1-9]' "$root/list")" -ge ${#names[@]} ] && return 0
	done
	cat "$root/list"
	return 1
}
check "all are sampled" all_sampled
bad=
for n in "${names[@]}"; do
	p=$root/bin/$n
	for c in "reoptimize --dry-run" reoptimize explain report history "policy show" verify restore undo annotate \
		report-bug; do
		args=("$p")
		[ "$c" = annotate ] && args+=($'main\x9b\e')
		says ctl $c "${args[@]}" || bad+="$c ${n%%-*}; "
		[ "$c" = reoptimize ] || says_json $c "${args[@]}" || bad+="--json $c ${n%%-*}; "
	done
	says "$B/morph-verify" "$p" "$p" || bad+="morph-verify ${n%%-*}; "
	says "$B/morph-verify" "$p.none" "$p" || bad+="morph-verify none ${n%%-*}; "
	says "$B/morph-edit" analyze "$p.none" || bad+="morph-edit ${n%%-*}; "
	says "$B/morph-edit" "$n" || bad+="morph-edit command ${n%%-*}; "
	says "$B/morph-edit" analyze --"$n" || bad+="morph-edit option ${n%%-*}; "
	says "$B/morph-edit" optimize "$p" -o "$root/x" --profile "$p" || bad+="morph-edit profile ${n%%-*}; "
	says "$B/morphctl" "$n" || bad+="morphctl command ${n%%-*}; "
	says "$B/morphctl" profile --"$n" || bad+="morphctl option ${n%%-*}; "
	says ctl report "$p.none" || bad+="unknown ${n%%-*}; "
	says ctl report "--$n" || bad+="option ${n%%-*}; "
	says "$B/morphctl" policy check "$p" || bad+="policy check ${n%%-*}; "
	says "$B/morphctl" --socket "$p" status || bad+="socket ${n%%-*}; "
done
check "nothing that is said of one of them does harm: $bad" [ -z "$bad" ]
for c in status list report history "policy show" "restore --all" "verify --all" look; do
	check "$c does no harm" says ctl $c
	check "$c --json is JSON, and does none" says_json $c
done
ctl --json list >"$root/list"
check "JSON has the bytes of what is no UTF-8" [ "$(jq -r '.modules[].path_hex | select(.)' "$root/list" |
	sed 's/../&\n/g' | grep -c '^9b$')" = 1 ]
check "and all names, by which they can be told apart" [ "$(jq -c '.modules[] | [.path, .path_hex]' "$root/list" |
	grep -F "$root/bin/" | sort -u | wc -l)" = ${#names[@]} ]
check_here "the daemon ends with code 0" stop_daemon
check "the log does no harm" harmless "$root/log"
check "and names them" grep -qF 'raw-\x9b31m' "$root/log"
done_testing
