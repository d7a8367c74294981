#!/bin/bash
# bash_uses_script.sh SIZE SEED USE... - text: a log read line by line, matched and counted; numbers: primes,
# greatest divisors, powers; lists: arrays sorted, sets, a stack, functions that call each other
size=$1 state=$(($2 * 7919 + 1))
rnd() { state=$((state * 16807 % 2147483647)); r=$((state % $1)); }

text() {
	local line host rest url n total=0 k=0
	local -A hosts terms
	local re='"([A-Z]+) ([^ ?]*)\??([^ ]*) [^"]*" ([0-9]+) ([0-9]+)'
	while IFS= read -r line; do
		host=${line%% *}
		((hosts[$host]++)) || :
		[[ $line =~ $re ]] || continue
		url=${BASH_REMATCH[2]} n=${BASH_REMATCH[5]}
		((total += n))
		case ${BASH_REMATCH[4]} in
		404) rest=${url##*/} ;;
		[45]*) rest=${url//[aeiou]/_} ;;
		*) rest=${url^^} rest=${rest#/} ;;
		esac
		terms[${rest%.*}]=1
		((++k % 200 == 0)) && printf '%6d %-30s %x %q\n' "$k" "${rest:0:28}" "$total" "${BASH_REMATCH[3]}"
	done <log
	echo "${#hosts[@]} ${#terms[@]} $total"
}

numbers() {
	local i j count=0 a b t sum=0
	local -a no
	for ((i = 2; i < size * 4; i++)); do
		((no[i])) && continue
		((count++))
		for ((j = i * i; j < size * 4; j += i)); do no[j]=1; done
	done
	for ((i = 0; i < size; i++)); do
		rnd 10000; a=$((r + 1)); rnd 9000; b=$r
		while ((b)); do t=$((a % b)) a=$b b=$t; done
		((sum += a, sum ^= i << 3, sum &= 0xffffff))
	done
	echo "$count $sum $((2 ** 40 / 7 % 1000)) $((16#ff + 8#17))"
}

push() { stack+=("$1"); }
pop() { r=${stack[-1]}; unset 'stack[-1]'; }
visit() { (($1 <= 0)) && return; push "$1"; visit $(($1 - 1)); visit $(($1 - 2)); pop; ((visits++)); }

lists() {
	local i j t visits=0 k=$((size / 50))
	local -a list stack
	local -A set
	for ((i = 0; i < k; i++)); do rnd 1000; list+=("k$r"); done
	for ((i = 1; i < k && i < 120; i++)); do
		t=${list[i]}
		for ((j = i; j > 0; j--)); do
			[[ ${list[j - 1]} > $t ]] || break
			list[j]=${list[j - 1]}
		done
		list[j]=$t
	done
	for t in "${list[@]}" "${list[@]/k/m}"; do set[$t]+=x; done
	visit 13
	for ((i = 0; i < size / 4; i++)); do
		t="${list[*]:i % k:3}"
		set[${t// /}]=${#t}
		eval "f$((i % 9))() { echo \"\$1 $i\"; }"
		printf -v t '%s-%04d' "${t%k*}" "$i"
		IFS=- read -r a b <<<"$t"
	done
	echo "${#set[@]} $visits ${list[*]:0:9} $a $b $(f3 x)"
}

for use in "${@:3}"; do $use; done
