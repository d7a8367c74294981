# tests_systemd.sh - the unit tests that systemd installs: hash maps, unit files, JSON, journals, BPF, stack protector of its own
packages="systemd-tests systemd"
files() { elves_of systemd-tests libsystemd-shared systemd libsystemd0 libudev1 2>/dev/null | grep -v -e /modules -e /bin/ ; }
run() {
	local t
	cd /usr/lib/systemd/tests/unit-tests 2>/dev/null || cd /usr/lib/systemd/tests || return
	for t in test-*; do
		[ -f "$t" ] && [ -x "$t" ] && readelf -h "$t" >/dev/null 2>&1 || continue
		case $t in *cgroup* | *-bpf* | *execute* | test-barrier | *network* | *watchdog* | *-ns | *oomd* | *loop* | *inhibit* | *sleep | *engine | *dissect* | *async* | *boot* | *umount* | *resolve* | *mount* | *dhcp* | *ndisc* | *login* | *sched* | *userdb* | *path | *udev* | *dnssec* | *ratelimit* | *time*) continue ;; esac
		timeout -k 1 15 "./$t" </dev/null >"$HOME/out" 2>&1; echo "$t $?"
	done
}
