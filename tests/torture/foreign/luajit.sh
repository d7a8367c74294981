# luajit.sh - LuaJIT, whose interpreter is assembler with unwind rows made by hand: errors through C frames, FFI callbacks
packages=luajit
files() { with_libraries "$(program luajit)"; }
run() {
	cat >p.lua <<-'END'
	local ffi = require "ffi"
	ffi.cdef [[ void qsort(void *, size_t, size_t, int (*)(const int *, const int *)); double strtod(const char *, char **); ]]
	local a = ffi.new("int[100]"); for i = 0, 99 do a[i] = i * 37 % 101 end
	ffi.C.qsort(a, 100, 4, function(x, y) return x[0] - y[0] end) print(a[0], a[50], a[99])
	local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end print(fib(30))
	print(pcall(function() local t = nil; return t.x end)) print(pcall(error, {1})[1] == nil, select("#", pcall(error)))
	print(pcall(string.rep)) print(select(2, xpcall(function() error("deep") end, debug.traceback)))
	local co = coroutine.wrap(function(x) for i = 1, 5 do x = coroutine.yield(x * i) end error("end") end)
	for i = 1, 5 do io.write(co(i), " ") end print() co(1) print(pcall(co, 1))
	print(pcall(function() local function f(n) return 1 + f(n + 1) end return f(1) end))
	local s = {} for i = 1, 200000 do s[#s + 1] = string.format("%d:%g", i % 977, i / 3) end print(#table.concat(s))
	print(("x12y3"):gsub("%d+", function(d) return "<" .. d .. ">" end)) local c = 0 for i = 1, 3e7 do c = bit.bxor(c, bit.rol(i, 5)) end print(c)
	print(pcall(table.sort, {3, 1, 2}, function(x, y) error("cmp") end)) print(ffi.C.strtod("1.5e3", nil), 0/0 ~= 0/0, 2^53)
	setmetatable({}, {__gc = function() print "gc" end}) collectgarbage() print(string.dump(fib):sub(1, 3) == "\27LJ") error("last")
	END
	sed -i 's/print(pcall(error, {1})\[1\] == nil, /print(/' p.lua
	local o
	for o in -jon -joff -O1 -O+fold; do luajit $o p.lua 2>&1 | grep -v 0x; echo "$o ${PIPESTATUS[0]}"; done
	luajit -bl p.lua | sha256sum
}
