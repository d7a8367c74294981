#!/bin/sh
# convert.sh prepare SIZE SEED | run BIN - a picture made smaller, turned, blurred, its colours counted; the time goes
# to libMagickCore-6.Q16.so.6
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) "$here/cjpeg.sh" prepare "$2" "$3" ;;
run)
	export MAGICK_THREAD_LIMIT=1 OMP_NUM_THREADS=1
	"$2" picture.ppm -resize 60% ppm:- | sha256sum
	"$2" picture.ppm -rotate 17 -crop 50%x50%+9+9 ppm:- | sha256sum
	"$2" picture.ppm -resize 30% -gaussian-blur 2x1 -modulate 110,80 ppm:- | sha256sum
	"$2" picture.ppm -resize 40% -colors 32 ppm:- | sha256sum
	"$2" picture.ppm -resize 50% -colorspace Gray -negate -contrast-stretch 2%x1% pgm:- | sha256sum ;;
esac
