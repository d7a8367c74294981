#!/bin/sh
# libc.sh prepare LINES SEED | run BIN - libc.so.6 under the small programs that scripts start (BIN is the shell)
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/prose.awk" >text
	rm -rf tree && mkdir -p tree && for k in $(seq 40); do mkdir -p tree/d$k && for i in 1 2 3 4 5 6; do sed -n "$((k * i)),+9p" text >tree/d$k/f$i.txt; done; done
	find tree | sort -r | xargs touch -d 2023-01-01
	cat >script.sh <<-'END'
	sort text | uniq -c | sort -rn | head -n 5
	tr ' ' '\n' <text | LC_ALL=C.UTF-8 sort | uniq -c | sort -k1,1rn -k2 | head
	cut -d ' ' -f 2,4 text | tr a-z A-Z | fold -w 50 | cksum
	find tree -name '*.txt' -size +0 -newermt 2020-01-01 -printf '%f %s %m %TY\n' | sort | cksum
	ls -lR --time-style=full-iso tree | grep -v total | awk '{ $3 = $4 = ""; print }' | cksum
	for k in 1 2 3 4 5 6 7 8; do
		expr "abc$k" : '\(.*\)c' >/dev/null; basename "/usr/x$k.c" .c; dirname /a/b$k; seq -s, "$k" 9; printf '%08.3f %s\n' "$k" x
		date -u -d "2023-0$k-01 12:00" +%A-%j-%V; wc tree/d$k/*; comm -12 tree/d$k/f1.txt tree/d$k/f2.txt; join tree/d$k/f1.txt tree/d$k/f1.txt | wc -l
		sed 's/a/b/2;/th/d' tree/d$k/f3.txt; paste tree/d$k/f1.txt tree/d$k/f4.txt | expand | nl; od -c tree/d$k/f5.txt | tail -n 2; diff tree/d$k/f1.txt tree/d$k/f6.txt
		tar cf - --sort=name tree/d$k | cksum; stat -c '%n %s' tree/d$k/f1.txt; numfmt --to=iec $((k * 12345))
	done
	shuf --random-source=text -n 5 text; split -l 500 text part. && cat part.* | cmp - text; tac text | rev | head -n 3; pr -2 -l 40 -h x -D 2023 text | cksum
	find tree -type f | xargs grep -c th | sort | tail -n 3; xargs -n 3 <text 2>/dev/null | head -n 4; factor 1234567890123 99999999999
	END
	;;
run) LC_ALL=C exec "$2" script.sh 2>/dev/null ;;
esac
