# rust.sh - a program by rustc: panics that are caught and not, threads, backtraces of them; fd, bat, hyperfine
packages="rustc fd-find bat hyperfine"
build() {
	cat >moved.rs <<-'END'
	use std::{collections::*, panic, thread, sync::*};
	struct Guard(u32);
	impl Drop for Guard { fn drop(&mut self) { println!("gone {}", self.0); } }
	#[inline(never)] fn deep(n: u32) -> u32 { let _g = Guard(n); if n == 0 { panic!("deep"); } deep(n - 1) + 1 }
	fn main() {
		panic::set_hook(Box::new(|i| println!("{}", i)));
		println!("{:?}", panic::catch_unwind(|| deep(4)).unwrap_err().downcast_ref::<&str>());
		let h: Vec<_> = (0..8u64).map(|i| thread::spawn(move || { if i == 5 { panic::resume_unwind(Box::new(i)); } (0..10000).map(|x| x * i).sum::<u64>() })).collect();
		for t in h { println!("{:?}", t.join().map_err(|e| *e.downcast::<u64>().unwrap())); }
		let mut m = BTreeMap::new();
		for i in 0..20000u64 { *m.entry(format!("{}", i * 7919 % 5003)).or_insert(0) += i; }
		println!("{} {:?}", m.len(), m.iter().next_back());
		let lock = Arc::new(Mutex::new(0)); let l2 = lock.clone();
		let _ = thread::spawn(move || { let _g = l2.lock().unwrap(); panic!("poison") }).join();
		println!("{}", lock.is_poisoned());
		let v: Vec<i32> = vec![1, 2, 3]; println!("{:?}", panic::catch_unwind(|| v[v.len() + 2]).is_err());
		println!("{:?} {:?}", "1.5e3x".parse::<f64>(), i128::MAX.checked_mul(2));
		let _ = panic::take_hook(); deep(1);
	}
	END
	rustc --edition 2021 -O moved.rs -o moved && rustc --edition 2021 -g moved.rs -o moved_0 &&
		rustc --edition 2021 -O -C prefer-dynamic moved.rs -o moved_dynamic
}
files() {
	built rust build || return
	with_libraries "$SOURCES"/foreign/rust/{moved,moved_0,moved_dynamic} "$(program fdfind)" "$(program batcat)" "$(program hyperfine)"
	realpath /usr/lib/x86_64-linux-gnu/libstd-*.so
}
prepare() { cp -a "$(realpath /usr/share/perl/5.36)" tree; }
run() {
	local p
	for p in moved moved_0 moved_dynamic; do
		RUST_BACKTRACE=1 "$SOURCES/foreign/rust/$p" 2>err; echo "$p $?"; grep -a panicked err
	done
	fdfind -e pm 'F.*le' tree | sort; fdfind -x echo {/.} \; -d 1 . tree | sort; fdfind '(' tree 2>&1
	batcat --color=always --style=full -l perl tree/strict.pm | sha256sum; batcat -A -r 5:20 tree/warnings.pm
	batcat --list-languages | sha256sum
	hyperfine -N --runs 5 --export-json t.json true >/dev/null 2>&1; echo $?
}
