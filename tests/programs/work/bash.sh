#!/bin/sh
# bash.sh prepare N SEED | run BASH - see bash_script.sh
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) echo "$2 $3" >size ;;
run) read -r n seed <size && exec "$2" "$here/bash_script.sh" "$n" "$seed" ;;
esac
