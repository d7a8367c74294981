# shells.sh - shells that are not bash: mksh, ksh93, tcsh, yash, zsh, fish; Rexx, sed's and bc's kin
packages="mksh ksh93u+m tcsh yash zsh fish regina-rexx bsdextrautils"
files() { local p; for p in mksh ksh93 tcsh yash zsh fish regina; do with_libraries "$(program $p)"; done; elves_of zsh libregina3 2>/dev/null; }
run() {
	local p
	cat >p.sh <<-'END'
	fib() { if [ "$1" -lt 2 ]; then echo "$1"; else echo $(( $(fib $(($1 - 1))) + $(fib $(($1 - 2))) )); fi; }
	fib 9; trap 'echo usr1' USR1; kill -USR1 $$; (exit 5); echo $?; x=abcabc; echo "${x#a*b}" "${x%%b*}"; set -- a b c; shift; echo "$*"; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo $i
	case xyz in x?z) echo m;; esac; cat <<X
	here $x $((1 << 20))
	X
	echo b a c | tr ' ' '\n' | sort | while read -r l; do printf '<%s>' "$l"; done; echo; trap 'echo bye' EXIT; set -e; eval 'y=$x'; echo "$y"; ulimit -n >/dev/null; sleep 0 & wait; nosuchcommand
	END
	sed -i 's/^\t//' p.sh
	for p in mksh ksh93 yash 'zsh --emulate sh' zsh; do command -v ${p% *} >/dev/null && { $p p.sh 2>&1; echo "$p $?"; }; done
	zsh -fc 'zmodload zsh/mathfunc zsh/regex zsh/pcre zsh/zselect zsh/system; print $((sqrt(2))) ${(s:,:)${:-a,b}} ${(U)x:-abc} *(.om[1]:t); typeset -A h; h=(a 1 b 2); print ${(kv)h}; [[ abc =~ "b(.)" ]] && print $match; f() { always_out=1; { return 3 } always { print always } }; f; print $?; repeat 3 print -n x; print; autoload -U compinit zcalc; print ${${(f)"$(seq 3)"}[2]}; print -P %5~; for i ({1..20000}) (( n += i )); print $n; TRAPZERR() { print zerr }; false; exec {fd}<p.sh; sysread -i $fd -s 9 v; print $v; zselect -t 10 -r 0 || true; setopt extendedglob; print (#i)P.SH'
	tcsh -f -c 'set a = (1 2 3); @ b = $a[2] * 7; echo $b $#a; foreach i ($a) ; echo $i ; end' 2>&1; printf 'set x = 0\nwhile ($x < 3000)\n@ x++\nend\necho $x; if (-e p.sh) echo yes\nalias q echo q\nq\nonintr -\nkill -INT $$\necho `echo sub` $%%x\nexit 4\n' >p.csh; tcsh -f p.csh 2>&1; echo $?
	fish --no-config -c 'function f; test $argv[1] -lt 2; and echo $argv[1]; or math (f (math $argv[1] - 1)) + (f (math $argv[1] - 2)); end; f 9; set l b a c; string join , (printf "%s\n" $l | sort); string replace -r "(\d+)" "<\$1>" a12; for i in (seq 2000); set -a m $i; end; count $m; function h --on-event e; echo ev $argv; end; emit e 5; math "sqrt(2)^3"; switch x; case "?"; echo q; end; status function; nosuch; echo $status; complete -C"git sta" | head -n 2; echo "x (" | fish_indent; begin; false; end; or echo or; exit 6' 2>&1; echo $?
	printf "x = 5; do i = 1 to 20000; x = (x * 31 + i) // 1000003; end; say x; say right(date('S', 1000, 'B'), 4) translate('abc', 'xy', 'ab') 2 ** 200; parse value 'a b c' with p . q; say p q; signal on syntax; say 1 / 0; syntax: say rc condition('C'); interpret 'say wordpos(\"b\", \"a b\")'; exit 3\n" >p.rexx; regina p.rexx 2>&1; echo $?
}
