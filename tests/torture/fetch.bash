# fetch.bash - sourced by work.sh: packages and source packages that workloads need
#
# What is missing is installed (root, with a network), once; after that nothing is fetched any more.
# Both functions print why it is not there, and fail, when it cannot be had.

apt_quiet() {
	DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=900 "$@" >"$STATE/apt.log" 2>&1
}

missing_packages() {	# PACKAGE...
	local p want=
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || want="$want $p"
	done
	[ -z "$want" ] && return 0
	if [ "$(id -u)" = 0 ]; then
		echo "installing packages:$want" >&2
		apt_quiet install $want || { apt_quiet update && apt_quiet install $want; } && return 0
	fi
	echo "packages are missing:$want"
	return 1
}

# $SOURCES/NAME is the unpacked source of the package NAME.
missing_sources() {	# SOURCE...
	local s lists=$SOURCES/apt
	for s in "$@"; do
		[ -d "$SOURCES/$s" ] && continue
		echo "fetching the source of $s" >&2
		if [ ! -d "$lists" ]; then
			mkdir -p "$lists/parts" "$lists/state/lists/partial"
			sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources \
				>"$lists/parts/debian.sources" 2>/dev/null
			sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$lists/parts/debian.list" 2>/dev/null
			fetch_apt "$lists" update
		fi
		rm -rf "$SOURCES/new" && mkdir -p "$SOURCES/new" &&
			(cd "$SOURCES/new" && fetch_any "$lists" "$s") &&
			mv "$(find "$SOURCES/new" -mindepth 1 -maxdepth 1 -type d | head -n 1)" "$SOURCES/$s" ||
			{ echo "the source of $s cannot be fetched"; return 1; }
		rm -rf "$SOURCES/new"
	done
}

# The newest version that the archive still has: updates are withdrawn when there is a newer one.
fetch_any() {		# LISTS SOURCE
	local v
	for v in $(apt-cache -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$1/parts" \
			-o Dir::State::lists="$1/state/lists" showsrc "$2" 2>/dev/null |
			sed -n 's/^Version: //p' | sort -rV); do
		fetch_apt "$1" source "$2=$v" && return
	done
	return 1
}

fetch_apt() {		# LISTS COMMAND...
	local lists=$1
	shift
	apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$lists/parts" \
		-o Dir::State::lists="$lists/state/lists" "$@" >"$STATE/apt.log" 2>&1
}
