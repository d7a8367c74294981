# servers.bash - real servers, private ones: sourced by tests and benches on running processes, with $root
#
# NAME_there	sets $server, the program; says what is missing, and fails
# NAME_make	makes what it serves, in $root, anew
# NAME_command PROGRAM	sets $command, the server by that copy of the program, and $socket
# NAME_ready	waits until it answers

postgres_there() {
	pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	server=$pgbin/postgres
	[ -x "$server" ] && [ -x "$pgbin/initdb" ] && command -v pgbench >/dev/null || { echo "it, or pgbench, is not installed"; return 1; }
	pguser=postgres
	id "$pguser" >/dev/null 2>&1 || pguser=nobody
}
as_postgres() { runuser -u "$pguser" -- env LC_ALL=C "$@"; }
postgres_make() {
	rm -rf "$root/pg" "$root/pgbench.init"
	mkdir "$root/pg" && chown "$pguser" "$root/pg" &&
		as_postgres "$pgbin/initdb" -N -A trust -U bench "$root/pg/data" >"$root/initdb.log" 2>&1 ||
		{ tail -n 1 "$root/initdb.log"; return 1; }
}
postgres_command() {
	socket=$root/pg/.s.PGSQL.5432
	command=(runuser -u "$pguser" -- env LC_ALL=C "$1" -D "$root/pg/data" -k "$root/pg" -h '' -c fsync=off -c jit=off)
}
# With the tables of pgbench, at the first time.  Its main process is in $root/postgres.pid.
postgres_ready() {
	local i
	for i in $(seq 200); do
		if [ -S "$socket" ]; then
			if [ -e "$root/pgbench.init" ]; then
				psql -h "$root/pg" -U bench -c 'select 1' postgres >/dev/null 2>&1 && break
			elif pgbench -h "$root/pg" -U bench -i -q -s 2 postgres >"$root/pgbench.log" 2>&1; then
				mv "$root/pgbench.log" "$root/pgbench.init"
				break
			fi
		fi
		sleep 0.1
	done
	head -n 1 "$root/pg/data/postmaster.pid" >"$root/postgres.pid"
}

redis_there() {
	server=$(readlink -f "$(command -v redis-server)")
	[ -x "$server" ] && command -v redis-benchmark >/dev/null || { echo "it, or its benchmark, is not installed"; return 1; }
}
redis_make() { rm -rf "$root/redis" && mkdir "$root/redis"; }
redis_command() {
	socket=$root/redis/sock
	command=("$1" --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$root/redis" --protected-mode no)
}
redis_ready() { until_socket; }

nginx_there() {
	server=$(command -v nginx) || { echo "it is not installed"; return 1; }
}
nginx_make() {
	rm -rf "$root/www"
	mkdir "$root/www" || return 1
	perl -e 'print join("\n", map { $_ * $_ } 1 .. 3000), "\n"' >"$root/www/page"
	cat >"$root/nginx.conf" <<-END
		daemon off; pid $root/nginx.pid; error_log $root/nginx.log info; worker_processes 2; user root;
		events { worker_connections 64; }
		http { access_log off; keepalive_requests 100000000; keepalive_time 1d; gzip on; gzip_types *; gzip_min_length 1;
			server { listen unix:$root/www.sock; root $root/www; } }
	END
}
nginx_command() {
	socket=$root/www.sock
	rm -f "$socket"
	command=("$1" -c "$root/nginx.conf" -e "$root/nginx.log")
}
nginx_ready() { until_socket; }

until_socket() {
	local i
	for i in $(seq 100); do [ -S "$socket" ] && return; sleep 0.1; done
	return 1
}
