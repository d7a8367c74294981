#!/bin/sh
# php.sh prepare SIZE SEED | run BIN - see php_report.php
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" >log && echo "$2 $3" >size ;;
run) read -r n seed <size && exec "$2" -n "$here/php_report.php" "$n" "$seed" ;;
esac
