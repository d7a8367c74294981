# rewritten.sh - other tools that change a file after it was moved: strip, objcopy, patchelf, chrpath, debugedit, gcl's own
packages="binutils elfutils patchelf chrpath zstd gcl libzstd1 datamash moreutils"
files() { with_libraries "$(program datamash)"; elves_of moreutils gcl; }
run() {
	local p t
	seq 300 | awk '{ print $1 % 7, $1 * 7919 % 101 }' >in
	use() { "$1" -t ' ' -s -g 1 sum 2 median 2 q1 2 unique 2 <in 2>&1 | sha256sum; "$1" nosuch 2>&1; echo $?; }
	p=/usr/bin/datamash; use $p
	for t in 'strip -o x' 'strip --strip-section-headers -o x' 'objcopy --strip-debug' 'objcopy --only-keep-debug' 'objcopy --add-section .new=in' 'objcopy --compress-debug-sections' 'eu-strip -o x' 'patchelf --output x --set-rpath /usr/lib' 'patchelf --output x --add-needed libz.so.1' 'patchelf --output x --set-interpreter /lib64/ld-linux-x86-64.so.2'; do
		rm -f x; case $t in *'-o x' | *'--output x'*) $t $p 2>&1 ;; *) $t $p x 2>&1 ;; esac; echo "$t $?"; case $t in *keep-debug*) continue ;; esac; [ -e x ] && chmod +x x && use ./x | sed 's/^\.\/x/datamash/; s/datamash: /datamash: /'
	done
	echo '(defun f (x) (* x 2)) (compile (quote f)) (si::save-system "saved")' | gcl -batch >/dev/null 2>&1; echo '(print (f 21)) (by)' | ./saved 2>&1 | tail -n 2; echo $?
	printf 'a\nb\n' | sponge y; cat y; isutf8 /usr/bin/datamash >/dev/null; echo $?; echo x | ts -s | cut -c 9-
}
