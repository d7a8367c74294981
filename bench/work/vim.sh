#!/bin/sh
# vim.sh prepare LINES SEED | run BIN - a text edited by commands: substitutions, moves, macros, sorting, syntax, scripts
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/prose.awk" >text
	cat >edit.vim <<-'END'
	set nocompatible encoding=utf-8 undolevels=1000
	edit text
	%s/\(\w\+\) \(\w\+\)/\2 \1/
	%s/\v<(\w)(\w*)>/\u\1\2/ge
	g/example/normal! A !
	g/^[A-M]/move 0
	v/e/delete
	%s/[éß]\+/<&>/ge
	let @q = "0f dwi[\<Esc>ea]\<Esc>j"
	normal! gg
	normal 300@q
	1,500sort /\w\+ /
	function Count(word)
	  let n = 0
	  for l in getline(1, '$')
	    let n += len(split(l, a:word, 1)) - 1
	  endfor
	  return n
	endfunction
	let seen = {}
	for l in getline(1, 1500)
	  for w in split(l, '\W\+')
	    let seen[tolower(w)] = get(seen, tolower(w), 0) + 1
	  endfor
	endfor
	let list = sort(items(seen), {a, b -> b[1] == a[1] ? (a[0] > b[0] ? 1 : -1) : b[1] - a[1]})
	call append(0, map(list[0:20], {_, v -> v[0] . ': ' . v[1]}))
	call append(0, [string(Count('th')), printf('%x', line('$')), join(reverse(split('abc', '\zs')), '-')])
	set textwidth=70
	normal! ggVGgq
	undo
	redo
	%join
	s/ \+/\r/g
	%!true
	undo
	write! done.text
	qall!
	END
	;;
run)
	rm -f done.text
	HOME=$PWD TERM=dumb "$2" -u NONE -i NONE -n -N -X -es -S edit.vim </dev/null 2>&1
	echo "$?"
	cksum done.text ;;
esac
