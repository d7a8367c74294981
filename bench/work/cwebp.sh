#!/bin/sh
# cwebp.sh prepare SIZE SEED | run BIN - a picture to WebP, with loss and without; the time goes to libwebp.so.7
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) "$here/cjpeg.sh" prepare "$2" "$3" && cjpeg -quality 95 picture.ppm >picture.jpg ;;
run)
	for how in "-q 75" "-q 40 -m 2" "-lossless -m 1 -q 20"; do
		"$2" -quiet $how picture.jpg -o - | sha256sum
	done ;;
esac
