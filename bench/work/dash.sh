#!/bin/sh
# dash.sh prepare SIZE SEED | run BIN - a configure-like script for any POSIX shell: loops, patterns, cases,
# expansions, functions, here-documents, eval; hardly any process
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$(($2 / 10))" -v seed="$3" -f "$here/weblog.awk" >log && echo "$2 $3" >size ;;
run) read -r n seed <size && exec "$2" "$here/dash_script.sh" "$n" "$seed" ;;
esac
