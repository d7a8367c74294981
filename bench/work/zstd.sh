#!/bin/sh
# zstd.sh prepare KIB SEED [USE...] | run BIN - text, machine code and tables: pack (levels 1 to 6), best (19), unpack
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-pack best unpack}" >uses
	. "$here/mixture.bash" && mixture "$n" "$seed" >input && zstd -q -f input -o packed.zst ;;
run)
	for use in $(cat uses); do
		case $use in
		pack) for l in 1 3 6; do "$2" -q --single-thread -$l -c input | sha256sum; done ;;
		best) head -c "$(($(wc -c <input) / 3))" input | "$2" -q --single-thread -17 -c | sha256sum ;;
		unpack) for k in 1 2 3 4 5 6 7 8; do "$2" -q -dc packed.zst | cksum; done ;;
		esac
	done ;;
esac
