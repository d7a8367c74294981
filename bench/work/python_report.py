# python_report.py N SEED - a log parsed, counted, turned into JSON and CSV and back, templates, a
# small interpreter, a constraint search and matrices, as in many a program written in Python
import bisect, collections, csv, functools, heapq, io, itertools, json, math, re, string, sys
from dataclasses import dataclass, field

LINE = re.compile(r'(?P<host>[\d.]+) - (?P<user>\S+) \[(?P<day>\d+)/(?P<month>\w+)/\d+:(?P<hour>\d+):(\d+):(\d+) [^]]*\] '
                  r'"(?P<method>[A-Z]+) (?P<url>[^ ?]*)(?:\?(?P<query>\S*))? HTTP/[\d.]+" (?P<status>\d+) (?P<size>\d+)')


@dataclass(order=True)
class Request:
    size: int
    host: str = field(compare=False)
    url: str = field(compare=False)
    status: int = field(compare=False)
    query: dict = field(compare=False, default_factory=dict)

    @property
    def area(self):
        return self.url.split('/')[1] if self.url.count('/') > 1 else ''


def parse(lines):
    for line in lines:
        m = LINE.match(line)
        if not m:
            continue
        query = dict(part.partition('=')[::2] for part in (m['query'] or '').split('&') if part)
        yield Request(int(m['size']), m['host'], m['url'], int(m['status']), query)


def report(requests):
    hosts, areas = collections.Counter(), collections.defaultdict(list)
    for r in requests:
        hosts[r.host] += 1
        areas[r.area].append(r)
    for host, n in sorted(hosts.items(), key=lambda kv: (-kv[1], kv[0]))[:10]:
        print(f'{host:>16} {n:6d} {100 * n / len(requests):6.2f}%')
    for area, rs in sorted(areas.items()):
        sizes = sorted(r.size for r in rs)
        print(area or '-', len(rs), sum(sizes), sizes[len(sizes) // 2], bisect.bisect(sizes, 10000),
              [r.url for r in heapq.nlargest(3, rs)])


def round_trip(requests):
    text = json.dumps([{'host': r.host, 'url': r.url, 'query': r.query, 'big': r.size > 30000} for r in requests], indent=1)
    back = json.loads(text)
    out = io.StringIO()
    writer = csv.writer(out)
    for row in back:
        writer.writerow([row['host'], row['url'].upper(), ' '.join(sorted(row['query'].values())), row['big']])
    total = 0
    for host, url, terms, big in csv.reader(io.StringIO(out.getvalue())):
        total += len(url) + (big == 'True') + terms.count('%20')
    return len(text), total


class Machine:
    """A stack machine, and a compiler to it for expressions."""

    def __init__(self, source):
        self.tokens = re.findall(r'\d+|[a-z]|[-+*/%()]', source) + ['end']
        self.code, self.at = [], 0
        self.sum()

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def sum(self):
        self.product()
        while self.tokens[self.at] in '+-':
            op = self.take()
            self.product()
            self.code.append((op, None))

    def product(self):
        self.atom()
        while self.tokens[self.at] in '*/%':
            op = self.take()
            self.atom()
            self.code.append((op, None))

    def atom(self):
        t = self.take()
        if t == '(':
            self.sum()
            self.take()
        elif t.isdigit():
            self.code.append(('push', int(t)))
        else:
            self.code.append(('load', t))

    def run(self, names):
        stack = []
        for op, arg in self.code:
            if op == 'push':
                stack.append(arg)
            elif op == 'load':
                stack.append(names[arg])
            else:
                b, a = stack.pop(), stack.pop()
                if op == '+':
                    stack.append(a + b)
                elif op == '-':
                    stack.append(a - b)
                elif op == '*':
                    stack.append(a * b % 1000003)
                else:
                    try:
                        stack.append(a // b if op == '/' else a % b)
                    except ZeroDivisionError:
                        stack.append(0)
        return stack.pop()


def queens(n, row=0, cols=frozenset(), up=frozenset(), down=frozenset()):
    if row == n:
        return 1
    return sum(queens(n, row + 1, cols | {c}, up | {c + row}, down | {c - row})
               for c in range(n) if c not in cols and c + row not in up and c - row not in down)


@functools.lru_cache(maxsize=None)
def distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))


def matrix(k):
    m = [[math.sin(i * j + 1) for j in range(k)] for i in range(k)]
    p = [[sum(a * b for a, b in zip(row, col)) for col in zip(*m)] for row in m]
    return round(sum(p[i][i] for i in range(k)), 6)


def main(n, seed):
    with open('log') as f:
        requests = list(parse(f))
    report(requests)
    print(*round_trip(requests))
    page = string.Template('<a href="$url">$host</a> ${status}')
    print(sum(len(page.substitute(url=r.url, host=r.host, status=r.status)) for r in requests[::3]))
    machine = Machine(f'(a * {seed} + b) % 977 * (3 + a / (b - 7)) - 5 * (a % 13)')
    print(sum(machine.run({'a': i, 'b': i % 31}) for i in range(n)))
    words = sorted({w for r in requests for w in r.url.strip('/').split('/')})[:60]
    print(min((distance(a, b), a, b) for a, b in itertools.islice(itertools.combinations(words, 2), n // 20)))
    print(queens(6 + seed % 2), matrix(20 + n // 500))


main(int(sys.argv[1]), int(sys.argv[2]))
