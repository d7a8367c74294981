#!/bin/bash
# package.sh - a Debian package of Morph is built, installed, used, upgraded and removed; in a system of its own
#
# For fresh.sh, which runs it as root in a bare Debian without systemd, in a clone.  A line for each step,
# "ok SECONDS STEP" or "not ok SECONDS STEP"; what the steps print goes to package.out.
set -u
cd "$(dirname "$0")/../.." || exit 1
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -y -qq -o Dpkg::Use-Pty=0"
bad=0 daemon=
step() {		# NAME COMMAND...
	local name=$1 start=$SECONDS
	shift
	echo "== $name" >>package.out
	if "$@" >>package.out 2>&1; then
		echo "ok $((SECONDS - start)) $name"
	else
		echo "not ok $((SECONDS - start)) $name"
		tail -n 20 package.out | sed 's/^/# /'
		bad=1
	fi
}
version() { dpkg-parsechangelog -S Version; }
deb() { echo "../morph_$(version)_amd64.deb"; }
older_deb() { echo "../morph_$(dpkg-parsechangelog -l debian/changelog.old -S Version)_amd64.deb"; }
tools() {
	$apt install --no-install-recommends build-essential lintian debsums needrestart unattended-upgrades etckeeper mawk gawk &&
		$apt build-dep --no-install-recommends ./
}
build() { dpkg-buildpackage -us -uc -b; }
quiet_lintian() { local out; out=$(lintian --allow-root --fail-on error,warning "$(deb)" 2>&1) || { echo "$out"; return 1; }; echo "$out"; }
put_in() { $apt install "$(deb)"; }
there() {
	morphctl --version | grep -qF "$(version)" && id morph && id morph-edit && [ -d /var/lib/morph ] &&
		grep -q "automatic: true" /etc/morph.yaml && [ -n "$(find / -xdev -name morphd.service -path '*system/*')" ] &&
		dpkg --verify morph
}
begin() {
	install -d /run/morph
	morphd --foreground >>package.out 2>&1 &
	daemon=$!
	local i
	for i in $(seq 100); do morphctl status >/dev/null 2>&1 && return; sleep 0.1; done
	return 1
}
end() {
	kill "$daemon" && wait "$daemon"
	! morphctl status
}
use() {
	seq 300000 | shuf >/tmp/data
	local i
	for i in $(seq 30); do
		LC_ALL=C sort /tmp/data >/dev/null
		morphctl status --sync >/dev/null
		[ "$(morphctl list | awk '$1 ~ /\/sort$/ { print $2 + 0 }')" -gt 200 ] && return
	done
	morphctl list
	return 1
}
rewrite() { morphctl reoptimize /usr/bin/sort && is_rewritten; }
is_rewritten() { dpkg --verify coreutils | grep -q /usr/bin/sort; }
is_pristine() { ! dpkg --verify coreutils | grep /usr/bin/sort; }
shown() { morphctl verify --packages && morphctl verify --all; }
works() { [ "$(LC_ALL=C sort /tmp/data | sha256sum)" = "$(sort -s -S 1M --parallel=1 /tmp/data | LC_ALL=C sort | sha256sum)" ]; }

# What others on a Debian system make of it.
only_sort_is_changed() {
	[ "$(dpkg --verify coreutils | awk '{ print $NF }')" = /usr/bin/sort ] && [ "$(debsums -c coreutils 2>/dev/null)" = /usr/bin/sort ]
}
alternative() {		# a link to a link stays one, whatever it leads to then
	local was i
	was=$(readlink -f /usr/bin/awk)
	for i in $(seq 20); do
		awk 'BEGIN { while (i < 2e6) n += length(i++ "") }'
		morphctl status --sync >/dev/null
		morphctl reoptimize /usr/bin/awk && break
	done
	[ -L /usr/bin/awk ] && [ "$(readlink -f /usr/bin/awk)" = "$was" ] && dpkg --verify "$(dpkg -S "$was" | cut -d : -f 1)" | grep -q "$was" &&
		update-alternatives --set awk /usr/bin/mawk && [ "$(echo 2 | awk '{ print $1 + 1 }')" = 3 ] &&
		update-alternatives --auto awk && [ "$(echo 2 | awk '{ print $1 + 1 }')" = 3 ]
}
by_bin() {		# /bin leads to /usr/bin
	[ -L /bin ] && morphctl restore /bin/sort && is_pristine && morphctl reoptimize /bin/sort && is_rewritten
}
diverted() {		# the generation goes along, and is put back where it is
	dpkg-divert --local --rename --divert /usr/bin/sort.other /usr/bin/sort && [ ! -e /usr/bin/sort ] &&
		[ "$(echo 1 | sort.other)" = 1 ] && morphctl undo /usr/bin/sort.other &&
		dpkg-divert --local --rename --remove /usr/bin/sort && is_pristine
}
old_one_runs() {	# who still runs the file that was there before is not in anybody's way
	sort </dev/zero >/dev/null &
	local pid=$! rc
	morphctl reoptimize /usr/bin/sort && needrestart -b -r l >needrestart.out 2>&1
	rc=$?
	kill "$pid"
	cat needrestart.out
	[ $rc = 0 ] && ! grep -q '^NEEDRESTART-SVC' needrestart.out
}
unattended() { unattended-upgrade --dry-run && is_rewritten; }
etc_is_kept() {
	git config --global user.email root@fresh && git config --global user.name root &&
		{ [ -d /etc/.git ] || etckeeper init; } && { ! etckeeper unclean || etckeeper commit before; } &&
		morphctl auto off && etckeeper unclean && etckeeper commit after && git -C /etc show --stat HEAD | grep -q morph.yaml.d
}
reinstall() { $apt install --reinstall coreutils && morphctl look && is_pristine && [ -z "$(debsums -c coreutils 2>/dev/null)" ] && morphctl history | grep -q /usr/bin/sort; }
newer() {		# the same as another version
	local now
	now=$(version)
	sed "1s/($now)/($now.1)/" debian/changelog >debian/changelog.new && cp debian/changelog debian/changelog.old &&
		mv debian/changelog.new debian/changelog && build
}
upgrade() { put_in && is_rewritten && works && morphctl --version | grep -qF "$(version)"; }
older_is_refused() {
	! $apt install --allow-downgrades "$(older_deb)" && dpkg-query -W -f '${Status} ${Version}\n' morph | grep -q "^install ok installed .*\.1$"
}
stays_for() {		# REASON
	local out
	out=$($apt remove morph 2>&1) && { echo "it went"; return 1; }
	grep -q -- "$1" <<<"$out" && dpkg-query -W -f '${Status}\n' morph | grep -q "^install ok" && is_rewritten ||
		{ echo "$out"; return 1; }
}
runs_still() { stays_for "morphd still runs"; }
stays() {		# an original that is gone cannot be put back
	mkdir /root/aside && mv /var/lib/morph/originals/* /root/aside/ || return 1
	stays_for "not all originals could be put back"
	local rc=$?
	mv /root/aside/* /var/lib/morph/originals/
	return $rc
}
goes() { $apt remove morph && is_pristine && works && [ -d /var/lib/morph ] && [ -e /etc/morph.yaml ] && [ ! -e /usr/bin/morphctl ]; }
left_rewritten() {	# what MORPH_UNDO=no leaves is put back by the next one that is installed
	put_in && begin && use && rewrite && end && MORPH_UNDO=no $apt purge morph && is_rewritten && works &&
		[ -d /var/lib/morph/originals ] && [ ! -e /usr/bin/morphctl ] && put_in && morphctl undo --all && is_pristine &&
		$apt remove morph && [ ! -e /var/lib/morph/not-undone ]
}
older_is_refused_still() {
	! $apt install "$(older_deb)" && ! dpkg-query -W -f '${Status}\n' morph | grep -q "ok installed"
}
purge() { $apt purge morph && [ ! -e /var/lib/morph ] && [ ! -e /etc/morph.yaml ] && [ ! -e /etc/morph.yaml.d ]; }

rm -f package.out
step "tools and what it is built from" tools
step "dpkg-buildpackage" build
step "lintian: no error, no warning" quiet_lintian
step "apt-get install" put_in
step "program, users, store, policy and unit are there" there
step "the daemon begins" begin
step "sort is used" use
step "sort is laid out anew" rewrite
step "it sorts" works
step "it is shown to be the package's program" shown
step "dpkg --verify and debsums tell of sort, and of nothing else" only_sort_is_changed
step "by /bin it is the same program" by_bin
step "dpkg-divert: the generation is put back where it is then" diverted
step "needrestart: no service is to be restarted for it" old_one_runs
step "update-alternatives: links stay links" alternative
step "unattended-upgrade goes through" unattended
step "coreutils is installed again: its own sort, and the history tells" reinstall
step "sort is used again" use
step "and laid out anew" rewrite
step "etckeeper keeps what morphctl auto off writes" etc_is_kept
step "a newer package is built" newer
step "while the daemon runs the package stays" runs_still
step "the daemon ends" end
step "upgrade: what was laid out stays" upgrade
step "an older version is refused" older_is_refused
step "where an original cannot be put back the package stays" stays
step "apt-get remove: every original is back" goes
step "MORPH_UNDO=no: what is left rewritten comes back with the next one" left_rewritten
step "an older version is refused while the store is there" older_is_refused_still
step "apt-get purge: nothing is left" purge
exit $bad
