# ruby_report.rb N SEED - a log parsed and summed up, a template engine, a tokenizer and an evaluator,
# graph search, big numbers and many small objects
Request = Struct.new(:host, :verb, :url, :query, :status, :size) do
  def area = url.split('/')[1].to_s
  def wrong? = status >= 400
end

module Parsing
  LINE = /\A(\S+) - \S+ \[([^\]]+)\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)/

  def self.each(lines)
    return enum_for(:each, lines) unless block_given?
    lines.each do |line|
      next unless (m = LINE.match(line))
      query = (m[5] || '').split('&').to_h { |part| part.split('=', 2) }
      yield Request.new(m[1], m[3].to_sym, m[4], query, m[6].to_i, m[7].to_i)
    end
  end
end

class Template
  def initialize(text)
    @parts = text.split(/(\{\{\w+(?:\|\w+)*\}\})/).map do |part|
      part =~ /\A\{\{(\w+)((?:\|\w+)*)\}\}\z/ ? [$1.to_sym, $2.split('|').drop(1).map(&:to_sym)] : part
    end
  end

  def render(values)
    @parts.each_with_object(+'') do |part, out|
      out << (part.is_a?(String) ? part : part[1].reduce(values.fetch(part[0]).to_s) { |s, f| s.public_send(f) })
    end
  end
end

class Expression
  PRIORITY = { '+' => 1, '-' => 1, '*' => 2, '/' => 2 }.freeze

  def initialize(text)
    out, ops = [], []
    text.scan(/\d+|[a-z]+|[-+*\/()]/) do |t|
      case t
      when /\A\d/ then out << t.to_i
      when /\A[a-z]/ then out << t.to_sym
      when '(' then ops << t
      when ')'
        out << ops.pop until ops.last == '('
        ops.pop
      else
        out << ops.pop while ops.any? && PRIORITY.fetch(ops.last, 0) >= PRIORITY[t]
        ops << t
      end
    end
    @code = out + ops.reverse
  end

  def value(**names)
    stack = []
    @code.each do |c|
      case c
      when Integer then stack.push(c)
      when Symbol then stack.push(names.fetch(c))
      else
        b, a = stack.pop, stack.pop
        stack.push(a.public_send(c, b))
      end
    end
    stack.pop
  rescue ZeroDivisionError
    -1
  end
end

def shortest(graph, from)
  seen = { from => 0 }
  queue = [from]
  until queue.empty?
    at = queue.shift
    graph[at].each do |to|
      next if seen.key?(to)
      seen[to] = seen[at] + 1
      queue << to
    end
  end
  seen
end

n, seed = ARGV.map(&:to_i)
requests = Parsing.each(File.foreach('log')).to_a
requests.group_by(&:area).sort.each do |area, rs|
  puts format('%-8s %6d %10d %5.2f%% %s', area, rs.size, rs.sum(&:size), 100.0 * rs.count(&:wrong?) / rs.size,
              rs.max_by { |r| [r.size, r.url] }.url)
end
puts requests.each_with_object(Hash.new(0)) { |r, h| h[r.host] += 1 }.sort_by { |h, k| [-k, h] }.first(10).map { |h, k| "#{h}:#{k}" }.join(' ')
page = Template.new('<a href="{{url}}">{{verb|downcase|capitalize}} {{host|reverse}}</a> {{size}}')
puts requests.sum { |r| page.render(r.to_h).gsub(/[aeiou]/) { |c| c.upcase }.tr('/', '_').length }
terms = requests.flat_map { |r| r.query.fetch('q', '').split('%20') }.tally
puts terms.select { |_, k| k > 1 }.keys.sort.first(20).inspect
graph = Hash.new { |h, k| h[k] = [] }
requests.each_cons(2) { |a, b| graph[a.url] << b.url if a.status == 200 }
puts shortest(graph, requests.first.url).values.tally.sort.inspect
e = Expression.new("(a*#{seed}+b)/(b-7)+a*(3-b)*2")
puts (1..n / 4).sum { |i| e.value(a: i, b: i % 19) }
puts (1..60 + seed % 10).inject(:*).to_s.chars.each_slice(3).map(&:join).join(',')
puts (1..n / 8).map { |i| [i % 97, (i * 7919 + seed) % 1009, "k#{i % 13}"] }.sort.each_slice(7).map(&:last).map(&:last).tally.sort.inspect
fib = ->(k) { k < 2 ? k : fib.(k - 1) + fib.(k - 2) }
puts fib.(16)
