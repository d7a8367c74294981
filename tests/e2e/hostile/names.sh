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
harmless() {		# FILE...
	perl -MEncode -e '
		my $bad = 0;
		for my $name (@ARGV) {
			local $/; open my $f, "<:raw", $name or die; my $raw = <$f>;
			my $text = eval { decode("UTF-8", $raw, Encode::FB_CROAK) };
			print("$name: not UTF-8\n"), $bad = 1, next unless defined $text;
			$text =~ s/\n//g;
			next unless $text =~ /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}])/;
			printf "$name: U+%04X is in it\n", ord $1;
			$bad = 1;
		}
		exit $bad;' "$@"
}
json() {		# FILE...: two readers of it agree, of which one wants a value in each
	python3 -c '
import json, sys
bad = 0
for name in sys.argv[1:]:
	try:
		with open(name, encoding="utf-8") as f: json.load(f)
	except ValueError as e:
		print(name + ": no JSON: " + str(e))
		bad = 1
sys.exit(bad)' "$@" && [ "$(jq -c type "$@" | wc -l)" = $# ]
}
# What is said is looked at together, since each reader takes longer to start than to read: file N has what command
# N said, and what[N] is its name.
mkdir "$root/told"
what=()
says() {		# NAME COMMAND...: on both outputs, whatever its code
	"${@:2}" >"$root/told/${#what[@]}.out" 2>"$root/told/${#what[@]}.errors" || true
	what+=("$1")
}
json_files=()
says_json() {		# NAME COMMAND...
	json_files+=("$root/told/${#what[@]}.out")
	says "--json $1" "$B/morphctl" --socket "$root/sock" --json "${@:2}"
}
# The names of commands in the complaints about their files.
named() {
	local line n
	while read -r line; do
		n=${line#"$root/told/"}
		echo "${what[${n%%.*}]:-}: $line"
	done
}
none_harms() {
	[ ${#what[@]} -ge 250 ] && [ ${#json_files[@]} -ge 80 ] || return 1
	local rc=0
	harmless "$root/told"/* >"$root/complaints" || rc=1
	json "${json_files[@]}" >>"$root/complaints" || rc=1
	named <"$root/complaints"
	return $rc
}
said_now() { "$@" >"$root/out" 2>"$root/errors"; harmless "$root/out" "$root/errors"; }
said_json_now() { said_now "$B/morphctl" --socket "$root/sock" --json "$@" && json "$root/out"; }

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
for n in "${names[@]}"; do
	p=$root/bin/$n of=${n%%-*}
	for c in "reoptimize --dry-run" reoptimize explain report history "policy show" verify restore undo annotate \
		report-bug; do
		args=("$p")
		[ "$c" = annotate ] && args+=($'main\x9b\e')
		says "$c $of" ctl $c "${args[@]}"
		[ "$c" = reoptimize ] || says_json "$c $of" $c "${args[@]}"
	done
	says "morph-verify $of" "$B/morph-verify" "$p" "$p"
	says "morph-verify none $of" "$B/morph-verify" "$p.none" "$p"
	says "morph-edit $of" "$B/morph-edit" analyze "$p.none"
	says "morph-edit command $of" "$B/morph-edit" "$n"
	says "morph-edit option $of" "$B/morph-edit" analyze --"$n"
	says "morph-edit profile $of" "$B/morph-edit" optimize "$p" -o "$root/x" --profile "$p"
	says "morphctl command $of" "$B/morphctl" "$n"
	says "morphctl option $of" "$B/morphctl" profile --"$n"
	says "unknown $of" ctl report "$p.none"
	says "option $of" ctl report "--$n"
	says "policy check $of" "$B/morphctl" policy check "$p"
	says "socket $of" "$B/morphctl" --socket "$p" status
done
check "nothing that is said of one of them does harm" none_harms
for c in status list report history "policy show" "restore --all" "verify --all" look; do
	check "$c does no harm" said_now ctl $c
	check "$c --json is JSON, and does none" said_json_now $c
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
