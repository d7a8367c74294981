#!/bin/sh
# cc1.sh prepare LINES SEED | run BIN - the C compiler proper on preprocessed sources of this tree
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare) sources_prepare gcc "$2" "$3" ;;
run) for f in *.i; do "$2" -quiet -fpreprocessed -std=gnu17 -w -O2 -fPIE "$f" -o - || echo "$f: $?"; done ;;
esac
