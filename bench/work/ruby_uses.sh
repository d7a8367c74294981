#!/bin/sh
# ruby_uses.sh prepare SIZE SEED [USE...] | run BIN - see ruby_uses.rb
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers objects}" >size ;;
run) read -r all <size && LC_ALL=C.UTF-8 exec "$2" --disable-gems "$here/ruby_uses.rb" $all ;;
esac
