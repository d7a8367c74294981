#!/bin/sh
# dash_script.sh SIZE SEED - a log read, options parsed as configure does, arithmetic, lists in variables
size=$1 state=$(($2 * 7919 + 1))
rnd() { state=$((state * 16807 % 2147483647)); r=$((state % $1)); }
fib() { if [ "$1" -lt 2 ]; then f=$1; else local a; fib $(($1 - 1)); a=$f; fib $(($1 - 2)); f=$((f + a)); fi; }
total=0 k=0 gets=0 others=0
while read -r host _ user day _ verb url _ status bytes rest; do
	total=$((total + ${bytes:-0})) k=$((k + 1))
	case $verb in
	\"GET) gets=$((gets + 1)) ;;
	\"P*) others=$((others + 1)) path=${url%%\?*} ;;
	*) path=${url##*/} ;;
	esac
	case $status:$url in
	404:*.html | 5??:*) eval "seen_$((k % 50))=\${path:-none}" ;;
	esac
	if [ "$((k % 500))" -eq 0 ]; then
		echo "$k $host ${day#?} ${path%.*} ${rest##* }"
	fi
done <log
echo "$total $k $gets $others ${seen_7:-} ${seen_8-unset}"
i=0
while [ $i -lt $((size / 2)) ]; do
	rnd 9
	case $r in
	0) option="--enable-x$i" ;;
	1) option="--with-y=$r" ;;
	2) option="CFLAGS=-O$r" ;;
	*) option="--prefix=/usr/$i" ;;
	esac
	case $option in
	--*=*) name=${option%%=*} value=${option#*=} ;;
	--enable-*) name=${option#--enable-} value=yes ;;
	*=*) name=${option%%=*} value=${option#*=} ;;
	esac
	test -n "$value" && set -- "$name" "$value" && : "${last:=$1}"
	i=$((i + 1))
done
cat_lines() { while IFS= read -r line; do echo "[$line]"; done; }
for i in 1 2 3 4 5 6 7 8 9; do
	cat_lines <<-END
	$i ${last#--} $((i << 3 | 5)) "$name" \$HOME
	END
done
fib 17
list=
for i in 5 3 8 1 9 2; do list="$list${list:+ }$i"; done
IFS=' '
set -- $list
while [ $# -gt 0 ]; do printf '%s-%03d ' "$1" "$f"; shift; done
trap 'echo end' EXIT
echo "$name $value"
