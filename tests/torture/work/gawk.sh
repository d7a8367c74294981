# gawk.sh - the test suite of gawk, moved after it was built
suite=gawk
. "$TORTURE_HERE/suite.bash"
built() { echo gawk; }
# Its suite says which tests differ, not which pass.
tests() { make -C test check | sed -E 's/^([a-z][a-z0-9_]*)$/PASS: \1/'; }
