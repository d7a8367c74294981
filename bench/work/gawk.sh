#!/bin/sh
# gawk.sh prepare LINES SEED | run BIN - reports over an access log, see gawk_report.awk
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" >log ;;
run) LC_ALL=C exec "$2" -f "$here/gawk_report.awk" log ;;
esac
