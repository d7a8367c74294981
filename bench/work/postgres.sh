#!/bin/sh
# postgres.sh prepare ROWS SEED [USE...] | run BIN - one backend alone (--single) on a database of its own: the
# transactions of pgbench, then questions as in the regression tests; see postgres_work.awk
#
# The database is made by the initdb of Debian's package, whatever BIN is.  Each run works on a copy, of
# what it may change only: the templates of new databases are links.
# postgres does not run as root: as root, it runs as nobody, who must be able to reach this folder.
here=$(dirname "$(realpath "$0")")
initdb=/usr/lib/postgresql/15/bin/initdb
as_nobody() {
	if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi
}
single() {		# BIN: SQL from standard input
	as_nobody "$1" --single -j -D data -c fsync=off -c full_page_writes=off -c log_min_messages=error \
		-c shared_buffers=32MB -c jit=off -c log_checkpoints=off -c wal_level=minimal -c max_wal_senders=0 \
		-c log_error_verbosity=terse -c log_line_prefix= postgres 2>&1
}
fresh() { rm -rf data && mkdir data && { [ "$(id -u)" != 0 ] || chown nobody:nogroup data; } && chmod 700 data; }
case $1 in
prepare)
	rm -rf pristine && fresh || exit 1
	as_nobody "$initdb" -D data -N --no-instructions --wal-segsize=1 -E UTF8 --locale=C >initdb.log 2>&1 ||
		{ cat initdb.log; exit 1; }
	awk -v n="$2" -v seed="$3" -v part=tables -f "$here/postgres_work.awk" | single /usr/lib/postgresql/15/bin/postgres >tables.log
	! grep -E 'ERROR|FATAL' tables.log || exit 1
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -v part=work -v uses="$*" -f "$here/postgres_work.awk" >work.sql
	rm -rf templates && mkdir templates || exit 1
	for t in 1 4; do mv data/base/$t templates && ln -s ../../templates/$t data/base/$t || exit 1; done
	cp -a data pristine ;;
run)
	rm -rf data && cp -a pristine data && single "$2" <work.sql ;;
esac
