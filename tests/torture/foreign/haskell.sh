# haskell.sh - GHC and programs by it: code without unwind rows, with tables in front of it, over a runtime in C that is moved
packages="ghc pandoc shellcheck"
build() {
	cat >h.hs <<-'X'
	import Control.Concurrent
	import Control.Exception
	import qualified Data.Map.Strict as M
	import System.Mem
	import System.Timeout
	fib :: Int -> Integer
	fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)
	main :: IO ()
	main = do
	  print (fib 22)
	  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
	  print r
	  v <- newEmptyMVar
	  mapM_ (\i -> forkIO (evaluate (sum [fib (k `mod` 18) | k <- [i .. i + 40]]) >>= putMVar v)) [1 .. 8]
	  s <- mapM (const (takeMVar v)) [1 .. 8 :: Int]
	  print (sum s)
	  let m = M.fromListWith (+) [(i * 7919 `mod` 5003, i) | i <- [0 .. 100000 :: Int]]
	  performGC
	  print (M.foldl' (+) 0 m, M.size m)
	  t <- timeout 50000 (evaluate (length [1 :: Integer ..]))
	  print t
	  e <- try (evaluate (foldr (+) 0 [1 .. 1000000 :: Integer])) :: IO (Either SomeException Integer)
	  print (either (const 0) id e)
	  b <- try (newEmptyMVar >>= \x -> takeMVar (x :: MVar ())) :: IO (Either BlockedIndefinitelyOnMVar ())
	  print b
	  error "last"
	X
	ghc -v0 -O -dynamic -threaded -outputdir o1 h.hs -o h_dynamic && ghc -v0 -O -threaded -outputdir o2 h.hs -o h_static && ghc -v0 -O0 -debug -g -outputdir o3 h.hs -o h_debug
}
files() {
	built haskell build || return
	local at=$SOURCES/foreign/haskell
	with_libraries "$at/h_dynamic" "$at/h_static" "$at/h_debug" /usr/lib/ghc/bin/ghc "$(program pandoc)" "$(program shellcheck)"
}
run() {
	local at=$SOURCES/foreign/haskell p
	for p in h_dynamic h_static h_debug; do "$at/$p" 2>&1; echo $?; "$at/$p" +RTS -A64k -N1 -G3 -DS 2>&1 | tail -n 3; done
	"$at/h_dynamic" +RTS -N2 --nonmoving-gc -s/dev/null 2>&1
	cp "$at/h.hs" . && ghc -v0 -O1 h.hs -o h 2>&1; echo $?; ./h 2>&1; echo 'x = ' >bad.hs; ghc -v0 bad.hs 2>&1; echo $?
	echo 'map (*2) [1..5] >> print (let f 0 = 1; f n = n * f (n - 1) in f 30) >> (print $! head [])' | ghc --interactive -v0 2>&1
	printf '# T\n\n* a *b* `c`\n* d\n\n| x | y |\n|---|---|\n| 1 | 2 |\n' | pandoc -t html5; printf 'a $x^2$' | pandoc -t latex
	printf '#!/bin/sh\nfor i in $(ls); do echo $i; done\n' >s.sh; shellcheck s.sh; echo $?
}
