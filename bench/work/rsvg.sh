#!/bin/sh
# rsvg.sh prepare SHAPES SEED | run BIN - a drawing in SVG to PNG: paths, gradients, clips, text, filters; the time
# goes to librsvg-2.so.2, which is Rust
case $1 in
prepare)
	awk -v n="$2" -v s="$3" '
	function rnd(k) { s = (s * 16807 + 11) % 2147483647; return int(s / 64) % k }
	BEGIN {
		print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"500\" height=\"500\"><style>.a{fill:#c33;stroke:#111}.b{opacity:.6;fill:url(#g)} g > path:nth-child(3){fill:#2a2}</style>"
		print "<defs><linearGradient id=\"g\"><stop offset=\"0\" stop-color=\"#fff\"/><stop offset=\"1\" stop-color=\"#00f\"/></linearGradient><filter id=\"f\"><feGaussianBlur stdDeviation=\"2\"/><feOffset dx=\"3\"/></filter><symbol id=\"s\"><circle r=\"9\" cx=\"9\" cy=\"9\"/></symbol></defs>"
		for (i = 0; i < n; i++) {
			if (i % 20 == 0) print (i ? "</g>" : "") "<g transform=\"translate(" rnd(90) " " rnd(90) ") rotate(" rnd(60) ")\" class=\"x" rnd(9) "\">"
			d = "M" rnd(400) " " rnd(400)
			for (k = rnd(9) + 2; k > 0; k--) d = d (rnd(2) ? " c" rnd(40) " " rnd(40) "," rnd(40) " -" rnd(40) "," rnd(40) " " rnd(40) : " l" rnd(50) "-" rnd(50) " a5 " 1 + rnd(9) " 0 0 1 " 1 + rnd(9) " 7")
			print "<path class=\"" (rnd(2) ? "a" : "b") "\" d=\"" d "z\" stroke-width=\"" rnd(4) / 2 "\"" (i % 97 ? "" : " filter=\"url(#f)\"") "/>"
			if (i % 9 == 0) print "<use href=\"#s\" x=\"" rnd(400) "\" y=\"" rnd(400) "\" style=\"fill:hsl(" rnd(360) ",50%,50%)\"/>"
			if (i % 30 == 7) print "<rect x=\"" rnd(300) "\" y=\"" rnd(300) "\" width=\"30\" height=\"2em\" rx=\"4\" fill=\"none\" stroke=\"currentColor\" stroke-dasharray=\"4,2\"/>"
		}
		print "</g></svg>"
	}' >drawing.svg ;;
run) "$2" drawing.svg | sha256sum; "$2" -w 150 drawing.svg | sha256sum ;;
esac
