#!/bin/sh
# minisat.sh prepare SIZE SEED | run BIN - random clauses of three literals, SIZE variables, near the threshold
case $1 in
prepare)
	for k in 1 2 3; do
		awk -v n="$2" -v s="$(($3 * 10 + k))" 'BEGIN {
			m = int(4.26 * n)
			print "p cnf", n, m
			for (i = 0; i < m; i++) {
				for (j = 0; j < 3; j++) {
					s = (s * 16807 + 7) % 2147483647
					printf "%d ", (int(s / 1024) % n + 1) * (int(s / 64) % 2 ? 1 : -1)
				}
				print 0
			}
		}' >"clauses$k"
	done ;;
run)
	for k in 1 2 3; do
		"$2" -verb=0 "clauses$k" model >said; echo "$?"
		cat model
	done ;;
esac
