# gs_document.awk - a PostScript document: awk -v n=PAGES -v seed=SEED -f gs_document.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function word(  i, w) { w = ""; for (i = rnd(8) + 2; i > 0; i--) w = w substr("etaoinshrdlucmfwypvbgkqjxz", rnd(26) + 1, 1); return w }
function shape(  i) {
	printf "gsave %d %d translate %d rotate %.2f %.2f %.2f setrgbcolor newpath 0 0 moveto", 50 + rnd(500), 50 + rnd(700),
		rnd(360), rnd(100) / 100, rnd(100) / 100, rnd(100) / 100
	for (i = rnd(6) + 2; i > 0; i--)
		printf " %d %d %d %d %d %d rcurveto", rnd(80) - 40, rnd(80) - 40, rnd(80) - 40, rnd(80) - 40, rnd(80) - 40, rnd(80) - 40
	print rnd(3) ? " closepath fill grestore" : " " 1 + rnd(5) " setlinewidth [" 1 + rnd(9) " 3] 0 setdash stroke grestore"
}
BEGIN {
	state = seed * 7919 + 17
	print "%!PS-Adobe-3.0\n/fonts [/Helvetica /Times-Roman /Courier /Times-Italic] def"
	print "/choose { fonts exch get findfont exch scalefont setfont } def"
	print "/paragraph { /width exch def /y exch def /x exch def x y moveto ( ) { search { dup stringwidth pop currentpoint pop add x width add gt"
	print "  { /y y 12 sub def x y moveto } if show pop ( ) show } { show exit } ifelse ( ) } loop } def"
	print "/tree { dup 0 gt { gsave 0 12 rlineto currentpoint stroke translate 0 0 moveto dup 1 sub dup"
	print "  gsave 28 rotate 0.8 dup scale 0 0 moveto tree grestore gsave -31 rotate 0.78 dup scale 0 0 moveto tree grestore grestore } if pop } def"
	for (page = 1; page <= n; page++) {
		print "%%Page: " page " " page
		for (p = 0; p < 6; p++) {
			printf "%d %d choose (", 8 + rnd(6), rnd(4)
			for (i = 60 + rnd(60); i > 0; i--) printf "%s ", word()
			printf ") 40 %d 500 paragraph\n", 780 - p * 120
		}
		for (i = 0; i < 40; i++) shape()
		printf "gsave %d 100 translate 0 0 moveto 0.5 setlinewidth %d tree grestore\n", 100 + rnd(300), 7 + rnd(2)
		printf "gsave %d 300 translate 100 100 scale 16 16 8 [16 0 0 16 0 0] { <", 100 + rnd(200)
		for (i = 0; i < 256; i++) printf "%02x", rnd(256)
		print "> } image grestore"
		printf "gsave 60 60 200 150 rectclip << /ShadingType %d /ColorSpace /DeviceRGB /Coords [%s] /Function << /FunctionType 2 /Domain [0 1] /C0 [%.1f 0 1] /C1 [1 %.1f 0] /N 1 >> /Extend [true true] >> shfill grestore\n",
			2 + page % 2, page % 2 ? "150 130 10 170 140 90" : "60 60 260 200", rnd(10) / 10, rnd(10) / 10
		printf "0 1 %d { /k exch def k 255 div setgray k 2 mul k 7 mul 360 mod sin 40 mul 600 add 2 0 360 arc fill } for\n", 150 + rnd(100)
		print "/d 100 dict def 0 1 600 { dup d exch 97 mod 3 -1 roll dup mul 1009 mod put } for 0 d { exch pop add } forall 20 string cvs 20 20 moveto show"
		print "showpage"
	}
}
