#!/bin/sh
# poppler.sh prepare PAGES SEED | run BIN - a PDF file as text, as pixels and taken apart, by pdftotext and others;
# the time goes to libpoppler.so.126
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/gs_document.awk" >document.ps &&
		gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=document.pdf document.ps ;;
run)
	"$2" document.pdf -; "$2" -layout document.pdf - | cksum; "$2" -bbox document.pdf - | cksum
	pdftoppm -r 40 document.pdf | sha256sum; pdftoppm -gray -r 30 document.pdf | sha256sum
	pdffonts document.pdf; pdfinfo document.pdf | grep -v Date ;;
esac
