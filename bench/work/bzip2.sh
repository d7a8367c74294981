#!/bin/sh
# bzip2.sh prepare KIB SEED | run BIN - packed and unpacked; the time goes to libbz2.so.1.0
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) . "$here/mixture.bash" && mixture "$2" "$3" >input ;;
run)
	for level in -1 -9; do
		"$2" $level -c input >packed && sha256sum <packed && "$2" -dc packed | cmp - input && echo same
	done
	"$2" -t packed; echo "$?" ;;
esac
