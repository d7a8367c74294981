# gccgo.sh - a program by gccgo: split stacks, goroutines, panics through C's unwinder, names of callers
packages=gccgo-12
build() {
	cat >moved.go <<-'END'
	package main
	import ("errors"; "fmt"; "os"; "os/signal"; "regexp"; "runtime"; "sort"; "strings"; "sync"; "syscall"; "time"; "encoding/json"; "crypto/sha256")
	type T struct { A []int; B map[string]float64 }
	func deep(n int) int { var pad [1000]int; pad[n%1000] = n; if n == 0 { return pad[0] }; return deep(n-1) + pad[n%1000] - n + 1 }
	func fails(n int) (err error) { defer func() { if r := recover(); r != nil { err = fmt.Errorf("caught %v", r) } }(); a := []int{1, 2}; return errors.New(fmt.Sprint(a[n])) }
	func null() (s string) { defer func() { s = fmt.Sprint(recover()) }(); var p *T; return fmt.Sprint(p.A) }
	func main() {
		fmt.Println(deep(20000), fails(1), fails(5), null()); var wg sync.WaitGroup; var mu sync.Mutex; sum := 0
		for i := 0; i < 200; i++ { wg.Add(1); go func(i int) { defer wg.Done(); x := deep(100 + i); mu.Lock(); sum += x; mu.Unlock() }(i) }; wg.Wait(); fmt.Println(sum)
		c := make(chan int); go func() { for i := 0; i < 5; i++ { c <- i * i }; close(c) }(); for x := range c { fmt.Print(x, " ") }; select { case <-time.After(time.Millisecond): fmt.Println("time") }
		m := map[string]int{}; for i := 0; i < 20000; i++ { m[fmt.Sprint(i*7919%5003)] += i }; k := []string{}; for s := range m { k = append(k, s) }; sort.Strings(k); fmt.Println(len(k), k[7], m[k[7]])
		j, _ := json.Marshal(T{[]int{1}, map[string]float64{"x": 1.5}}); fmt.Println(string(j), regexp.MustCompile("\\d+").FindAllString("a12b345", -1)); fmt.Printf("%x\n", sha256.Sum256([]byte(strings.Repeat("x", 1000))))
		s := make(chan os.Signal, 1); signal.Notify(s, syscall.SIGUSR1); syscall.Kill(os.Getpid(), syscall.SIGUSR1); fmt.Println(<-s); runtime.GC(); pc, _, _, ok := runtime.Caller(0); fmt.Println(ok, pc != 0); func() { defer fmt.Println("deferred"); var e error; _ = e.Error() }()
	}
	END
	gccgo-12 -O2 moved.go -o moved && gccgo-12 -O0 -g -static-libgo moved.go -o moved_0
}
files() { built gccgo build || return; with_libraries "$SOURCES"/foreign/gccgo/moved{,_0}; }
run() {
	local p
	for p in moved moved_0; do "$SOURCES/foreign/gccgo/$p" 2>err; echo "$p $?"; head -n 2 err | grep -v 0x; done
}
