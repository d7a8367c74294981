# python_uses.py SIZE SEED USE... - text: a log matched, split, counted, formatted; numbers: orbits, primes,
# matrices, big integers; objects: classes, generators, sorting, JSON, exceptions
import collections, heapq, json, re, sys

size, seed = int(sys.argv[1]), int(sys.argv[2])
state = seed * 7919 + 1


def rnd(k):
    global state
    state = state * 16807 % 2147483647
    return state % k


def text():
    line_re = re.compile(r'(\S+) - \S+ \[([^]]*)\] "(\w+) ([^ ?]*)(?:\?(\S*))? [^"]*" (\d+) (\d+)')
    hosts, terms, wrong, total = collections.Counter(), collections.Counter(), [], 0
    with open('log') as f:
        for line in f:
            host, when, verb, url, query, status, n = line_re.match(line).groups()
            hosts[host] += 1
            total += int(n)
            if query:
                terms.update(part.partition('=')[2].replace('%20', ' ').title() for part in query.split('&'))
            if status >= '400':
                wrong.append(f'{status} {url.rsplit("/", 1)[-1][::-1]:>24} {int(n) / 1024:8.2f} {when[:2]}')
    print(hosts.most_common(5), len(terms), total, len(wrong), min(wrong))
    print(len(re.sub(r'([aeiou])(\w)', r'\2\1', '|'.join(wrong)).translate({ord('a'): 'A', ord('e'): None}).upper().encode()))


def numbers():
    bodies = [[rnd(100) / 10, rnd(100) / 10, rnd(10) / 10, 0.0, 1 + rnd(9)] for _ in range(5)]
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1:]]
    for _ in range(size // 4):
        for a, b in pairs:
            dx, dy = a[0] - b[0], a[1] - b[1]
            d = dx * dx + dy * dy + 0.1
            f = 0.01 / (d * d ** 0.5)
            a[2] -= dx * b[4] * f
            a[3] -= dy * b[4] * f
            b[2] += dx * a[4] * f
            b[3] += dy * a[4] * f
        for b in bodies:
            b[0] += 0.01 * b[2]
            b[1] += 0.01 * b[3]
    sieve, count = bytearray(size * 8), 0
    for i in range(2, size * 8):
        if not sieve[i]:
            count += 1
            for j in range(i * i, size * 8, i):
                sieve[j] = 1
    k = int(size ** 0.5) // 3 + 2
    m = [[rnd(10) for _ in range(k)] for _ in range(k)]
    p = [[sum(x * y for x, y in zip(row, col)) for col in zip(*m)] for row in m]
    big = pow(3, size // 8) // (7 ** 50) % 10 ** 40
    print('%.6f %.6f' % (bodies[0][0], bodies[4][1]), count, sum(p[i][i] for i in range(k)), big)


class Shape:
    def __init__(self, w):
        self.w = w

    def area(self):
        return self.w

    def __lt__(self, other):
        return (self.area(), self.w) < (other.area(), other.w)


class Square(Shape):
    __slots__ = ()

    def area(self):
        return super().area() * self.w

    @property
    def name(self):
        return f'S{self.w}'


def walk(v):
    if isinstance(v, dict):
        for x in v.values():
            yield from walk(x)
    elif isinstance(v, list):
        for x in v:
            yield from walk(x)
    else:
        yield v


def objects():
    shapes = [Square(rnd(50)) if i % 3 else Shape(rnd(90)) for i in range(size)]
    total = sum(s.area() for s in shapes)
    ordered = sorted(shapes)
    heap = []
    for _ in range(size):
        heapq.heappush(heap, (rnd(100000), rnd(7)))
    missing = 0
    for s in shapes:
        try:
            missing += len(s.name)
        except AttributeError:
            missing -= 1
    data = [{'id': i, 'list': [rnd(9), {'deep': [rnd(9), None, True]}], 'name': f'n{rnd(1000)}'} for i in range(size // 8)]
    back = json.loads(json.dumps(data, indent=1, sort_keys=True))
    names = sorted({d['name'] for d in back}, key=lambda s: (len(s), s))
    print(total, ordered[0].w, ordered[-1].w, heap[0], missing, sum(1 for x in walk(back) if x), names[-1])


for use in sys.argv[3:]:
    globals()[use]()
