#!/bin/sh
# ruby.sh prepare SIZE SEED | run BIN - see ruby_report.rb; the time goes to libruby-3.1.so.3.1
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" >log && echo "$2 $3" >size ;;
run) read -r n seed <size && LC_ALL=C.UTF-8 exec "$2" --disable-gems "$here/ruby_report.rb" "$n" "$seed" ;;
esac
