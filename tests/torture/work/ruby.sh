# ruby.sh - the bootstrap tests of ruby's own source, those of the language and those of modules with parts
# in C, by the installed ruby; these modules are moved, and the libraries that they load
packages="ruby3.1 dpkg-dev"
sources=ruby3.1
files() {
	with_libraries "$(program ruby3.1)" \
		$(find "$(realpath /usr/lib/x86_64-linux-gnu/ruby/3.1.0)" -name '*.so')
}
modules="ruby base64 bigdecimal cgi csv date digest erb etc json nkf objspace openssl optparse ostruct
	pathname psych racc ripper stringio strscan uri yaml zlib"
prepare() { cp -a "$SOURCES/ruby3.1/bootstraptest" "$SOURCES/ruby3.1/test" "$SOURCES/ruby3.1/tool" .; }
run() {
	local m t ruby="/usr/bin/ruby3.1 --disable-gems"
	for t in bootstraptest/test_*.rb; do
		case $t in
		*/test_ractor.rb | */test_thread.rb | */test_yjit*.rb | */test_fork.rb) continue ;;
		esac
		unit "${t##*/}" ruby3.1 bootstraptest/runner.rb --ruby="$ruby" -q "$t"
	done
	for m in $modules; do
		for t in test/$m/test_*.rb; do
			case $t in
			# They wait, measure, look at processes, want a compiler, take too long, or skip parts
			# as chance has it.
			*/test_array.rb | */test_thread*.rb | */test_sleep.rb | */test_process.rb | */test_signal.rb | \
				*/test_io*.rb | */test_fiber.rb | */test_gc*.rb | */test_*jit*.rb | \
				*/test_optimization.rb | */test_rubyoptions.rb | */test_autoload.rb | \
				*/test_env.rb | */test_require.rb | */test_hash.rb | */test_ast.rb | \
				*/test_method.rb | */test_ossl.rb | */test_pair.rb | \
				*/test_ssl*.rb) continue ;;
			esac
			unit "${t#test/}" ruby3.1 --disable-gems -I tool/lib test/runner.rb --ruby="$ruby" \
				--seed=1 -q "$t"
		done
	done
}
