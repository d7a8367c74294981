-- What Lua's interpreter has instructions for.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(18))
local t = {}
for i = 1, 2000 do t[i] = (i * 7919) % 1009 end
table.sort(t)
print(table.concat(t, ",", 1, 10), #t, t[-1])
local co = coroutine.wrap(function(...) for i = 1, select("#", ...) do coroutine.yield(i) end end)
print(co(1, 2, 3), co(), co())
print(pcall(error, "x"), select(2, pcall(function() return nil + 1 end)))
print(7 // 2, 7.0 // 2, 3 & 5, 3 ~ 5, "a" .. 1 .. "b", 1 << 4, -7 % 3, 2 ^ 10, not nil, ~0, 10 / 4)
local mt = setmetatable({}, {
	__index = function(_, k) return k .. "!" end, __add = function() return "add" end,
	__lt = function() return true end, __close = function() print("close") end, __len = function() return 9 end,
})
do
	local x <close> = mt
	print(mt.foo, mt + 1, mt < mt, #mt)
end
for k, v in pairs({ 10, 20, a = 1 }) do if k == "a" then goto done end print(k, v) end
::done::
print(string.format("%5.2f %s", 3.14159, ("x"):rep(3)), ("a,b"):gsub(",", ";"))
