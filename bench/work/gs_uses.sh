#!/bin/sh
# gs_uses.sh prepare PAGES SEED [USE...] | run BIN - pages: text and curves rendered to pixels; pdf: made into
# PDF; compute: PostScript as a programming language, nothing drawn
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-pages pdf compute}" >uses
	awk -v n="$n" -v seed="$seed" -f "$here/gs_document.awk" >document.ps
	cat >compute.ps <<-END
	%!PS
	/state $((seed + 7)) def /rnd { /state state 1103 mul 12345 add 65521 mod def state exch mod } def
	/n $((n * 4000)) def
	/sieve n 1 add array def
	/c 0 def 2 1 n { /i exch def sieve i get null eq { /c c 1 add def i dup mul i n { sieve exch true put } for } if } for c =
	/fib { dup 2 ge { dup 1 sub fib exch 2 sub fib add } if } def 17 fib =
	/sort { /a exch def 1 1 a length 1 sub { /i exch def /v a i get def { i 0 le { exit } if a i 1 sub get v le { exit } if a i a i 1 sub get put /i i 1 sub def } loop a i v put } for } def
	/list $((n * 60)) array def 0 1 list length 1 sub { list exch 10000 rnd put } for list sort list 0 get = list list length 2 idiv get =
	/d 500 dict def 1 1 n { d exch 499 mod 2 copy known { 2 copy get 1 add } { 1 } ifelse 3 copy put pop pop pop } for d length =
	/s 200 string def 1 1 n 4 idiv { s cvs (7) search { pop pop length } { length } ifelse pop } for
	0 1 1 n { dup sin exch ln mul add } for 1000 mul cvi =
	END
	;;
run)
	for use in $(cat uses); do
		case $use in
		pages) "$2" -q -dSAFER -dBATCH -dNOPAUSE -dTextAlphaBits=4 -dGraphicsAlphaBits=2 -sDEVICE=ppmraw -r50 \
			-sOutputFile=- document.ps ;;
		pdf) "$2" -q -dSAFER -dBATCH -dNOPAUSE -sDEVICE=pdfwrite \
			-sOutputFile=- document.ps | grep -av -e Date -e '^<rdf' -e '^/ID' -e UUID -e '^<xmp' -e /Prod ;;
		compute) "$2" -q -dSAFER -dBATCH -dNOPAUSE -dNODISPLAY compute.ps ;;
		esac || echo "$use: $?"
	done ;;
esac
