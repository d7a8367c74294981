#!/bin/sh
# python3.11.sh prepare SIZE SEED | run BIN - see python_report.py
#
# Debian's modules, which are compiled, for each BIN: it looks for some above its own folder, and what it
# finds there (bench/build.sh's are sources) it would compile in every run, half of a small one's time.
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" >log && echo "$2 $3" >size ;;
run) read -r n seed <size && PYTHONHOME=/usr PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 exec "$2" -S -B "$here/python_report.py" "$n" "$seed" ;;
esac
