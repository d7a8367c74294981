# gawk.sh - the test suite of gawk, moved after it was built
suite=gawk
. "$TORTURE_HERE/suite.bash"
built() { echo gawk; }
# Its suite names every test, and leaves the output of those that differ.
tests() {
	local t
	rm -f test/_*
	make -C test check >"$HOME/check" 2>&1
	sed -nE 's/^([a-z][a-z0-9_]*)$/\1/p' "$HOME/check" | while read -r t; do
		if [ -e "test/_$t" ]; then echo "FAIL: $t"; else echo "PASS: $t"; fi
	done
}
