# gnupg.sh - gpg, gpgsm and agent over libgcrypt with its self tests, GnuTLS' tools, NSS's with FIPS mode left off
packages="gnupg gnutls-bin libnss3-tools p11-kit"
files() { with_libraries "$(program gpg)" "$(program gpg-agent)" "$(program gpgsm)" "$(program gpgv)" "$(program certtool)" "$(program gnutls-cli)" "$(program certutil)" "$(program pk12util)" "$(program p11-kit)"; elves_of libnss3; }
run() {
	local a
	export GNUPGHOME=$PWD/g; mkdir -m 700 g; echo text >m
	for a in rsa2048 ed25519 nistp256 brainpoolP256r1; do gpg -q --batch --passphrase '' --quick-gen-key "$a <$a@x>" $a 2>/dev/null; echo "$a $?"; gpg -q --batch -u $a@x -s m && gpg -q --batch --verify m.gpg 2>&1 | grep -c Good; rm -f m.gpg; done
	for a in AES256 CAMELLIA192 TWOFISH 3DES BLOWFISH; do gpg -q --batch --passphrase x --pinentry-mode loopback --cipher-algo $a -c -o m.c m; gpg -q --batch --passphrase x --pinentry-mode loopback -d m.c 2>/dev/null; rm m.c; done
	gpg --batch --print-mds m; gpg -q --batch -e -r rsa2048@x -o m.e m 2>/dev/null; gpg -q --batch --trust-model always -e -r rsa2048@x -o m.e m; gpg -q --batch -d m.e 2>/dev/null; echo x >>m.e; gpg -q --batch -d bad 2>&1; echo $?
	LIBGCRYPT_FORCE_FIPS_MODE=1 gpg --batch --print-md SHA256 m 2>&1; echo $?; gpgconf --kill all
	certtool --generate-privkey --key-type ed25519 --outfile k.pem 2>/dev/null; printf 'cn = x\nserial = 5\nactivation_date = "2024-01-01 00:00:00 UTC"\nexpiration_date = "2040-01-01 00:00:00 UTC"\n' >t; certtool --generate-self-signed --load-privkey k.pem --template t --outfile c.pem 2>/dev/null; certtool -i --infile c.pem | grep -e Issuer -e Algorithm; GNUTLS_FORCE_FIPS_MODE=1 certtool --fips140-mode 2>&1 | head -n 3
	gnutls-cli --list | sha256sum; gnutls-cli --benchmark-tls-kx >/dev/null 2>&1 & sleep 3; kill $!; wait $! 2>/dev/null
	mkdir n; certutil -N -d n --empty-password; echo seedseedseedseedseedseedseedseedseed >z; certutil -S -d n -n ca -s CN=ca -x -t CTu,Cu,Cu -m 5 -z z -g 2048 2>/dev/null; certutil -L -d n; certutil -V -d n -n ca -u L; pk12util -o p.p12 -n ca -d n -W x 2>&1; pk12util -l p.p12 -W x 2>&1 | grep Friendly; p11-kit list-modules 2>&1 | head -n 5
}
