#!/bin/sh
# mariadb.sh prepare ROWS SEED | run BIN - a server that reads its SQL from standard input (--bootstrap): joins, sums,
# windows, strings, updates, InnoDB and Aria; results go to files, which are printed
here=$(dirname "$(realpath "$0")")
serve() {		# BIN
	"$1" --no-defaults --bootstrap --datadir="$PWD/data" --lc-messages-dir=/usr/share/mysql --user=root --tmpdir="$PWD" \
		--innodb-log-file-size=4M --innodb-buffer-pool-size=16M --innodb-data-file-path=ibdata1:4M:autoextend \
		--innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --aria-log-file-size=8M --innodb-flush-method=nosync --secure-file-priv= 2>mariadb.log
}
case $1 in
prepare)
	rm -rf data pristine && mkdir data && mkdir data/mysql data/w
	printf "use w;\n%s\n" "create table part(id int primary key, kind int, name varchar(40), price double, key(kind)) engine=innodb;" | serve mariadbd || { cat mariadb.log; exit 1; }
	awk -v n="$2" -v seed="$3" -f "$here/mariadb_work.awk" >work.sql
	mv data pristine ;;
run)
	rm -rf data out.* && cp -a pristine data && serve "$2" <work.sql
	echo "$?"
	grep -i error mariadb.log | sed 's/^[^[]*//'
	cat out.* ;;
esac
