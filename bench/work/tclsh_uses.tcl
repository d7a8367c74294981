# tclsh_uses.tcl SIZE SEED USE... - text: a log matched and counted; numbers: primes, a fractal, orbits;
# objects: dictionaries, lists, classes, coroutines, procedures made by procedures
set uses [lassign $argv size seed]
set state [expr {$seed * 7919 + 1}]
proc rnd {k} { global state; set state [expr {$state * 16807 % 2147483647}]; expr {$state % $k} }

proc text {size} {
	set in [open log]
	set total 0
	while {[gets $in line] >= 0} {
		regexp {^(\S+) - \S+ \[([^]]*)\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)} $line - host when verb url query status n
		incr hosts($host)
		incr total $n
		foreach part [split $query &] { set terms([string totitle [string map {%20 { } + { }} [lindex [split $part =] 1]]]) 1 }
		if {$status >= 400} { lappend wrong [format {%s %24s %8.2f} $status [string reverse [lindex [split $url /] end]] [expr {$n / 1024.0}]] }
	}
	foreach h [array names hosts] { lappend list [list $hosts($h) $h] }
	puts [lrange [lsort -decreasing $list] 0 9]
	puts "[array size terms] $total [llength $wrong] [lindex [lsort $wrong] 0]"
	puts [string length [regsub -all {([aeiou])(\w)} [string toupper [join $wrong |] 0 2000] {\2\1}]]
}

proc numbers {size} {
	set count 0
	for {set i 2} {$i < $size} {incr i} {
		if {[info exists no($i)]} continue
		incr count
		for {set j [expr {$i * $i}]} {$j < $size} {incr j $i} { set no($j) 1 }
	}
	set inside 0
	for {set i 0} {$i < $size / 20} {incr i} {
		set cx [expr {$i % 60 / 20.0 - 2}]
		set cy [expr {$i / 60 % 50 / 20.0 - 1.2}]
		set x 0.0; set y 0.0; set k 0
		while {$x * $x + $y * $y < 4 && $k < 40} {
			set t [expr {$x * $x - $y * $y + $cx}]
			set y [expr {2 * $x * $y + $cy}]
			set x $t
			incr k
		}
		incr inside $k
	}
	puts "$count $inside [expr {3 ** ($size / 40) / 7 ** 50 % 10 ** 40}] [format %.6f [expr {sqrt($size) * sin(1)}]]"
}

oo::class create Shape {
	variable w
	constructor {v} { set w $v }
	method width {} { return $w }
	method area {} { return $w }
}
oo::class create Square {
	superclass Shape
	method area {} { expr {[next] * [my width]} }
}
proc generator {n} { yield; for {set i 0} {$i < $n} {incr i} { yield [expr {$i * $i % 97}] }; return -1 }

proc objects {size} {
	set sum 0
	for {set i 0} {$i < $size / 40} {incr i} {
		set s [[expr {$i % 3 ? "Square" : "Shape"}] new [rnd 50]]
		incr sum [$s area]
		if {$i % 2} { $s destroy }
	}
	coroutine next generator [expr {$size / 10}]
	while {[set v [next]] >= 0} { incr sum $v }
	set d [dict create]
	for {set i 0} {$i < $size / 4} {incr i} { dict lappend d n[rnd 300] [rnd 9]; dict incr counts [rnd 50] }
	dict for {k v} $d { incr sum [llength [lsort -integer -unique $v]]; proc p$k {x} "expr {\$x + [llength $v]}" }
	dict for {k v} $d { set sum [p$k $sum] }
	puts "$sum [lsort -stride 2 -integer $counts] [catch {error no} e] $e [llength [lmap x [lrange $d 0 99] {string length $x}]]"
}

foreach use $uses { $use $size }
