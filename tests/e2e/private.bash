# private.bash - a private root for a daemon: sourced by the end-to-end tests
#
# Everything is in $root: copies of programs in $root/bin, store, socket, policy, log.  Nothing of
# the system is touched, but the daemon samples the whole machine.

. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
ctl() { timeout 120 "$B/morphctl" --socket "$root/sock" "$@"; }

# Like check, but in this shell: for what starts and ends the daemon.
check_here() {		# NAME COMMAND...
	local name=$1
	shift
	if "$@" >"$root/here" 2>&1; then
		ok "$name"
	else
		not_ok "$name"
		note "$*"
		note "$(cat "$root/here")"
	fi
}

need_root() {
	[ "$(id -u)" = 0 ] || skip_all "needs root to sample and to replace programs"
	local p
	for p in morphd morphctl morph-edit; do
		[ -x "$B/$p" ] || { echo "$B/$p is missing"; exit 1; }
	done
}

# The beginning of a policy: copies in $root/bin may be rewritten, and the machine is idle whatever it does.
always_idle() {		# [CHECK_S [LOAD_MAX_PCT]]
	cat <<-END
		modules:
		  include: ["$root/bin/*"]
		  hard_links: true
		idle:
		  check_s: ${1:-1}
		  load_max_pct: ${2:-10000}
		  busy_max_pct: 100
		  psi_cpu_max_pct: 100
		  psi_io_max_pct: 100
		  psi_memory_max_pct: 100
		  users_away: false
		  on_battery: true
		  heat_max_pct: 100
	END
}

# COMMAND...: as the database's owner.  Root may not open it to write, as shells and sqlite3 do, where
# fs.protected_regular is 2, Debian's value with systemd: the store's folder is sticky and another group's.
as_manager() {
	local who
	who=$(stat -c '--reuid=%u --regid=%g' "$root/store/morph.db") && setpriv $who --clear-groups "$@"
}

make_root() {		# PROGRAM...: $root with copies of them
	root=$(mktemp -d "${TMPDIR:-/tmp}/morph-e2e.XXXXXX") || exit 1
	trap cleanup EXIT
	chmod 755 "$root"
	mkdir "$root/bin" "$root/orig"
	local p
	for p in "$@"; do
		cp "$(readlink -f "/usr/bin/$p")" "$root/bin/$p" || exit 1
		cp "$root/bin/$p" "$root/orig/$p"
	done
	cat >"$root/morph.yaml" <<-END
		modules:
		  include: ["$root/bin/*"]
		  hard_links: true	# a perf record running beside us links what it sees
		idle:
		  check_s: 3600
		optimize:
		  min_samples: 20
	END
}

cleanup() {
	[ -n "${daemon:-}" ] && kill -9 "$daemon" 2>/dev/null
	[ -n "${looper:-}" ] && kill "$looper" 2>/dev/null
	wait 2>/dev/null
	local d
	for d in store bin; do
		mountpoint -q "$root/$d" && umount "$root/$d"
	done
	rm -rf "$root"
}

within() {		# SECONDS COMMAND...: until the command succeeds
	local end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# Starts the daemon and waits until it answers, and samples: what runs before that is in nobody's count.
# Through the command in `under`, if there is one, that becomes it.
start_daemon() {	# [OPTION...]
	"${under[@]}" "$B/morphd" --policy "$root/morph.yaml" --store "$root/store" --socket "$root/sock" \
		--folders "$root" --user nobody --job-user daemon --morph-edit "$B/morph-edit" --foreground "$@" \
		>>"$root/log" 2>&1 &
	daemon=$!
	within 30 eval 'ctl status >/dev/null 2>&1 || ! kill -0 "$daemon" 2>/dev/null'
	if ctl status >/dev/null 2>&1; then
		within 30 eval '[ -n "$(role_pid monitor)" ]'	# else it cannot sample here
		ctl status --sync >/dev/null 2>&1		# answered when it samples
		return 0
	fi
	note "the daemon does not answer:"
	note "$(tail -n 20 "$root/log")"
	return 1
}

# Takes in what was sampled until now; on a busy machine the monitor may be too late to answer for itself.
taken_in() {
	local i
	for i in 1 2 3 4 5; do
		ctl status --sync >"$root/synced" 2>&1 &&
			! grep -q "newest samples are missing" "$root/synced" && return 0
	done
	cat "$root/synced"
	return 1
}

stop_daemon() {		# its exit code
	kill "$daemon"
	wait "$daemon"
	local rc=$?
	daemon=
	return $rc
}

role_pid() {		# parent | manager | monitor
	ctl --json status 2>/dev/null | sed -n "s/.*\"role\": \"$1\", \"pid\": \([0-9]*\),.*/\1/p"
}

# Does the daemon run `morph-edit COMMAND`?  Leaves its pid in $job.  Builtins only: a job may take 20 ms.
finds_job() {		# optimize, ... of morph-edit; or verify: morph-verify
	local kids kid name command
	read -r kids 2>/dev/null <"/proc/$daemon/task/$daemon/children"
	for kid in $kids; do
		name=
		{ IFS= read -r -d '' name && IFS= read -r -d '' command; } 2>/dev/null <"/proc/$kid/cmdline"
		[ "$name $command" = "morph-edit $1" ] || [ "$name" = "morph-$1" ] || continue
		job=$kid
		return 0
	done
	return 1
}

# A job that nobody waits for gets CPU time that is left over, and other tests may leave none.
hasten() {
	local pid=$(role_pid job)
	[ -z "$pid" ] || { chrt --other --pid 0 "$pid" && renice -n 0 -p "$pid"; } >/dev/null 2>&1
}

# Runs COMMAND until so many samples of the program are counted, however fast it runs here.
sampled() {		# PROGRAM SAMPLES COMMAND...
	local i n
	for i in $(seq 100); do
		"${@:3}" >/dev/null || return 1
		taken_in || return 1
		n=$(listed "$1" samples)
		[ "${n%.*}" -ge "$2" ] 2>/dev/null && return 0
	done
	echo "${n:-no} samples of $1"
	return 1
}

sha() { sha256sum "$1" | cut -d' ' -f1; }
same_file() { [ "$(sha "$1")" = "$(sha "$2")" ]; }

# Is what lies at bin/PROGRAM the original, or a generation proven of it?  Looked at through one
# descriptor, since a swap may come at any moment.
whole() {		# PROGRAM
	local rc=0 fd
	exec {fd}<"$root/bin/$1" || return 1
	same_file "/proc/self/fd/$fd" "$root/orig/$1" ||
		"$B/morph-verify" "$root/orig/$1" "/proc/self/fd/$fd" || rc=1
	exec {fd}<&-
	return $rc
}

# A number of module bin/$1 in `list`: samples, generation, ...
listed() {		# PROGRAM COLUMN
	ctl --json list 2>/dev/null | grep -F "\"$root/bin/$1\"" |
		sed -n "s/.*\"$2\": \([0-9.]*\).*/\1/p"
}
