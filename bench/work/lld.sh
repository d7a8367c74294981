#!/bin/sh
# lld.sh prepare LINES SEED | run BIN - LLVM's linker on the same, by one thread
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) exec "$here/ld.sh" prepare "$2" "$3" ;;
run)
	for k in 1 2 3 4 5 6 7 8; do
		"$2" -flavor gnu --threads=1 -shared -o out.so -z now ./*.o; cksum <out.so
		"$2" -flavor gnu --threads=1 -shared -o out.so --gc-sections -O2 -u main --build-id=sha1 -Map=map -s ./*.o
		cksum <out.so; cksum <map
		"$2" -flavor gnu --threads=1 -shared --icf=all -Bsymbolic -S -o out.so ./*.o; cksum <out.so
		"$2" -flavor gnu --threads=1 -r -o out.rel ./*.o; cksum <out.rel
	done ;;
esac
