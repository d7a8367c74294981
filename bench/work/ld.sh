#!/bin/sh
# ld.sh prepare LINES SEED | run BIN - libraries, objects and a map linked from C with debug information; the time
# goes to libbfd
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare)
	sources_prepare gcc "$2" "$3" || exit
	for f in *.i; do gcc-12 -std=gnu17 -w -O2 -g -fPIC -ffunction-sections -fdata-sections -c "$f" -o "${f%.i}.o" || exit; done
	rm -f ./*.i ;;
run)
	for k in 1 2 3 4 5; do
		"$2" -shared -o out.so -z now ./*.o; cksum <out.so
		"$2" -shared -o out.so --gc-sections -O1 -u main --build-id=sha1 -Map=map -s ./*.o; cksum <out.so; cksum <map
		"$2" -r -o out.rel ./*.o; cksum <out.rel
		"$2" -shared -Bsymbolic -S -o out.so out.rel; cksum <out.so
	done ;;
esac
