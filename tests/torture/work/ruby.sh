# ruby.sh - the bootstrap tests of ruby's own source, by the installed ruby
packages="ruby3.1 dpkg-dev"
sources=ruby3.1
files() { with_libraries "$(program ruby3.1)"; }
prepare() { cp -a "$SOURCES/ruby3.1/bootstraptest" .; }
run() {
	local t
	for t in bootstraptest/test_*.rb; do
		case $t in
		*/test_ractor.rb | */test_thread.rb | */test_yjit*.rb | */test_fork.rb) continue ;;
		esac
		unit "${t##*/}" ruby3.1 bootstraptest/runner.rb --ruby="/usr/bin/ruby3.1 --disable-gems" -q "$t"
	done
}
