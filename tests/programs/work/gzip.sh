#!/bin/sh
# gzip.sh prepare N SEED | run GZIP - N KiB of text and of machine code there and back
case $1 in
prepare)
	awk -v n="$2" -v s="$3" 'BEGIN {
		s = s * 7919 + 1
		for (b = 0; b < n * 512; b += length(w) + 1) {
			s = (s * 16807) % 2147483647
			w = substr("the quick brown fox jumps over lazy dogs while counting samples", s % 50 + 1, s % 11 + 1)
			if (s % 7 == 0) w = w s
			print w
		}
	}' >input
	head -c "$(($2 * 512))" /usr/bin/perl >>input ;;
run)
	gzip=$2
	for level in -1 -6 -9; do
		"$gzip" -n "$level" <input >packed && sha256sum <packed && "$gzip" -t packed; echo "$?"
		"$gzip" -dc <packed | cmp - input && echo same
	done
	"$gzip" -l packed
	head -c 1000 packed | "$gzip" -dc >part; echo "$? $(wc -c <part)"
	"$gzip" -d <input; echo "$?" ;;
esac
