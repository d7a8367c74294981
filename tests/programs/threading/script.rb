# What Ruby's interpreter has instructions for.
require "set"
require "json"
require "erb"
require "strscan"

def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
p fib(17)

h = Hash.new(0)
3000.times { |i| h[(i * i).to_s(36)[-1]] += 1 }
p h.sort.first(5)

class Thing
  include Comparable
  attr_accessor :x
  def initialize(x) = @x = x
  def method_missing(m, *a) = "#{m} #{a}"
  def respond_to_missing?(*) = true
  def <=>(other) = x <=> other.x
end
p Thing.new(3) < Thing.new(4), Thing.new(1).foo(1, 2), [Thing.new(2), Thing.new(1)].min.x

begin
  raise ArgumentError, "x"
rescue => e
  p e.message
ensure
  p :ensured
end
f = Fiber.new { 3.times { |i| Fiber.yield i }; :done }
p 4.times.map { f.resume }
p (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(3)
p ERB.new("<% 3.times do |i| %><%= i %>,<% end %>").result, JSON.parse(JSON.generate({ a: [1, 2.5, nil] }))
case [1, [2, 3]]
in [a, [b, *c]] then p a, b, c
end
p RubyVM::InstructionSequence.compile("1 + 2 * 3; [1, 2].map { |x| x + 1 }").eval
bin = RubyVM::InstructionSequence.compile("%w[a b].join('-') << 'c'").to_binary
p RubyVM::InstructionSequence.load_from_binary(bin).eval
trace = []
TracePoint.new(:call, :line) { |t| trace << [t.method_id, t.lineno] }.enable { fib(2) }
p trace.size
eval("def many(*a, k: 1, **o, &b) = [a, k, o, b&.call]")
p many(1, 2, k: 3, z: 4) { 5 }, catch(:q) { 10.times { |i| throw :q, i if i == 7 } }
p Thread.new { Thread.current[:a] = 42 }.value, Set.new([3, 1, 3]).sort, "a-b_c".tr("-_", "  ").split
i = 0
i += 1 while i < 1000 unless i > 5
p i, ($g = [1, *2..4, **{}]), (x = nil)&.foo, defined?(y), [1, 2] <=> [1, 3], 2**70, 7.fdiv(2), "%05.1f" % 2.25
