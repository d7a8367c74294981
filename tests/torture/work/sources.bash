# sources.bash - sourced by the compilers' workloads: preprocessed sources of some size, from headers
# that are on every machine with a compiler and from Morph's own files

# Writes program.i, one file of everything, and *.ii of C++ headers that instantiate much.
sources_prepare() {	# CC CXX
	local top
	top=$(realpath "$TORTURE_HERE/../../..")
	for f in postmorph/tables/jumptable.c postmorph/tables/absint.c editor/emit/emit_code.c verify/dataflow.c \
		editor/graph/exttsp.c lib/table.c; do
		"$1" -std=gnu17 -D_GNU_SOURCE -I "$top" -E -P "$top/$f" >"$(basename "$f" .c).i" || return
	done
	cp jumptable.i program.i
	cat >all.cc <<-END
	#include <algorithm>
	#include <functional>
	#include <iostream>
	#include <map>
	#include <memory>
	#include <numeric>
	#include <regex>
	#include <set>
	#include <sstream>
	#include <string>
	#include <unordered_map>
	#include <variant>
	#include <vector>

	using value = std::variant<int, double, std::string, std::vector<std::string>>;

	static std::map<std::string, std::vector<value>> parse(std::istream &in)
	{
		static const std::regex form("([a-z]+)=([0-9]+|\"[^\"]*\")(,(.*))?");
		std::map<std::string, std::vector<value>> out;
		std::string line;
		while (std::getline(in, line)) {
			std::smatch m;
			if (!std::regex_match(line, m, form))
				throw std::runtime_error("line: " + line);
			try {
				out[m[1]].push_back(std::stoi(m[2]));
			} catch (const std::invalid_argument &) {
				out[m[1]].push_back(m[2].str());
			}
		}
		return out;
	}

	int main()
	{
		auto all = parse(std::cin);
		std::unordered_map<std::string, std::size_t> count;
		for (auto &[name, list] : all) {
			std::stable_sort(list.begin(), list.end());
			for (auto &v : list)
				std::visit([&](auto &x) { count[name] += sizeof(x); }, v);
		}
		std::set<std::pair<std::size_t, std::string>> order;
		for (auto &c : count)
			order.emplace(c.second, c.first);
		std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
		std::cout << order.size() << ' ' << fib(10) << '\n';
	}
	END
	"$2" -std=gnu++17 -E -P all.cc >all.ii
}
