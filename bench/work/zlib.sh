#!/bin/sh
# zlib.sh prepare KIB SEED | run BIN - libz.so.1 under several programs: python3.11 (BIN), git, perl, openssl's neighbours
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	. "$here/mixture.bash" && mixture "$2" "$3" >input
	export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
	rm -rf repo.git && git -c init.defaultBranch=main init -q --bare repo.git &&
		awk -v n="$(($2 / 20 + 4))" -v seed="$3" -f "$here/git_history.awk" | git -C repo.git fast-import --quiet ;;
run)
	export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat LC_ALL=C PYTHONDONTWRITEBYTECODE=1
	"$2" -S -c 'import zlib
d = open("input", "rb").read()
for level in 1, 6, 9:
    p = zlib.compress(d, level)
    assert zlib.decompress(p) == d
    print(level, len(p), zlib.adler32(p), zlib.crc32(d))
c = zlib.compressobj(6, zlib.DEFLATED, -15, 8, zlib.Z_HUFFMAN_ONLY)
print(len(c.compress(d) + c.flush()))
s = zlib.compress(d)
for k in range(4):
    print(len(zlib.decompressobj().decompress(s)))'
	git -C repo.git log -p --format=%H main | cksum
	git -C repo.git -c pack.threads=1 pack-objects --all --window=4 --no-reuse-object --stdout -q </dev/null | cksum
	perl -MCompress::Zlib -e 'undef $/; open F, "<", "input"; $_ = <F>; $p = Compress::Zlib::memGzip($_); print length($p), " ", length(Compress::Zlib::memGunzip($p)), "\n"' ;;
esac
