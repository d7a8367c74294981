# gforth.sh - gforth, which copies its own code between labels to make new code: all of its engines, its tests
packages=gforth
files() { for p in gforth gforth-fast gforth-itc gforth-ditc; do program "$p"; done; elves_of gforth; with_libraries "$(program gforth)"; }
run() {
	local p
	cat >p.fs <<-'END'
	: fib dup 2 < if else dup 1- recurse swap 2 - recurse + then ;
	25 fib . cr
	: deep 1+ recurse ;
	: t ['] deep catch . ; 0 t cr
	: u 1 0 ['] / catch . ; u cr
	: v 0 ['] @ catch . ; v cr
	1e 3e f/ fe. 2e fsqrt f. cr
	s" 2 3 * ." evaluate cr
	create a 10 cells allot : fill-a 10 0 do i dup * a i cells + ! loop ; fill-a : sum-a 0 10 0 do a i cells + @ + loop ; sum-a . cr
	: many 0 100000 0 do i 3 and case 0 of 1+ endof 1 of 2 + endof 2 of 3 xor endof swap 1- swap endcase loop ; 
	see fib 
	s" abc" s" abd" compare . hex ff . decimal cr
	: sum3 0 100000 0 do i 3 and + loop ; sum3 . many . cr
	END
	for p in gforth gforth-fast gforth-itc gforth-ditc; do
		command -v $p >/dev/null || continue
		echo "$p"; $p p.fs -e ': w word-that-is-not ;' </dev/null 2>&1 | grep -v '[0-9A-Fa-f]\{8,\}'; echo $?
		$p --debug -e bye 2>&1 | grep -v -e 0x -e '[0-9A-Fa-f]\{8,\}' | head -n 40
		$p --no-dynamic p.fs -e bye </dev/null 2>&1 | grep -v '[0-9A-Fa-f]\{8,\}' | sha256sum; $p --no-super p.fs -e bye </dev/null 2>&1 | grep -v '[0-9A-Fa-f]\{8,\}' | sha256sum
	done
	gforth-fast -e ': f 0 300000000 0 do i xor loop ; f . bye' 2>&1
	ls /usr/share/gforth/*/*.fs | head -n 3; gforth /usr/share/gforth/*/bench/*.fs -e bye </dev/null 2>&1 | tail -n 3
}
