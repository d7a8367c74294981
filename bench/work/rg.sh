#!/bin/sh
# rg.sh prepare LINES SEED | run BIN - ripgrep, one thread: words, patterns, Unicode, replacements, many files
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/prose.awk" >text
	rm -rf tree && mkdir tree && split -l 50 text tree/f. && : >tree/.ignore && echo 'f.ab*' >tree/.ignore ;;
run)
	rg="$2 --no-config -j1 --color never"
	$rg -c 'tion|ing|est' text; $rg -n -w 'th\w+' text | cksum; $rg -i -o 'é\p{L}+' text | cksum
	$rg -o '(\w+)@(\w+)\.example\.(org|com)' -r '$2 at $1' text | tail -n 3; $rg -F -c 'e, ' text
	$rg --sort path -l '[0-9]{4}' tree | cksum; $rg --sort path --json 'qu[a-z]' tree | grep -v -e elapsed | cksum
	$rg -v -c '[aeiou]{2}' text; $rg -U -c 'e\n[A-Z]' text; $rg --sort path -C1 --heading 'zz' tree | cksum
	$rg -e '^(\w+ ){3}[a-m]+,.*\d+$' -e '(?i)[x-z]{2}.{3,9}\bA' text | cksum
	$rg --files --sort path tree | cksum; $rg --count-matches '\b[b-d][^aeiou\s]\w*\b' text; $rg '(\w)x\w*(a|e)(n|t){2}' text ;;
esac
