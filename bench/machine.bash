# machine.bash - sourced by bench/machine.sh: two equal Debian systems, one of them with Morph, and how to use them
#
# Each is a bare system of debootstrap with the same packages, in namespaces of its own, without a network,
# whose process 1 is its own systemd.  Everything is in $M: $M/with and $M/without; control groups
# are $CG/SIDE (the system), $CG/use-SIDE (what is run in it by hand).
RELEASE=bookworm
tools="systemd systemd-sysv dbus build-essential dpkg-dev git perl python3 gawk bc sqlite3 postgresql-15
	ghostscript imagemagick groff-base xz-utils bzip2 zstd gzip lua5.4 ruby php8.2-cli procps"
sources="zlib bzip2 libjsoncpp tinyxml2"
reinstalled="gawk dash gzip"
declare -A init

# --- making them ---

# A root that nothing has booted in, with what apt on this machine knows of ways to a mirror.
in_root() {		# ROOT COMMAND
	unshare --mount --pid --fork --kill-child --uts --ipc chroot "$1" sh -c \
		"mount -t proc proc /proc && mount -t sysfs sysfs /sys && export DEBIAN_FRONTEND=noninteractive &&
		mount -t tmpfs tmpfs /run && $2"
}

# The release as it was, its sources, and what its security updates bring, which stays to be installed later.
base_steps() {
	local mirror=$1 apt="apt-get -qq -y --no-install-recommends"
	echo "printf 'deb $mirror $RELEASE main\ndeb-src $mirror $RELEASE main\n' >/etc/apt/sources.list && apt-get update -qq &&
		$apt install $(echo $tools) && mkdir -p /sources && cd /sources && $apt source $sources &&
		echo 'deb http://deb.debian.org/debian-security $RELEASE-security main' >/etc/apt/sources.list.d/security.list &&
		apt-get update -qq && rm -f /var/cache/apt/archives/*.deb && $apt --download-only upgrade &&
		$apt --download-only --reinstall install $reinstalled"
}

make_base() {		# ROOT: made once, kept as a tar
	local root=$1 mirror=${MIRROR:-http://deb.debian.org/debian} tar
	tar=$CACHE/machine-$RELEASE-$(base_steps "$mirror" | sha256sum | cut -c 1-16).tar
	mkdir -p "$root" "$CACHE" || return 1
	if [ -s "$tar" ]; then tar -xf "$tar" -C "$root"; return; fi
	debootstrap --variant=minbase "$RELEASE" "$root" "$mirror" || return 1
	apt-config dump | grep -E '^Acquire::(https?|ftp|Retries|Check-Valid-Until|Check-Date)(::| )' \
		>"$root/etc/apt/apt.conf.d/90mirror"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	echo machine >"$root/etc/hostname"
	echo "127.0.0.1 localhost machine" >"$root/etc/hosts"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
	mkdir -p "$root/etc/postgresql-common" && echo "create_main_cluster = false" >"$root/etc/postgresql-common/createcluster.conf"
	in_root "$root" "$(base_steps "$mirror")" && tar -cf "$tar.new" -C "$root" . && mv "$tar.new" "$tar"
}

# Workloads, and a copy of the bytes that some of them pack: those of /usr/bin/perl would be others after a swap.
add_workloads() {	# ROOT
	mkdir -p "$1/use/tests/programs" "$1/use/bench" && cp -a bench/work "$1/use/bench/" &&
		cp -a tests/programs/work "$1/use/tests/programs/" && cp bench/machine_use.bash "$1/use/" &&
		cp "$1/usr/bin/perl" "$1/use/bytes" &&
		sed -i 's|/usr/bin/perl \(.*input\)|/use/bytes \1|; s|/usr/bin/perl . head|/use/bytes \| head|' \
			"$1/use/bench/work/mixture.bash" "$1/use/tests/programs/work/gzip.sh"
	# Nothing begins by itself but what is looked at.
	in_root "$1" "systemctl -q mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
		systemd-sysctl.service systemd-modules-load.service getty.target" 2>&1
}

# Built here, or given as MORPH_DEB; the default policy, and waiting times of a week in less than an hour.
make_deb() {		# prints its path
	if [ -n "${MORPH_DEB:-}" ]; then realpath "$MORPH_DEB"; return; fi
	mkdir -p "$M/deb/morph" && git archive HEAD | tar -x -C "$M/deb/morph" &&
		(cd "$M/deb/morph" && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc -b) >"$M/deb/log" 2>&1 &&
		ls "$M"/deb/morph_*_amd64.deb
}
policy() {
	[ "$RATE_HZ" = 0 ] || echo "monitor: {clock: cpu-clock, rate_hz: $RATE_HZ}"
	cat <<-END
	idle: {check_s: 5, busy_max_pct: 100, psi_cpu_max_pct: 100, psi_io_max_pct: 100, psi_memory_max_pct: 100}
	optimize: {observe_s: 5, observe_first_h: 0, cool_down_h: 1, cpu_per_day_s: $((DAYS * 600)),
	  disk_per_day_mib: $((DAYS * 2048))}
	END
}
add_morph() {		# ROOT DEB
	cp "$2" "$1/root/package.deb" && in_root "$1" "apt-get -qq -y install /root/package.deb" &&
		mkdir -p "$1/etc/morph.yaml.d" "$1/etc/systemd/system/morphd.service.d" && policy >"$1/etc/morph.yaml.d/60-bench.yaml" &&
		printf '[Unit]\nConditionVirtualization=\n[Service]\nBindReadOnlyPaths=/load:/proc/loadavg\n' \
			>"$1/etc/systemd/system/morphd.service.d/bench.conf"
}

# --- running them ---

find_groups() {
	local at
	at=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$at" ] || die "no control groups of version 2 are mounted"
	CG=$at/morph-machine.$$
	mkdir "$CG" "$CG/with" "$CG/without" "$CG/use-with" "$CG/use-without" || die "no control groups can be made below $at"
	[ -e "$CG/cpu.stat" ] || die "the kernel does not account CPU time of control groups"
}

# Process 1 before it is systemd.
boot_inside() {		# ROOT
	local d
	mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1" && hostname machine &&
		mount -t proc proc proc && mount -t sysfs sysfs sys && mount -t cgroup2 cgroup2 sys/fs/cgroup &&
		mount -t tmpfs -o mode=755 tmpfs dev && mkdir dev/pts dev/shm && mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts &&
		mount -t tmpfs -o mode=1777 tmpfs dev/shm && mount -t tmpfs -o mode=1777 tmpfs tmp &&
		mount --bind load proc/loadavg && mount --bind proc/sys proc/sys && mount -o remount,bind,ro proc/sys || return 1
	for d in null zero full random urandom tty; do
		cp -a "/dev/$d" dev/ || return 1
	done
	ln -s pts/ptmx dev/ptmx && ln -s /proc/self/fd dev/fd &&
		pivot_root . mnt && umount -l /mnt && cd / &&
		exec env -i container=machine PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
}

# The load average that a system sees: all CPUs while it is used, 0 else, whatever the machine does besides.
say_load() { echo "$1.00 $1.00 $1.00 1/100 100" | tee "$M/with/load" >"$M/without/load"; }

boot() {		# SIDE
	local outer i
	(echo $BASHPID >"$CG/$1/cgroup.procs"
	exec unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup "$0" inside "$M/$1") \
		>"$M/boot.$1" 2>&1 </dev/null &
	outer=$!
	disown
	for i in $(seq 300); do
		init[$1]=$(pgrep -P $outer)
		[ -n "${init[$1]}" ] && enter "$1" systemctl is-active -q multi-user.target 2>/dev/null && return 0
		kill -0 $outer 2>/dev/null || return 1
		sleep 0.2
	done
	return 1
}
enter() {		# SIDE COMMAND...
	local side=$1
	shift
	nsenter -t "${init[$side]}" -m -p -u -i -n -C --wdns=/ env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
ctl() { enter with timeout 900 morphctl --no-pager "$@"; }

# By hand and accounted for; on one CPU.
use() {			# SIDE CPU COMMAND...
	local side=$1 cpu=$2
	shift 2
	(echo $BASHPID >"$CG/use-$side/cgroup.procs"
	exec taskset -c "$cpu" nsenter -t "${init[$side]}" -m -p -u -i -n --wdns=/ \
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@")
}
cpu_us() { awk '/^(user|system)_usec/ { printf "%s ", $2 }' "$CG/$1/cpu.stat"; }	# user and system
morphd_group=with/system.slice/morphd.service

end_systems() {
	local g i
	[ -n "${CG:-}" ] && [ -d "$CG" ] || return 0
	for g in use-with use-without with without; do
		echo 1 >"$CG/$g/cgroup.kill"
	done 2>/dev/null
	for i in $(seq 50); do
		find "$CG" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$CG" ] || return 0
		sleep 0.1
	done
}
