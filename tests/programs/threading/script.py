# What Python's interpreter has instructions for.
import json, re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gen(n):
    for i in range(n):
        got = yield i
        if got:
            yield from gen(got)


print(fib(16), list(gen(3)), sorted({"b": 1, "a": 2}.items()), json.dumps([1, {"x": None}]))
try:
    raise ValueError("x")
except ValueError as e:
    print(e, type(e))
match [1, {"k": 2}]:
    case [a, {"k": b}]:
        print(a, b)
print(re.sub(r"(\w)(\d)", r"\2\1", "a1b2"), f"{3.5:.2f}", [*range(3)], {**{"q": 1}}, sum(x * x for x in range(99)))
