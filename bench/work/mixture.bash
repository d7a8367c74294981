# mixture.bash - sourced: `mixture KIB SEED` prints what people pack: a log, prose, C, machine code
mixture() {
	awk -v n="$(($1 * 3))" -v seed="$2" -f "$here/weblog.awk" | head -c "$(($1 * 400))"
	awk -v n="$(($1 * 6))" -v seed="$2" -f "$here/prose.awk" | head -c "$(($1 * 300))"
	tail -c +"$(($2 * 1000))" /usr/bin/perl | head -c "$(($1 * 324))"
}
