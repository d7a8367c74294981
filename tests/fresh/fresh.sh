#!/bin/bash
# fresh.sh [SYSTEM...] - README's commands on machines that have nothing: a bare Debian, made by debootstrap
#
# A system is bookworm or trixie: minbase and `make`, in which root, without sudo, runs `make demo` and
# `make check` in a clone of what is committed here.  bookworm+foreign or trixie+foreign: the same with
# the packages of tests/fresh/foreign, and `make check` alone.  bookworm+package or trixie+package: a
# package of Morph is built, installed, used and removed there (tests/fresh/package.sh).  Each is entered with its own mount, pid,
# ipc and uts namespace, its own /proc and its own /sys; tracefs is not mounted there.
#
# The report, bench/results/fresh.md, has the last run of each system.  Needs root and debootstrap;
# the network as apt on this machine has it.
#
#	MIRROR		default what apt uses here, or deb.debian.org
#	FRESH_WORK	where systems and their logs lie, default /var/tmp/morph-fresh: 3 GB each, foreign 15
#	FRESH_CACHE	where debootstrap's packages are kept, default BENCH_CACHE
#	KEEP=1		leaves the systems there
set -u
cd "$(dirname "$0")/../.." || exit 1

# --- inside: process 1 of the namespaces ---

if [ "${1:-}" = inside ]; then
	root=$2
	hostname fresh
	mount --bind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount -t sysfs sysfs sys &&
		mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts &&
		mount -t tmpfs -o mode=1777 tmpfs dev/shm && pivot_root . mnt && umount -l /mnt || exit 125
	[ ! -e /sys/kernel/tracing/events ] || { echo "tracefs is mounted" >&2; exit 125; }
	exec env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		sh -c "$3; exit \$?"
fi

# --- outside ---

. bench/common.bash
die() { echo "fresh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "needs root"
command -v debootstrap >/dev/null || die "needs debootstrap"
FRESH_WORK=${FRESH_WORK:-/var/tmp/morph-fresh}
FRESH_CACHE=${FRESH_CACHE:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}}
mkdir -p "$FRESH_WORK" "$FRESH_CACHE" || exit 1
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/*$')}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
order="bookworm trixie bookworm+foreign trixie+foreign bookworm+package trixie+package"
[ $# -gt 0 ] || set -- bookworm trixie
for s in "$@"; do
	[[ " $order " == *" $s "* ]] || die "no system '$s': $order"
done
root= home=/root
trap '[ "${KEEP:-}" = 1 ] || [ -z "$root" ] || rm -rf --one-file-system "$root"; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM

inside() {		# COMMAND
	unshare --mount --pid --fork --kill-child --uts --ipc "$0" inside "$root" "$1"
}

# What apt is told here about ways to a mirror, and nothing else of this machine.
make_system() {		# RELEASE
	local tar=$FRESH_CACHE/debootstrap-$1.tar
	rm -rf --one-file-system "$root" && mkdir -p "$root" || return 1
	if [ ! -s "$tar" ]; then
		debootstrap --variant=minbase --make-tarball="$tar.new" "$1" "$T/packages" "$MIRROR" &&
			mv "$tar.new" "$tar" || return 1
	fi
	debootstrap --variant=minbase --unpack-tarball="$tar" "$1" "$root" "$MIRROR" || return 1
	apt-config dump | grep -E '^Acquire::(https?|ftp|Retries|Check-Valid-Until|Check-Date)(::| )' \
		>"$root/etc/apt/apt.conf.d/90mirror"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	echo fresh >"$root/etc/hostname"
	echo "127.0.0.1 localhost fresh" >"$root/etc/hosts"
	git clone --quiet --no-hardlinks . "$root$home/morph" && git describe --always >"$at/version" || return 1
	inside "apt-get update -qq && apt-get install -y -qq --no-install-recommends make"
}

packages_of() { inside "dpkg-query -W -f '\${Package}\n'" | sort; }

# Runs `make TARGET` once; leaves its log, and a line: target, exit code, seconds, last line.
make_target() {		# TARGET
	local start=$SECONDS rc
	echo "== $system: make $1"
	inside "cd && cd morph && make $1" >"$at/$1.log" 2>&1 </dev/null
	rc=$?
	printf '%s\t%s\t%s\t%s\n' "$1" $rc $((SECONDS - start)) "$(grep -v '^make:' "$at/$1.log" | grep . | tail -n 1)" |
		tee -a "$at/lines"
}

try_package() {
	echo "== $system: the package"
	inside "cd && cd morph && tests/fresh/package.sh" >"$at/package.log" 2>&1 </dev/null
	printf 'package\t%s\t-\t%s\n' $? "$(grep -c '^ok' "$at/package.log") steps" | tee -a "$at/lines"
}

install_foreign() {
	# Their services are not to be started.
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
	grep -v '^#' tests/fresh/foreign >"$at/wanted"
	inside "apt-cache pkgnames" | sort >"$at/known"
	tr ' ' '\n' <"$at/wanted" | grep . | sort -u | comm -12 - "$at/known" >"$at/foreign"
	inside "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(
		tr '\n' ' ' <"$at/foreign")" >"$at/install.log" 2>&1 ||
		{ tail -n 20 "$at/install.log"; return 1; }
}

# The part of a log that tests/run.sh prints after `skipped:` or `failed:`, without output.
part_of_log() {		# WORD LOG
	awk -v word="$1:" '$0 == word { on = 1; next } on && !/^  [^ ]/ || /^  output, last/ { on = 0 } on' "$2"
}

section() {
	local target rc s last word
	echo "## $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$root/etc/os-release"), $system"
	echo
	echo "* date: $(date -u +%Y-%m-%d), version $(cat "$at/version")"
	echo "* packages: $(wc -l <"$at/before") in the beginning, $(wc -l <"$at/after") in the end"
	[ -e "$at/foreign" ] && echo "* foreign packages asked for, which brought others with them" \
		"($(wc -l <"$at/foreign")): $(tr '\n' ' ' <"$at/foreign")"
	echo
	if [ -e "$at/package.log" ]; then
		echo "| step | seconds | |"
		echo "|---|---|---|"
		sed -nE 's/^(ok|not ok) ([0-9]+) (.*)/| \3 | \2 | \1 |/p' "$at/package.log"
		echo
		return
	fi
	echo "| command | seconds | exit code | last line |"
	echo "|---|---|---|---|"
	while IFS=$'\t' read -r target rc s last; do
		echo "| \`make $target\` | $s | $rc | $last |"
	done <"$at/lines"
	for word in skipped failed; do
		part_of_log $word "$at/check.log" >"$at/part"
		printf '\n%s:%s\n' "${word^}" "$([ -s "$at/part" ] || echo ' nothing')"
		[ -s "$at/part" ] && printf '\n```\n%s\n```\n' "$(sed 's/^  //; s/ # SKIP /: /' "$at/part")"
	done
	[ -e "$at/demo.log" ] && printf '\nThe table at the end of the demonstration:\n\n```\n%s\n```\n' \
		"$(sed -n '/^module  *samples/,$p' "$at/demo.log")"
	echo
}

main() {		# SYSTEM...: read whole before it runs
	local bad=0 system
	[ -z "$(git status --porcelain --untracked-files=no)" ] || echo "fresh: what is not committed is left out" >&2
	for system in "$@"; do
		root=$FRESH_WORK/$system/root at=$FRESH_WORK/$system
		rm -rf "$at"/*.log "$at/lines" "$at/foreign" "$at/section"
		mkdir -p "$at"
		echo "== $system: from $(sed 's|//[^/]*@|//|' <<<"$MIRROR")"
		make_system "${system%+*}" >"$at/make.log" 2>&1 || { tail -n 20 "$at/make.log"; die "$system could not be made"; }
		case $system in *+foreign) install_foreign || die "the foreign packages could not be installed" ;; esac
		packages_of >"$at/before"
		case $system in
		*+package) try_package ;;
		*+foreign) make_target check ;;
		*) make_target demo; make_target check ;;
		esac
		packages_of >"$at/after"
		section >"$at/section"
		[ "${KEEP:-}" = 1 ] || rm -rf --one-file-system "$root"
		grep -qvP '^[a-z]+\t0\t' "$at/lines" && bad=1
	done

	result fresh "A machine that has nothing but \`make\`"
	echo "A system of \`debootstrap --variant=minbase\` with \`make\`, entered with namespaces, /proc and /sys of its own,"
	echo "without tracefs mounted; root, without sudo, in a fresh clone.  Seconds include downloads of packages and"
	echo "compiling, on a machine that may have had other work."
	echo
	for system in $order; do
		[ -e "$FRESH_WORK/$system/section" ] && cat "$FRESH_WORK/$system/section"
	done
	result_end
	exit $bad
}
main "$@"
