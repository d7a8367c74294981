# grep.sh - the test suite of grep, moved after it was built
suite=grep
. "$TORTURE_HERE/suite.bash"
built() { echo src/grep; }
tests() { make -C tests check -k; }
