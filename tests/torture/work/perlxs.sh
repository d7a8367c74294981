# perlxs.sh - the tests of those of perl's modules that have parts in C, by the installed perl: the modules
# are moved, and the libraries that they load
packages="perl perl-modules-5.36 dpkg-dev"
sources=perl
files() {
	with_libraries "$(program perl)" $(find "$(realpath /usr/lib/x86_64-linux-gnu/perl/5.36)" \
		/usr/lib/x86_64-linux-gnu/perl-base -name '*.so')
}
modules="
	cpan/Compress-Raw-Bzip2 cpan/Compress-Raw-Zlib cpan/Digest-MD5 cpan/Digest-SHA cpan/Encode
	cpan/Filter-Util-Call cpan/IO-Compress cpan/JSON-PP cpan/MIME-Base64 cpan/Math-BigInt-FastCalc
	cpan/Scalar-List-Utils cpan/Socket cpan/Time-Piece dist/Data-Dumper dist/IO dist/PathTools
	dist/Storable dist/Unicode-Normalize dist/threads dist/threads-shared ext/B ext/Devel-Peek
	ext/Fcntl ext/File-DosGlob ext/Hash-Util ext/Hash-Util-FieldHash ext/I18N-Langinfo ext/Opcode
	ext/POSIX ext/PerlIO-encoding ext/PerlIO-scalar ext/PerlIO-via ext/SDBM_File
	ext/Tie-Hash-NamedCapture ext/re"
prepare() {
	local m
	cp -a "$SOURCES/perl/t" t
	mkdir lib cpan dist ext
	cp -a "$SOURCES/perl/lib/." lib
	# What building perl would have put there: the installed modules.
	cp -an /usr/share/perl/5.36/. /usr/lib/x86_64-linux-gnu/perl/5.36/. \
		/usr/lib/x86_64-linux-gnu/perl-base/. lib
	for m in $modules; do
		cp -a "$SOURCES/perl/$m" "$m" || return
	done
	ln -s /usr/bin/perl t/perl
	ln -s /usr/bin/perl perl
}
# In the module's folder, with the switches of the first line, by the modules that are installed.
run() {
	local m t taint core
	for m in $modules; do
		cd "$HOME/$m" || return
		for t in t/*.t; do
			case $m/$t in
			# They wait, go by chance, or take more than four seconds.
			*/105oneshot-*.t | */011-streamzip.t | */099_binary.t | */stress.t | */io_sock.t | \
				*/threads/t/kill.t | */threads/t/state.t | */threads/t/free.t | \
				*/threads-shared/t/wait.t | */waitpid.t | */mbi_rand.t) continue ;;
			esac
			taint=$(sed -nE '1s/^#!.*perl.* (-[a-zA-Z]*T).*/\1/p' "$t")
			core=
			grep -q '\.\./\.\./t/test\.pl' "$t" && core=PERL_CORE=1
			unit "${m##*/}/${t#t/}" env PERL_HASH_SEED=0 $core \
				perl $taint -It -It/lib -I"$HOME/t" -I. "$t"
		done
	done
}
