#!/bin/sh
# cjpeg.sh prepare SIZE SEED | run BIN - a picture of SIZE lines to JPEG in several ways
case $1 in
prepare)
	awk -v n="$2" -v s="$3" 'BEGIN {
		printf "P3\n%d %d\n255\n", n, n
		for (y = 0; y < n; y++) {
			line = ""
			for (x = 0; x < n; x++) {
				s = (s * 16807 + 1) % 2147483647
				line = line int((x * 255) / n) " " int((y * x / n) % 256) " " \
					(s % 64 + 128 + ((x - y) % 32 > 0) * 40) "\n"
			}
			printf "%s", line
		}
	}' >picture.ppm ;;
run)
	for how in "-quality 50" "-quality 90 -optimize" "-progressive" "-dct float -sample 1x1"; do
		"$2" $how picture.ppm | sha256sum
	done ;;
esac
