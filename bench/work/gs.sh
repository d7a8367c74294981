#!/bin/sh
# gs.sh prepare PAGES SEED | run BIN - a made PostScript document (text, curves, clips, shading, images)
# rendered to pixels; the time goes to libgs.so.10
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/gs_document.awk" >document.ps ;;
run)
	exec "$2" -q -dSAFER -dBATCH -dNOPAUSE -dTextAlphaBits=4 -dGraphicsAlphaBits=2 -sDEVICE=ppmraw -r50 \
		-sOutputFile=- document.ps ;;
esac
