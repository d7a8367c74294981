# lua.sh - the scripts that come with lua's own source, by the installed lua
packages="lua5.1 dpkg-dev"
sources=lua5.1
files() { with_libraries "$(program lua5.1)"; }
prepare() { cp -a "$SOURCES/lua5.1/test" .; }
run() {
	local t
	cd test || return
	for t in *.lua; do
		case $t in
		fib.lua | printf.lua) continue ;;	# they print the time
		esac
		unit "${t%.lua}" lua5.1 "$t"
	done
}
