// virtual.cc - virtual functions, pointers to members, std::function
#include <cstdio>
#include <functional>
#include <memory>
#include <typeinfo>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual int area() const { return 0; }
	virtual int sides() const = 0;
	int plain(int n) { return n + sides(); }
};

struct square final : shape {
	int area() const override { return 4; }
	int sides() const override { return 4; }
};

struct triangle : shape {
	int sides() const override { return 3; }
};

static int counted(int n)
{
	return n + 1;
}

static int (*volatile through)(int) = counted;

int main()
{
	std::vector<std::unique_ptr<shape>> v;
	int (shape::*member)() const = &shape::sides;
	int (shape::*plain)(int) = &shape::plain;

	v.emplace_back(new square);
	v.emplace_back(new triangle);
	for (auto &s : v)
		std::printf("%d %d %d %d\n", s->area(), s->sides(), (s.get()->*member)(),
			    (s.get()->*plain)(10));
	std::printf("members: %d %d\n", member == &shape::sides, plain == &shape::plain);
	std::function<int(int)> f = counted;
	auto *held = f.target<int (*)(int)>();
	std::printf("function: %d %d %d\n", held && *held == counted, through == counted, f(41));
	return 0;
}
