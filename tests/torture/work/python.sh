# python.sh - python's own test modules, and nothing of ours
packages="python3.11 libpython3.11-testsuite"
files() { with_libraries "$(program python3.11)"; }
run() {
	local t
	for t in grammar json re dict list tuple set string str bytes int float complex math cmath struct \
		array bisect heapq collections itertools functools operator generators coroutines \
		exceptions raise with decorators descr class scope syntax compile ast tokenize \
		dataclasses enum fractions decimal statistics random textwrap difflib csv configparser \
		hashlib hmac zlib gzip bz2 lzma binascii base64 pickle copy unicodedata codecs \
		html xml_etree sqlite3 argparse getopt shlex fnmatch glob pprint reprlib format fstring \
		deque defaultdict weakref gc iter slice range sort long bool opcodes peepholer \
		patma unpack unpack_ex augassign contextlib typing; do
		[ -e "/usr/lib/python3.11/test/test_$t.py" ] || [ -d "/usr/lib/python3.11/test/test_$t" ] || continue
		unit "$t" env PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 python3.11 -m unittest "test.test_$t"
	done
}
