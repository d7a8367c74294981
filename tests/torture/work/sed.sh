# sed.sh - the test suite of sed, moved after it was built
suite=sed
. "$TORTURE_HERE/suite.bash"
built() { echo sed/sed; }
tests() { make check-TESTS SUBDIRS=.; }
