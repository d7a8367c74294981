# openssl.sh - openssl's digests, ciphers, keys and signatures; of speed only that it ends well
packages=openssl
files() { with_libraries "$(program openssl)"; }
prepare() {
	head -c 3000000 "$(realpath /usr/bin/perl)" >data
	openssl genrsa -out rsa.pem 2048 && openssl ecparam -name prime256v1 -genkey -noout -out ec.pem &&
		openssl genpkey -algorithm ed25519 -out ed.pem &&
		openssl req -x509 -new -key rsa.pem -subj /CN=test -days 9999 -out cert.pem
}
run() {
	local a
	for a in md5 sha1 sha224 sha256 sha384 sha512 sha3-256 sha3-512 blake2b512 blake2s256 sm3 ripemd160; do
		openssl dgst "-$a" data
		openssl dgst "-$a" -hmac key data
	done
	for a in aes-128-cbc aes-256-ctr aes-192-ecb aes-256-ofb camellia-256-cbc chacha20 aria-256-cbc des-ede3-cbc; do
		openssl enc "-$a" -pbkdf2 -S 0011223344556677 -pass pass:x -in data -out "$a" && sha256sum "$a"
		openssl enc -d "-$a" -pbkdf2 -S 0011223344556677 -pass pass:x -in "$a" | cmp - data
	done
	openssl rsa -in rsa.pem -check -noout
	openssl dgst -sha256 -sign rsa.pem data | tee sig | sha256sum
	openssl dgst -sha256 -prverify rsa.pem -signature sig data
	openssl dgst -sha256 -sign ec.pem data >sig && openssl dgst -sha256 -prverify ec.pem -signature sig data
	openssl pkeyutl -sign -inkey ed.pem -rawin -in cert.pem | sha256sum
	openssl x509 -in cert.pem -text -noout
	openssl verify -CAfile cert.pem cert.pem
	openssl asn1parse -in rsa.pem
	openssl genrsa 1024 2>/dev/null | openssl rsa -check -noout
	openssl prime -generate -bits 256 | openssl prime "$(cat)" | sed 's/^.* is/is/'
	openssl speed -seconds 1 -bytes 1024 sha256 aes-128-cbc >/dev/null 2>&1
	echo "speed: $?"
	openssl speed -seconds 1 rsa2048 ecdsap256 >/dev/null 2>&1
	echo "speed: $?"
}
