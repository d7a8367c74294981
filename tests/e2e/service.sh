#!/bin/bash
# service.sh - installed by `make install`, run by its unit, and taken away again
#
# In mount and process namespaces of its own: folders that the installation writes to lie on private
# file systems, and a systemd of its own starts the unit with all that it asks for.  Without systemd the
# unit's command is run with its capabilities and without new privileges.  Nothing of the system changes.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/kernel.bash
B=$(cd "${B:-build}" && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
systemd=/lib/systemd/systemd
unit=/usr/local/lib/systemd/system/morphd.service

# --- inside: process 1 of the namespaces ---

private_folders() {
	mount --make-rprivate / && mount -t proc proc /proc || return 1
	cp -a /etc "$root/etc" && mount --bind "$root/etc" /etc || return 1
	local d
	for d in usr/local var/lib/morph run; do
		mkdir -p "/$d" && mount -t tmpfs -o mode=755 tmpfs "/$d" || return 1
	done
	mkdir -p "$root/tree" && cp -a Makefile etc doc "$root/tree" || return 1
	rmdir /var/lib/morph 2>/dev/null
	mkdir -p /run/lock
}

# Of the units of this machine none is started but ours, and the one of systemd's own that it wants.
private_units() {
	local t
	mkdir -p "$root/units" /run/systemd/system /etc/systemd/system/morphd.service.d
	for t in sysinit basic shutdown multi-user; do
		printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' "$t" >"$root/units/$t.target"
	done
	cp /lib/systemd/system/sys-kernel-tracing.mount "$root/units" || return 1
	mount --bind "$root/units" /lib/systemd/system || return 1
	find /etc/systemd/system -mindepth 1 -delete
	mkdir -p /etc/systemd/system/morphd.service.d
	printf '[Unit]\nConditionVirtualization=\n[Service]\nStandardError=append:%s/log\n' "$root" \
		>/etc/systemd/system/morphd.service.d/test.conf
	mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
}

# What the unit wants of systemd, where there is none.
private_tracefs() {
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
}

if [ "${1:-}" = inside ]; then
	root=$2
	private_folders || exit 1
	[ "$3" = systemd ] && private_units || { private_tracefs; exec sleep infinity; }
	exec env -i container=test PATH="$PATH" $systemd --system --unit=basic.target \
		--log-target=console --log-level=notice
fi

# --- outside ---

[ "$(id -u)" = 0 ] || skip_all "needs root for namespaces, sampling and replacing programs"
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-service.XXXXXX") || exit 1
chmod 755 "$root"
how=${SERVICE:-systemd}		# or: hand
[ -x $systemd ] || how=hand
first=
cleanup() {
	[ -n "$first" ] && kill -9 "$first" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$root"
}
trap cleanup EXIT

start_inside() {
	unshare --mount --pid --fork --kill-child --cgroup --uts --ipc \
		"$0" inside "$root" "$how" >"$root/first.log" 2>&1 &
	local outer=$! i
	for i in $(seq 200); do
		first=$(pgrep -P $outer) && [ -e "/proc/$first/root/run/lock" ] && ready && return 0
		kill -0 $outer 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}
inside() { nsenter -t "$first" -m -p -C -u -i --wd=/ "$@"; }
ready() {
	[ "$how" = hand ] && { inside mountpoint -q /usr/local; return; }
	inside systemctl is-active -q basic.target 2>/dev/null
}
inside_make() { inside make -s -C "$root/tree" -o all B="$B" PREFIX=/usr/local SYSCONFDIR=/etc "$@"; }
start_inside || {
	note "$(tail -n 5 "$root/first.log")"
	skip_all "namespaces with a systemd of their own cannot be made here"
}
note "by $how"

check "make install" inside_make install
before=$(inside sha256sum /usr/local/sbin/morphd)
check "users of its own" inside systemd-sysusers /usr/local/lib/sysusers.d/morph.conf
check "its folders" inside systemd-tmpfiles --create /usr/local/lib/tmpfiles.d/morph.conf
check "the policy is good" inside /usr/local/bin/morphctl policy check
if command -v systemd-analyze >/dev/null; then
	exposure=$(inside systemd-analyze security --offline=yes --no-pager $unit 2>/dev/null |
		sed -n 's/.*exposure level for morphd.service: \([0-9.]*\).*/\1/p')
	note "exposure by systemd-analyze: $exposure"
	check "the unit is closed as far as it can be" awk -v e="${exposure:-10}" 'BEGIN { exit !(e <= 3) }'
fi

# A program of this installation, which the policy includes; by two names, as Debian's perl is.
cp "$(readlink -f /usr/bin/sort)" "$root/original"
inside cp "$root/original" /usr/local/bin/sort
inside ln /usr/local/bin/sort /usr/local/bin/sort-too
two_names() { inside test /usr/local/bin/sort -ef /usr/local/bin/sort-too; }
seq 200000 | shuf >"$root/data"
sum=$(LC_ALL=C "$root/original" "$root/data" | sha256sum)
work() { [ "$(inside env LC_ALL=C /usr/local/bin/sort "$root/data" | sha256sum)" = "$sum" ]; }
sed -i 's/^  automatic: .*/  automatic: false/; s/^  min_samples: .*/  min_samples: 20/
	s|^    - /usr/bin/\*|    - /usr/local/bin/*|' "$root/etc/morph.yaml"
ctl() { inside timeout 300 /usr/local/bin/morphctl "$@"; }

by_hand() {
	local caps
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$root/unit" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
	inside mkdir -p /run/morph
	inside setpriv --no-new-privs --bounding-set="-all,$caps" --inh-caps=-all \
		$(sed -n 's/^ExecStart=//p' "$root/unit") >>"$root/log" 2>&1 &
}
start_unit() {
	inside cat $unit >"$root/unit"
	if [ "$how" = systemd ]; then
		inside systemctl daemon-reload && inside systemctl start morphd || return 1
	else
		by_hand
	fi
	local i
	for i in $(seq 200); do
		ctl status >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	return 1
}
role() {		# parent | manager | monitor: its pid in there
	ctl --json status 2>/dev/null | sed -n "s/.*\"role\": \"$1\", \"pid\": \([0-9]*\),.*/\1/p"
}
status_of() { inside cat "/proc/$(role "$1")/status"; }
has() { status_of "$1" | grep -q "^$2"; }

check_start() {
	if start_unit; then ok "$1"; else
		not_ok "$1"
		note "$(tail -n 20 "$root/log" "$root/first.log" 2>/dev/null)"
		done_testing
		exit 1
	fi
}
cat >>"$root/etc/morph.yaml" <<-END
	- {name: of a package, packages: [gzi?], users: [root], min_gain_ppm: 77}
END
sed -i 's/^rules: \[\]/rules:/' "$root/etc/morph.yaml"
check "a policy with a rule is good" inside /usr/local/bin/morphctl policy check
check_start "the unit starts, and answers"
check "all parts run" [ -n "$(role manager)" ]
says() { local i; for i in $(seq 100); do ctl status | grep -q "$1" && return 0; sleep 0.1; done; return 1; }
check "sampling is on" says '^sampling *on'
if kernel_tells_signals; then
	check "crashes are told" says '^crash watch *on'
else
	skip "crashes are told" "this kernel has no tracepoint of signals"
fi
check "the parent has no more than its capabilities" has parent 'CapEff:[[:space:]]*000001c4008800eb$'
check "the manager has none" has manager 'CapEff:[[:space:]]*0000000000000000$'
check "no new privileges" has parent 'NoNewPrivs:[[:space:]]*1'
if [ "$how" = systemd ]; then
	check "system calls are filtered" has parent 'Seccomp:[[:space:]]*2'
	check "what it is not to write it cannot" \
		grep -q ' ro[, ]' <<<"$(inside cat "/proc/$(role parent)/mountinfo" | awk '$5 == "/"')"
fi

# Jobs get little CPU time beside other tests; here they need not wait for it.
inside bash -c 'while sleep 0.2; do for p in $(pgrep -x "morph-edit|morph-verify"); do renice -n 0 -p $p; done; done' \
	>/dev/null 2>&1 &
samples() { ctl --json list | sed -n 's|.*"/usr/local/bin/sort".*"samples": \([0-9]*\).*|\1|p'; }
runs() {		# until it has samples enough, however fast it runs here
	local i n
	for i in $(seq 200); do
		work || return 1
		ctl status --sync >/dev/null 2>&1
		n=$(samples)
		[ "${n:-0}" -lt 100 ] || return 0
	done
	echo "$n samples"
	return 1
}
check "the program runs" runs
check "a program is reoptimized" ctl reoptimize /usr/local/bin/sort
same() { inside cmp -s /usr/local/bin/sort "$root/original"; }
check "it is not its original any more" not same
check "it has both names" two_names
check "it is proven" ctl verify /usr/local/bin/sort
check "and does the same" work
check "the policy is read anew" ctl policy reload
if inside test -e /var/lib/dpkg/info/gzip.list; then
	check "packages and owners are known to the daemon" grep -q "gzip .*of a package" \
		<<<"$(ctl policy show /usr/bin/gzip)"
else
	skip "packages and owners are known to the daemon" "no gzip of dpkg's"
fi
if [ "$how" = systemd ]; then
	check "it is ready, and says how it is" grep -q "^Samples by " <<<"$(inside systemctl show -p StatusText --value morphd)"
	check "systemctl says so, too" grep -q 'Status: "Samples by ' <<<"$(inside systemctl status --no-pager morphd)"
	check "systemctl reload" inside systemctl reload morphd
	echo "  min_sampels: 5" >>"$root/etc/morph.yaml"
	check "systemctl reload fails with a wrong policy" not inside systemctl reload morphd
	check "and the one before is in force" grep -q "min_samples *20" <<<"$(ctl policy show)"
	check "the daemon goes on" inside systemctl is-active -q morphd
	sed -i '/min_sampels/d' "$root/etc/morph.yaml"
	check "mended, it is read" inside systemctl reload morphd
	check "systemctl restart" inside systemctl restart morphd
	for i in $(seq 300); do ctl status >/dev/null 2>&1 && break; sleep 0.1; done
	check "the generation is known" grep -q optimized <<<"$(ctl list)"
fi
check "restore" ctl restore --all
check "the original is back" same
if [ "$how" = systemd ]; then
	check "the unit stops" inside systemctl stop morphd
	check "without failure" [ "$(inside systemctl show -p Result --value morphd)" = success ]
else
	check "it ends" inside kill "$(role parent)"
	wait_end() { local i; for i in $(seq 100); do inside pgrep -x morphd >/dev/null || return 0; sleep 0.1; done; return 1; }
	check "all of it" wait_end
fi
check "no process of it is left" [ -z "$(inside pgrep -f /usr/local/sbin/morphd)" ]
check "nothing else was changed" [ "$before" = "$(inside sha256sum /usr/local/sbin/morphd)" ]

# The journal: one of its own, whose process takes what units say.
journal() { inside journalctl -q --no-pager -D /run/log/journal "$@" 2>/dev/null; }
journal_has() { local i; for i in $(seq 50); do journal "${@:2}" | grep -q "$1" && return 0; sleep 0.1; done; journal -n 20; return 1; }
check_journal() {
	inside sed -i '/^StandardError/d' /etc/systemd/system/morphd.service.d/test.conf
	check_start "it starts again, with the journal"
	check "the journal has its lines, by role" journal_has 'as user .* ask the parent' MORPH_ROLE=manager
	check "the program runs" runs
	check "and is laid out anew" ctl reoptimize /usr/local/bin/sort
	check "a swap has its message id, module and generation" journal_has "installed: generation [0-9]" \
		MESSAGE_ID=6da8d76ce015e3522300d651d2556feb MORPH_MODULE=/usr/local/bin/sort MORPH_EVENT=installed
	check "and the generation" [ -n "$(journal -o export MORPH_EVENT=installed | grep -a '^MORPH_GENERATION=[0-9]')" ]
	check "root's part tells of it, too" journal_has "swapped '/usr/local/bin/sort'" MORPH_ROLE=parent
	check "restore" ctl restore /usr/local/bin/sort
	check "a restore, too" journal_has "restored: original in the place of" MESSAGE_ID=7610ad44ce7a48c7653d30ee463fa3ec
	ctl reoptimize /usr/bin/env 2>/dev/null
	ctl reoptimize /usr/bin/env 2>/dev/null
	check "so has a refusal" journal_has "/usr/bin/env: refused" MESSAGE_ID=9a565a8814a8be4c7db88616658af556
	check "which is said once" [ "$(journal MORPH_EVENT=refused MORPH_ROLE=manager | grep -c '/usr/bin/env')" = 1 ]
	check "nothing of that is an error" [ -z "$(journal -p err MORPH_ROLE=manager)" ]
	echo "  min_sampels: 5" >>"$root/etc/morph.yaml"
	inside kill -HUP "$(role parent)"
	check "a wrong policy is" journal_has "the old policy stays: .*morph.yaml" -p err
	sed -i '/min_sampels/d' "$root/etc/morph.yaml"
	check "the unit stops" inside systemctl stop morphd
}
if [ "$how" = systemd ] && [ -x /lib/systemd/systemd-journald ]; then
	inside mkdir -p /run/log/journal /run/systemd/journal
	inside /lib/systemd/systemd-journald >"$root/journald.log" 2>&1 &
	for i in $(seq 50); do inside test -S /run/systemd/journal/socket && break; sleep 0.1; done
	if inside test -S /run/systemd/journal/socket; then check_journal; else
		skip "the journal" "none can be started: $(tail -n 1 "$root/journald.log")"
	fi
	inside mv /var/lib/morph/policy.good /var/lib/morph/policy.away
	echo "  min_sampels: 5" >>"$root/etc/morph.yaml"
	check "a daemon that cannot start fails its unit" not inside systemctl start morphd
	check "for that reason" [ "$(inside systemctl show -p Result --value morphd)" = exit-code ]
	inside systemctl stop morphd
	sed -i '/min_sampels/d' "$root/etc/morph.yaml"
else
	skip "the journal" "no systemd"
fi

# make uninstall, while the daemon runs and a generation is in place.
check_start "it starts again"
check "the program runs" runs
check "and is laid out anew" ctl reoptimize /usr/local/bin/sort
check "it is not its original" not same
hex=$(sha256sum <"$root/original" | cut -d' ' -f1)
inside mv "/var/lib/morph/originals/$hex" /var/lib/morph/away
if [ "$how" = hand ]; then
	out=$(inside_make uninstall 2>&1)
	check "make uninstall does not take a running daemon away ($?)" grep -q "morphd still runs" <<<"$out"
	inside kill "$(role parent)"
	check "it ends" wait_end
fi
out=$(inside_make uninstall 2>&1)
check "make uninstall refuses where an original cannot come back ($?)" grep -q "nothing was removed" <<<"$out"
check "and says which, and why" grep -q "'/usr/local/bin/sort': .*$hex" <<<"$out"
check "everything is still there" inside test -x /usr/local/sbin/morphd -a -e $unit -a -x /usr/local/bin/morphctl
check "the daemon is stopped" [ -z "$(inside pgrep -f /usr/local/sbin/morphd)" ]
inside mv /var/lib/morph/away "/var/lib/morph/originals/$hex"
out=$(inside_make uninstall 2>&1)
check "make uninstall puts originals back ($?)" same
check "as one file with both names" two_names
note "$out"
inside rm /usr/local/bin/sort /usr/local/bin/sort-too
left=$(inside find /usr/local ! -type d)
[ -z "$left" ] && ok "leaves nothing" || { not_ok "leaves nothing"; note "$left"; }
left=$(inside find /usr/local -mindepth 1 -type d -name '*morph*')
[ -z "$left" ] && ok "nor folders of its own" || { not_ok "nor folders of its own"; note "$left"; }
done_testing
