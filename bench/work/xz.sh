#!/bin/sh
# xz.sh prepare KIB SEED [USE...] | run BIN - text, machine code and tables: pack (the default), best, unpack; the
# time goes to liblzma.so.5
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-pack best unpack}" >uses
	. "$here/mixture.bash" && mixture "$n" "$seed" >input && xz -T1 -c input >packed.xz ;;
run)
	for use in $(cat uses); do
		case $use in
		pack) "$2" -T1 -c -2 input | sha256sum ;;
		best) head -c "$(($(wc -c <input) / 3))" input | "$2" -T1 -c -9e | sha256sum ;;
		unpack) for k in 1 2 3 4; do "$2" -T1 -dc packed.xz | cmp - input && echo same; done; "$2" -l packed.xz ;;
		esac
	done ;;
esac
