# ruby_uses.rb SIZE SEED USE... - text: a log matched, split, counted, formatted; numbers: orbits, primes,
# matrices, big integers; objects: classes, blocks, modules, structs, exceptions
$size, $state = ARGV[0].to_i, ARGV[1].to_i * 7919 + 1
def rnd(k) = ($state = $state * 16807 % 2147483647) % k

def text
  hosts, terms, wrong, total = Hash.new(0), Hash.new(0), [], 0
  File.foreach('log') do |line|
    next unless line =~ /\A(\S+) - \S+ \[([^\]]*)\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)/
    host, day, url, query, status, n = $1, $2[0, 2], $4, $5, $6, $7.to_i
    hosts[host] += 1
    total += n
    query&.split('&')&.each { |p| terms[p.sub(/\A\w+=/, '').gsub('%20', ' ').capitalize] += 1 }
    wrong << format('%s %24s %8.2f %s', status, url[/[^\/]*\z/].reverse, n / 1024.0, day) if status >= '400'
  end
  puts hosts.sort_by { |h, k| [-k, h] }.first(5).inspect, terms.size, total, wrong.size, wrong.min
  puts wrong.join('|').gsub(/([aeiou])(\w)/) { $2 + $1 }.tr('a-m', 'A-M').scan(/[A-M]+/).map(&:length).sum
end

def numbers
  bodies = Array.new(5) { [rnd(100) / 10.0, rnd(100) / 10.0, rnd(10) / 10.0, 0.0, 1 + rnd(9)] }
  ($size / 4).times do
    bodies.combination(2) do |a, b|
      dx, dy = a[0] - b[0], a[1] - b[1]
      d = dx * dx + dy * dy + 0.1
      f = 0.01 / (d * Math.sqrt(d))
      a[2] -= dx * b[4] * f
      a[3] -= dy * b[4] * f
      b[2] += dx * a[4] * f
      b[3] += dy * a[4] * f
    end
    bodies.each { |b| b[0] += 0.01 * b[2]; b[1] += 0.01 * b[3] }
  end
  sieve, count = Array.new($size * 4, true), 0
  (2...$size * 4).each do |i|
    next unless sieve[i]
    count += 1
    j = i * i
    while j < sieve.size
      sieve[j] = false
      j += i
    end
  end
  k = Math.sqrt($size).to_i / 4 + 2
  m = Array.new(k) { Array.new(k) { rnd(10) } }
  t = m.transpose
  trace = (0...k).sum { |i| m[i].zip(t[i]).sum { |x, y| x * y } }
  puts format('%.6f %.6f', bodies[0][0], bodies[4][1]), count, trace, 3**($size / 8) / 7**50 % 10**40
end

module Named
  def name = "#{self.class}#{w}"
end
Shape = Struct.new(:w) do
  include Named, Comparable
  def area = w
  def <=>(other) = [area, w] <=> [other.area, other.w]
end
class Square < Shape
  def area = super * w
  def method_missing(name, *) = name.end_with?('?') ? false : super
  def respond_to_missing?(*) = true
end

def walk(v, &block)
  case v
  when Hash then v.each_value { |x| walk(x, &block) }
  when Array then v.each { |x| walk(x, &block) }
  else yield v
  end
end

def objects
  shapes = Array.new($size) { |i| i % 3 == 0 ? Shape.new(rnd(90)) : Square.new(rnd(50)) }
  total = shapes.sum(&:area)
  counters = Array.new(20) { c = 0; ->(k) { c += k } }
  $size.times { |i| total += counters[i % 20].(i) % 7 }
  failed = shapes.count do |s|
    s.round? ? true : raise(ArgumentError, s.name) if s.w.odd?
  rescue NoMethodError, ArgumentError
    true
  end
  data = Array.new($size / 8) { |i| { id: i, list: [rnd(9), { deep: [rnd(9), nil, true] }], name: "n#{rnd(1000)}" } }
  seen = 0
  walk(data) { |x| seen += 1 if x }
  lazy = (1..Float::INFINITY).lazy.map { |x| x * x % 97 }.select(&:even?).first($size / 8)
  puts total, shapes.min.name, shapes.max.name, failed, seen, lazy.sum, data.map { _1[:name] }.uniq.sort.last
end

ARGV.drop(2).each { |use| send(use) }
