# cxx_source.awk - a C++ source of N classes and functions by chance: awk -v n=N -v seed=SEED -f cxx_source.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function pick(list,  a, k) { k = split(list, a, " "); return a[rnd(k) + 1] }
function class(i,  base, k, m) {
	base = i > 2 && rnd(3) ? i - 1 - rnd(2) : -1
	print "class C" i (base >= 0 ? " : public C" base : "") " {\npublic:"
	print "  explicit C" i "(int a = " rnd(9) ") : " (base >= 0 ? "C" base "(a + 1), " : "") "n" i "(a), names{\"x" rnd(99) "\", \"y\"} {}"
	print "  virtual ~C" i "() {}"
	print "  virtual int area(int k) const" (base >= 0 ? " override" : "") " {\n    int s = n" i ";"
	m = rnd(5) + 2
	for (k = 0; k < m; k++)
		print "    " (rnd(4) ? "if (s % " 2 + rnd(9) " == " rnd(2) ") s += " rnd(100) "; else s -= k * " rnd(30) ";" : "for (int i = 0; i < k; ++i) s += i * " rnd(50) " ^ s;")
	if (rnd(2)) print "    if (s < -1000000) throw std::runtime_error(\"C" i "\");"
	print "    for (const auto &e : names) s += static_cast<int>(e.size());\n    return s;\n  }"
	print "  bool operator<(const C" i " &o) const { return std::tie(n" i ", names) < std::tie(o.n" i ", o.names); }"
	print "protected:\n  int n" i ";\n  std::vector<std::string> names;\n};"
}
function use(i,  c, d) {
	c = rnd(n); d = rnd(n)
	print "int use" i "(const std::string &text, int k) {"
	print "  std::map<std::string, std::vector<C" c ">> groups;"
	print "  std::unordered_map<int, std::pair<C" d ", double>> table;"
	print "  for (int i = 0; i < k; ++i) { groups[text.substr(static_cast<size_t>(i) % (text.size() + 1))].emplace_back(i); table.emplace(i * " rnd(90) + 1 ", std::make_pair(C" d "(i), i / 3.0)); }"
	print "  int sum = 0;\n  for (auto &[key, list] : groups) {"
	print "    std::sort(list.begin(), list.end());\n    sum += std::accumulate(list.begin(), list.end(), 0, [&, z = key.size()](int s, const C" c " &x) { return s + x.area(k) + static_cast<int>(z); });\n  }"
	print "  auto best = std::max_element(table.begin(), table.end(), [](const auto &a, const auto &b) { return a.second.second < b.second.second; });"
	if (rnd(2)) print "  std::set<std::tuple<int, std::string, C" d "> , std::less<>> seen; seen.emplace(sum, text, C" d "(k)); sum += static_cast<int>(seen.size());"
	if (rnd(2)) print "  std::function<int(int)> f = [&](int x) { return x < 2 ? x : f(x - 1) + f(x - " 2 + rnd(2) "); }; sum += f(k % " 5 + rnd(9) ");"
	if (rnd(2)) print "  std::ostringstream out; out << sum << ' ' << text << std::hex << k; sum += static_cast<int>(out.str().size());"
	if (rnd(2)) print "  auto p = std::make_unique<C" c ">(k); try { sum += p->area(" rnd(100) "); } catch (const std::exception &e) { sum -= e.what()[0]; }"
	print "  return best == table.end() ? sum : sum + best->second.first.area(" rnd(10) ");\n}"
}
BEGIN {
	state = seed * 7919 + 31
	k = split("algorithm deque functional list map memory numeric set sstream stdexcept string tuple unordered_map vector", header, " ")
	for (i = 1; i <= k; i++) print "#include <" header[i] ">"
	for (i = 0; i < n; i++) class(i)
	for (i = 0; i < n; i++) use(i)
}
