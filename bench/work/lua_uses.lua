-- lua_uses.lua SIZE SEED USE... - text: a log taken apart and summed up; numbers: orbits, primes, matrices,
-- a fractal; objects: classes, closures, coroutines, trees, a table written out and read back
local size, state = tonumber(arg[1]), tonumber(arg[2]) * 7919 + 1
local function rnd(k)
  state = state * 16807 % 2147483647
  return state % k
end
local use = {}

function use.text()
  local hosts, words, total, lines = {}, {}, 0, {}
  for line in io.lines('log') do
    local host, verb, url, status, bytes = line:match('^(%S+) .-"(%u+) (%S+) [^"]*" (%d+) (%d+)')
    hosts[host] = (hosts[host] or 0) + 1
    for k, v in url:gmatch('(%w+)=([^&]*)') do words[k .. ':' .. v:gsub('%%20', ' ')] = #v end
    total = total + tonumber(bytes)
    if status >= '400' then
      lines[#lines + 1] = string.format('%-7s %s %8.2f', verb:lower(), url:gsub('%?.*', ''):reverse(), bytes / 1024)
    end
  end
  local names = {}
  for h in pairs(hosts) do names[#names + 1] = h end
  table.sort(names, function(a, b) return hosts[a] ~= hosts[b] and hosts[a] > hosts[b] or hosts[a] == hosts[b] and a < b end)
  for i = 1, 10 do print(names[i], hosts[names[i]]) end
  table.sort(lines)
  print(total, #lines, #table.concat(lines, '\n'):gsub('%a+', string.upper))
  local keys = {}
  for k in pairs(words) do keys[#keys + 1] = k end
  table.sort(keys)
  print(#keys, keys[1], keys[#keys])
end

function use.numbers()
  local bodies = {}
  for i = 1, 5 do bodies[i] = { x = rnd(100) / 10, y = rnd(100) / 10, vx = rnd(10) / 10, vy = 0, m = 1 + rnd(9) } end
  for _ = 1, size do
    for i = 1, 5 do
      local a = bodies[i]
      for j = i + 1, 5 do
        local b = bodies[j]
        local dx, dy = a.x - b.x, a.y - b.y
        local d = dx * dx + dy * dy + 0.1
        local f = 0.01 / (d * math.sqrt(d))
        a.vx, a.vy = a.vx - dx * b.m * f, a.vy - dy * b.m * f
        b.vx, b.vy = b.vx + dx * a.m * f, b.vy + dy * a.m * f
      end
    end
    for _, b in ipairs(bodies) do b.x, b.y = b.x + 0.01 * b.vx, b.y + 0.01 * b.vy end
  end
  print(string.format('%.6f %.6f', bodies[1].x, bodies[5].y))
  local sieve, count = {}, 0
  for i = 2, size * 8 do
    if not sieve[i] then
      count = count + 1
      for j = i * i, size * 8, i do sieve[j] = true end
    end
  end
  local inside = 0
  for i = 0, size // 6 do
    local cx, cy, x, y, k = (i % 60) / 20 - 2, (i // 60 % 50) / 20 - 1.2, 0.0, 0.0, 0
    while x * x + y * y < 4 and k < 60 do x, y, k = x * x - y * y + cx, 2 * x * y + cy, k + 1 end
    inside = inside + k
  end
  print(count, inside, size * 48271 % 1000003 ~ 77 << 3)
end

local Shape = {}
Shape.__index = Shape
function Shape.new(kind, w) return setmetatable({ kind = kind, w = w }, Shape) end
function Shape:area() return self.w end
local Square = setmetatable({}, { __index = Shape })
Square.__index = Square
function Square:area() return self.w * self.w end
Square.__lt = function(a, b) return a.w < b.w end

local function tree(depth) return depth > 0 and { tree(depth - 1), tree(depth - 1) } or {} end
local function check(t) return t[1] and 1 + check(t[1]) + check(t[2]) or 1 end
local function dump(v)
  if type(v) ~= 'table' then return type(v) == 'string' and string.format('%q', v) or tostring(v) end
  local out = {}
  for i = 1, #v do out[i] = dump(v[i]) end
  if v.name then out[#out + 1] = 'name=' .. dump(v.name) end
  return '{' .. table.concat(out, ',') .. '}'
end

function use.objects()
  local all, sum = {}, 0
  for i = 1, size do
    all[i] = i % 3 == 0 and Shape.new('line', rnd(90)) or setmetatable({ kind = 'square', w = rnd(50) }, Square)
  end
  for _, s in ipairs(all) do sum = sum + s:area() end
  local function generator(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i % 97) end end) end
  local counters = {}
  for i = 1, 20 do
    local c = 0
    counters[i] = function(k) c = c + k; return c end
  end
  for v in generator(size) do sum = sum + counters[v % 20 + 1](v) % 7 end
  print(sum, check(tree(math.floor(math.log(size, 2)))))
  local data = {}
  for i = 1, size // 20 do data[i] = { name = 'n' .. rnd(1000), rnd(100), { rnd(9), 'x' } } end
  local text = dump(data)
  local back = load('return ' .. text)()
  print(#text, #back, back[#back].name, pcall(error, 'no'))
end

for i = 3, #arg do use[arg[i]]() end
