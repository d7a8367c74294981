/* lines.cc - templates, exceptions, virtual functions, inlining over several levels */
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

struct Item {
	std::string name;
	int price;
};

class Cart {
	std::vector<Item> items;

public:
	void add(const std::string &name, int price)
	{
		if (price < 0)
			throw std::invalid_argument(name);
		items.push_back({ name, price });
	}
	int total() const
	{
		int sum = 0;

		for (const auto &i : items)
			sum += i.price;
		return sum;
	}
};

template <typename T> T twice(T v)
{
	T w = v + v;

	return w;
}

struct Rule {
	virtual ~Rule() {}
	virtual int apply(int) = 0;
};
struct AddOne : Rule {
	int apply(int x) override { return x + 1; }
};
struct Double : Rule {
	int apply(int x) override { return twice(x); }
};

} // namespace shop

__attribute__((noinline)) int run(shop::Rule *rule, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += rule->apply(i);
	return sum;
}

int main()
{
	shop::Cart cart;
	std::map<std::string, int> refused;

	for (int i = 0; i < 8; i++) {		// a debugger stops at each turn
		try {
			cart.add("item" + std::to_string(i), i % 7 == 6 ? -1 : i);
		} catch (const std::invalid_argument &e) {
			refused[e.what()]++;
		}
	}
	std::unique_ptr<shop::Rule> a(new shop::AddOne), b(new shop::Double);
	auto times = [&](int k) { return k * cart.total(); };

	std::printf("%d %d %d %d %zu\n", run(a.get(), 5), run(b.get(), 9), times(3),
		    shop::twice(21), refused.size());
	return 0;
}
