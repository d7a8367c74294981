# fleet.bash - a fleet's database for tests: a private PostgreSQL cluster of another user, on a Unix socket and
# with TLS on the loopback; sourced

pgbin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
need_postgres() {
	[ -x "$pgbin/initdb" ] || skip_all "needs PostgreSQL's server (package postgresql)"
	[ "$(id -u)" = 0 ] || skip_all "needs root to run a server as another user"
	command -v openssl >/dev/null || skip_all "needs openssl to make a certificate"
}

as_server() { setpriv --reuid postgres --regid postgres --clear-groups env -C / "$@"; }

# The cluster is $pg; its socket is in it.  Logins over the socket need no password, over TCP one and TLS.
choose_server() {	# FOLDER
	pg=$1 port=$((20000 + $$ % 20000))
}
make_server() {
	mkdir -p "$pg" && chown postgres "$pg" && chmod 755 "$pg" || return 1
	as_server "$pgbin/initdb" -D "$pg/data" -U postgres -A trust --no-sync -E UTF8 --locale=C >"$pg/log" 2>&1 || return 1
	openssl req -x509 -newkey rsa:2048 -nodes -days 3 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout "$pg/data/server.key" -out "$pg/data/server.crt" >>"$pg/log" 2>&1 || return 1
	# who is m13 has a certificate of that authority
	openssl req -x509 -newkey rsa:2048 -nodes -days 3 -subj /CN=fleet -keyout "$pg/ca.key" -out "$pg/data/ca.crt" >>"$pg/log" 2>&1 || return 1
	openssl req -newkey rsa:2048 -nodes -subj /CN=m13 -keyout "$pg/m13.key" -out "$pg/m13.csr" >>"$pg/log" 2>&1 || return 1
	openssl x509 -req -in "$pg/m13.csr" -CA "$pg/data/ca.crt" -CAkey "$pg/ca.key" -CAcreateserial -days 3 -out "$pg/m13.crt" >>"$pg/log" 2>&1 || return 1
	chown postgres "$pg/data/server.key" "$pg/data/server.crt" "$pg/data/ca.crt"
	chmod 600 "$pg/data/server.key"
	cp "$pg/data/server.crt" "$pg/root.crt"
	chmod 644 "$pg/root.crt"
	cat >"$pg/data/pg_hba.conf" <<-END
		local all all trust
		hostnossl all m14 127.0.0.1/32 trust
		hostssl all m13 127.0.0.1/32 cert
		hostssl all m13 ::1/128 cert
		hostssl all all 127.0.0.1/32 scram-sha-256
		hostssl all all ::1/128 scram-sha-256
	END
	cat >>"$pg/data/postgresql.conf" <<-END
		unix_socket_directories = '$pg'
		listen_addresses = 'localhost'
		port = $port
		ssl = on
		ssl_ca_file = 'ca.crt'
		fsync = off
		shared_buffers = 16MB
		max_connections = 40
	END
}
start_server() { as_server "$pgbin/pg_ctl" -D "$pg/data" -l "$pg/data/log" -w start >>"$pg/log" 2>&1; }
stop_server() { as_server "$pgbin/pg_ctl" -D "$pg/data" -m immediate -w stop >>"$pg/log" 2>&1; }
sql() {			# LOGIN SQL...
	local c=() s
	for s in "${@:2}"; do c+=(-c "$s"); done
	as_server PGOPTIONS="-c client_min_messages=warning" psql -XqAt -v ON_ERROR_STOP=1 -h "$pg" -p "$port" -U "$1" -d fleet "${c[@]}"
}
conninfo() { echo "host=$pg port=$port dbname=fleet user=$1"; }
# A database `fleet` and so many contributors, m1, m2, ...
make_fleet() {		# CONTRIBUTORS
	local i
	as_server psql -Xq -h "$pg" -p "$port" -U postgres -d postgres -c "CREATE DATABASE fleet" || return 1
	"$B/morphctl" share init "$(conninfo postgres)" || return 1
	for i in $(seq "$1"); do
		sql postgres "CREATE ROLE m$i LOGIN PASSWORD 'secret$i' IN ROLE morph_contributor" || return 1
	done
	sql postgres "UPDATE morph.setting SET value = 0 WHERE name = 'merge_after_s'" "UPDATE morph.setting SET value = 26 WHERE name = 'late_epochs'"
}

# --- what tests begin and ask with ---

# CONTRIBUTORS [COMMAND]: $root, a server there and its fleet; at the end of the script all goes, behind COMMAND.
begin_fleet() {
	B=$(cd "${B:-build}" && pwd) || exit 1
	need_postgres
	for p in morph-share morphctl tests/e2e/fleet; do [ -x "$B/$p" ] || { echo "$B/$p is missing"; exit 1; }; done
	root=$(mktemp -d "${TMPDIR:-/tmp}/morph-e2e.XXXXXX") || exit 1
	trap "${2:-:}; "'stop_server; rm -rf "$root"' EXIT
	chmod 755 "$root"
	choose_server "$root/pg"
	check "a server" make_server
	check "starts" start_server
	check "a fleet of $1" make_fleet "$1"
}
# All that was given, whoever changed what since: as who owns the database can.
merge_anew() { sql postgres "UPDATE morph.merged SET seen = NULL" "SELECT morph.merge(100)" >/dev/null; }

client() {		# LOGIN MACHINE ARGUMENT...
	"$B/tests/e2e/fleet" "$B/morph-share" "$(conninfo "$1")" "${class:-}" "${@:2}"
}
says() {		# TEXT COMMAND...: a part of what it prints, whatever its exit code
	local out
	out=$("${@:2}" 2>&1)
	grep -qF -- "$1" <<<"$out" || { echo "$out"; return 1; }
}
is() {			# TEXT COMMAND...: all of it
	local out
	out=$("${@:2}" 2>&1)
	[ "$out" = "$1" ] || { echo "$out, not $1"; return 1; }
}
hold() {		# SQL in a transaction of m14's that stays open
	coproc HELD { as_server psql -XqAt -h "$pg" -p "$port" -U m14 -d fleet 2>&1; }
	held_in=${HELD[1]} held_out=${HELD[0]} held=$HELD_PID
	printf "BEGIN; %s; SELECT 'it is held';\n" "$1" >&"$held_in"
	local line
	while read -r -t 20 -u "$held_out" line; do [ "$line" = "it is held" ] && return 0; done
	return 1
}
let_go() {		# COMMIT or ROLLBACK
	printf '%s;\n\\q\n' "$1" >&"$held_in"
	wait "$held"
}
