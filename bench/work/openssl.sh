#!/bin/sh
# openssl.sh prepare CERTIFICATES SEED | run BIN - certificates shown, checked, taken apart, signed messages read; the
# time goes to libcrypto.so.3
case $1 in
prepare)
	rm -f ./*.pem ./*.cms && : >all.pem && export OPENSSL_CONF=/dev/null
	awk -v n="$2" -v s="$3" 'BEGIN { for (i = 0; i < n * 400; i++) { s = (s * 16807 + 3) % 2147483647; print s, i } }' >message
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj "/CN=ca $3" -days 36500 2>openssl.log || exit
	for k in 1 2 3 4 5 6; do
		openssl req -new -newkey rsa:2048 -nodes -keyout k$k.key -out k$k.csr -subj "/C=AT/O=made $3/CN=host$k.example.org" \
			-addext "subjectAltName=DNS:a$k.example.org,DNS:b$k.example.org,IP:10.0.0.$k" 2>>openssl.log &&
			openssl x509 -req -in k$k.csr -CA ca.pem -CAkey ca.key -copy_extensions copy -days 36500 -set_serial $k \
				-out k$k.pem 2>>openssl.log || exit
	done
	for i in $(seq "$2"); do cat k$((i % 6 + 1)).pem; done >all.pem
	openssl crl2pkcs7 -nocrl -certfile all.pem -out bundle.pem &&
		openssl cms -sign -in message -signer k1.pem -inkey k1.key -certfile k2.pem -out signed.cms ;;
run)
	export OPENSSL_CONF=/dev/null
	"$2" pkcs7 -in bundle.pem -print_certs -text -noout | cksum
	"$2" asn1parse -in bundle.pem | cksum
	for k in 1 2 3; do
		"$2" verify -CAfile ca.pem -untrusted all.pem k$k.pem
		"$2" x509 -in k$k.pem -noout -text -fingerprint | cksum
		"$2" pkey -in k$k.key -text -noout | cksum
		"$2" verify -CAfile k4.pem k$k.pem 2>/dev/null; echo "$?"
	done
	"$2" cms -verify -in signed.cms -CAfile ca.pem -inform SMIME 2>/dev/null | cksum
	"$2" crl2pkcs7 -nocrl -certfile all.pem | cksum
	"$2" enc -base64 -in message | cksum; "$2" dgst -md5 -hex message
	"$2" enc -camellia-128-cbc -pbkdf2 -iter 1000 -S 0102030405060708 -pass pass:x -in message | cksum ;;
esac
