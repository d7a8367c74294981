# bash_script.sh N SEED - arrays, functions, arithmetic, expansion, here-documents, patterns, traps
n=$1 seed=$2
state=$((seed * 7919 % 2147483648))
declare -A count
declare -a words
rnd() { state=$(((state * 1103515245 + 12345) & 0x7fffffff)); r=$((state >> 8)); }
make_word() {
	local i letters=abcdefghijklmnopqrstuvwxyz w=
	rnd
	for ((i = 0; i <= r % 5; i++)); do
		rnd
		w+=${letters:r % 26:1}
	done
	word=$w
}
gcd() { local a=$1 b=$2; while ((b)); do ((a %= b, a ^= b, b ^= a, a ^= b)); done; echo "$a"; }
classify() {
	case $1 in
	[aeiou]*) kind=vowel ;;
	*[0-9]*) kind=digit ;;
	???) kind=three ;;
	*) kind=other ;;
	esac
}
fib() { if (($1 < 2)); then f=$1; else local a; fib $(($1 - 1)); a=$f; fib $(($1 - 2)); ((f += a)); fi; }
bubble() {
	local i j t m=${#words[@]}
	((m > 30)) && m=30
	for ((i = 0; i < m; i++)); do
		for ((j = 0; j + 1 < m - i; j++)); do
			if [[ ${words[j]} > ${words[j + 1]} ]]; then
				t=${words[j]} words[j]=${words[j + 1]} words[j + 1]=$t
			fi
		done
	done
}
trap 'echo "trap: $?" >&2' EXIT
for ((k = 0; k < n; k++)); do
	make_word
	words+=("$word")
	classify "$word"
	((count[$kind]++)) || :
	upper=${word^^} stripped=${word#?} replaced=${word//[aeiou]/_}
	if [[ $word =~ ^([a-m]+)([n-z]*)$ ]]; then
		pair="${BASH_REMATCH[1]}/${BASH_REMATCH[2]}"
	fi
	((k % 50 == 0)) && printf '%5d %-8s %8s %s %s %x\n' "$k" "$upper" "$stripped" "$replaced" "$pair" "$state"
done
for kind in "${!count[@]}"; do echo "$kind ${count[$kind]}"; done | while read -r a b; do echo "<$a:$b>"; done
bubble
echo "${words[@]:0:30}" "${#words[@]}" "${words[-1]}"
fib 13
echo "fib $f, gcd $(gcd 1071 462)"
cat_heredoc() { while IFS= read -r line; do echo "[$line]"; done; }
cat_heredoc <<END
$((n * 3)) ${words[1]:-none} ${undefined:=set} $(echo nested "$(echo deep)")
	tab 'quote' "double" \$escaped
END
cat_heredoc <<<"here string ${#undefined}"
IFS=: read -r x y z <<<"one:two:three:four"
echo "$x|$y|$z" {a,b}{1..3} ~+ | { read -r first rest; echo "$first"; }
(set -u; : "$never_set") 2>&1 | { IFS= read -r line; echo "${line##*: }"; }
false || echo "status $?"
eval 'for i in 3 2 1; do printf "%s " "$i"; done; echo'
printf '%q %b %05d %s\n' "a b'c" 'x\ty' 42 "${BASH_VERSINFO[0]}"
no_such_command_here 2>/dev/null || echo "not found $?"
exit $((seed % 100 + 1))
