# games.sh - stockfish counts nodes, povray draws, gnuplot plots: the same numbers and pictures
packages="stockfish povray gnuplot-nox"
files() { with_libraries "$(program stockfish /usr/games/stockfish | head -n 1)" "$(program povray)" "$(program gnuplot)"; }
run() {
	local s=/usr/games/stockfish
	$s bench 16 1 9 default depth 2>&1 | grep -a -e bestmove -e 'Nodes searched'
	printf 'position startpos moves e2e4\nd\ngo perft 4\nquit\n' | $s 2>&1
	cat >p.pov <<-'END'
	#version 3.7; global_settings { assumed_gamma 1 } camera { location <0, 2, -4> look_at 0 } light_source { <5, 5, -5> rgb 1 }
	#declare R = seed(3); #macro S(N) #if (N > 0) sphere { <rand(R) * 2 - 1, rand(R), rand(R) * 2>, 0.3 pigment { granite scale .2 } finish { reflection .3 phong 1 } } S(N - 1) #end #end S(14)
	plane { y, -1 pigment { checker rgb 1 rgb 0 } } difference { box { -0.5, 0.5 } sphere { 0, 0.6 } texture { pigment { wood } normal { bumps .3 } } translate <-1, 0, 0> }
	isosurface { function { x*x + y*y*y - z*sin(4*x) - .1 } contained_by { sphere { 0, .7 } } pigment { rgb <1, .3, .2> } translate x }
	END
	povray +Ip.pov +Op.png +W160 +H120 +A0.3 -D +WT2 2>err; echo $?; sha256sum p.png; echo 'sphere {' >e.pov; povray +Ie.pov -D -F 2>&1 | grep -a -i error
	gnuplot -e 'set term dumb 70 20; f(x) = a*x + b; set print "-"; plot sin(x) w l, x/9; fit f(x) "+" using 1:(2*$1+1) via a, b; print a, b; set term svg; set output "x.svg"; splot x*y w pm3d; print 7**9, gamma(5.5), word("a b", 2); x = 1/0; plot nofile(x)' 2>&1 | grep -v -e '^[A-Z].*20[0-9][0-9]' ; sha256sum x.svg
}
