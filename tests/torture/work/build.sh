# build.sh - a source package, configured and built by tools that are all moved: shell, make, compiler,
# assembler, linker, what configure calls, and the libraries of all of them, libc among them
#
# What is compared is every object file and program that comes out, the answers of configure, and what
# both said.
tools="bash dash coreutils diffutils findutils grep sed mawk gawk tar gzip xz-utils file perl-base make
	gcc-12 cpp-12 binutils-x86-64-linux-gnu"
packages="gcc make libc6-dev dpkg-dev $tools"
sources=diffutils

# The loader and what is no ELF file stay.
files() {
	with_libraries $(dpkg -L $tools | grep -E '^/(usr/)?(s?bin|lib|libexec)/' | xargs -r realpath -qe | sort -u |
		elf_only)
}

prepare() { cp -a "$SOURCES/$sources" source; }

run() {
	cd source || return
	UNIT_S=3600
	unit configure env FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-nls --disable-dependency-tracking CFLAGS="-O2 -g0"
	unit make make -k ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: MAKEINFO=true HELP2MAN=true
	find . -name '*.o' -o -name config.h -o -name config.status -o -path './src/*' -type f -perm -u+x |
		LC_ALL=C sort | xargs -d '\n' sha256sum | awk '{ print "unit", $2, $1 }'
}
