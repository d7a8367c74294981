# ripgrep.sh - rg over large trees of text
packages=ripgrep
files() { with_libraries "$(program rg)"; }
prepare() { cp -a "$(realpath /usr/share/perl/5.36)" tree; }
run() {
	rg --sort path -n 'sub\s+\w+_(name|path)' tree
	rg --sort path -c -i 'error' tree
	rg --sort path -U 'package [A-Z]\w+;\n+use strict' tree
	rg --sort path --json -m 1 'Copyright' tree | grep -v -e elapsed
	rg --sort path -l -w -F 'local $_' tree
	rg --sort path -o -r '$2.$1' '(\w+)::(\w+)' tree | sha256sum
	rg --sort path --files -tperl tree | sha256sum
	rg -a -j 1 -c '[[:alpha:]]{8}' /usr/bin/perl
	rg 'unclosed(' tree
	rg --sort path -C 2 '\p{Greek}' tree | sha256sum
}
