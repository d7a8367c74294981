# crystal.sh - a program by Crystal: exceptions, fibers with stacks of their own, tables, its own unwinder's walk
packages="crystal"
build() {
	cat >moved.cr <<-'END'
	class Mine < Exception; end
	def deep(n : Int32) : Int32
	  begin
	    raise Mine.new("deep") if n == 0
	    deep(n - 1) + 1
	  ensure
	    print n, " "
	  end
	end
	begin
	  deep(5)
	rescue ex : Mine
	  puts ex.message, ex.backtrace.size > 5
	end
	ch = Channel(Int32).new
	10.times { |i| spawn { begin; deep(i); rescue; ch.send i; end } }
	puts Array.new(10) { ch.receive }.sum
	h = Hash(String, Int32).new(0)
	20000.times { |i| h[(i * 7919 % 5003).to_s] += i }
	puts h.size, h.values.max
	a = [1, 2, 3]
	begin
	  puts a[h.size]
	rescue ex : IndexError
	  puts ex.message
	end
	puts "12x".to_i?.inspect, 2.0 ** 0.5, "a12b345".scan(/\d+/).map(&.[0])
	begin
	  puts Int32::MAX + a.size
	rescue OverflowError
	  puts "overflow"
	end
	Process.run("sh", ["-c", "exit 3"]).exit_code.tap { |c| puts c }
	Signal::USR1.trap { puts "usr1" }
	Process.signal(Signal::USR1, Process.pid)
	sleep 0.1
	GC.collect
	deep(1)
	END
	crystal build moved.cr -o moved_0 && crystal build --release moved.cr -o moved
}
files() { CRYSTAL_CACHE_DIR=$SOURCES/foreign/crystal built crystal build || return; with_libraries "$SOURCES"/foreign/crystal/moved{,_0} "$(program crystal)" | grep -v libLLVM; }
run() {
	local p
	for p in moved moved_0; do "$SOURCES/foreign/crystal/$p" 2>err; echo "$p $?"; grep -a '(Mine)' err; done
	echo 'puts [1, 2].map { |x| x * 2 }.nope' >e.cr; CRYSTAL_CACHE_DIR=$PWD crystal build --no-codegen --no-color e.cr 2>&1
	echo 'puts 1' >f.cr; crystal tool format f.cr; cat f.cr; crystal env CRYSTAL_VERSION
}
