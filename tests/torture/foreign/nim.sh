# nim.sh - the compiler, and a program by it: exceptions by goto and by setjmp, closures, iterators, stack traces
packages=nim
build() {
	cat >moved.nim <<-'END'
	import std/[tables, strutils, sequtils, algorithm, json, re, math]
	type Mine = object of CatchableError
	  n: int
	proc deep(n: int): int =
	  defer: echo "out of ", n
	  if n == 0: raise (ref Mine)(msg: "deep", n: 7)
	  result = deep(n - 1) + 1
	iterator walk(n: int): int {.closure.} =
	  for i in 0 ..< n:
	    try: yield i * i
	    finally: discard
	try: discard deep(5)
	except Mine as e: echo e.msg, e.n
	var t = initTable[string, int]()
	for i in 0 ..< 20000: t.mgetOrPut($(i * 7919 mod 5003), 0) += i
	echo t.len, " ", toSeq(t.values).sorted[^1]
	let w = walk
	for i in 0 .. 4: echo w(5)
	echo parseJson("""{"a": [1, 2.5, {"b": null}]}""").pretty
	try: discard parseJson("{,}")
	except JsonParsingError as e: echo e.msg
	echo "a1b22".findAll(re"\d+")
	try: echo parseInt("12x")
	except ValueError as e: echo e.msg
	var a = @[1, 2, 3]
	try: echo a[a.len + 2]
	except IndexDefect as e: echo e.msg
	discard deep(2)
	END
	nim c --hints:off -d:release -o:c_arc --gc:arc moved.nim && nim c --hints:off -o:c_debug moved.nim &&
		nim c --hints:off --exceptions:setjmp --gc:refc -d:release -o:c_setjmp moved.nim &&
		nim cpp --hints:off -d:release -o:cpp moved.nim
}
files() { built nim build || return; with_libraries "$SOURCES"/foreign/nim/{c_arc,c_debug,c_setjmp,cpp} "$(program nim)" | grep -v '\.nim$'; }
run() {
	local p
	for p in c_arc c_debug c_setjmp cpp; do
		"$SOURCES/foreign/nim/$p" 2>&1; echo "$p $?"
	done
	cp "$SOURCES/foreign/nim/moved.nim" . && nim c --hints:off --compileOnly --nimcache:cache moved.nim && cat cache/*.c | sha256sum
	nim check nothing.nim 2>&1 | tail -n 1
}
