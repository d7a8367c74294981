# packers.sh - brotli, ISA-L's igzip, libdeflate, nettle, minisign over libsodium, lzip, argon2: assembler and IFUNCs
packages="brotli isal libdeflate-tools nettle-bin minisign plzip lzop zopfli argon2 rhash"
files() {
	local p
	for p in brotli igzip libdeflate-gzip nettle-hash nettle-pbkdf2 sexp-conv minisign plzip lzop zopfli argon2 rhash; do program $p; done >list.$$
	with_libraries $(cat list.$$); rm -f list.$$
}
prepare() { head -c 3000000 "$(realpath /usr/bin/perl)" >data; }
run() {
	local a
	for a in 1 5 9 11; do brotli -q $a -c data | tee d.br | sha256sum; brotli -dc d.br | cmp - data; done
	for a in 0 1 2 3; do igzip -$a -c -n data | tee d.gz | sha256sum; igzip -dc d.gz | cmp - data; libdeflate-gunzip -c d.gz | cmp - data; done
	for a in 1 6 9 12; do libdeflate-gzip -$a -c data | tee d.gz | sha256sum; gzip -t d.gz; done
	for a in $(nettle-hash --list | awk '/^[a-z]/ { print $1 }'); do nettle-hash -a "$a" <data; done; echo x | nettle-pbkdf2 -i 1000 -l 32 salt
	printf 'x\nx\n' | minisign -G -f -p k.pub -s k.sec >/dev/null 2>&1; echo $?; echo x | minisign -S -s k.sec -m data >/dev/null 2>&1; minisign -V -p k.pub -m data -q; echo $?; echo y >>data.minisig; minisign -V -p k.pub -m data -q 2>&1; echo $?; head -c 3000000 data >d2
	plzip -n 2 -9 -c data | tee d.lz | sha256sum; plzip -dc d.lz | cmp - data; lzop -c data | lzop -dc | cmp - data; zopfli --i1 -c p 2>/dev/null; head -c 60000 data >z; zopfli --i3 -c z | sha256sum
	for a in -i -d -id; do echo pw | argon2 saltsalt $a -t 2 -m 12 -p 2 -r; done; rhash --printf '%c %m %h %{sha3-512} %{whirlpool} %{gost12-256} %{tth} %{blake2b}\n' data; head -c 1000 d.br | brotli -dc 2>&1 >/dev/null; echo $?
}
