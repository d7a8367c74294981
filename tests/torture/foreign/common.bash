# common.bash - sourced by the workloads of foreign programs

# ELF programs and libraries that packages have.
elves_of() {		# PACKAGE...
	local f
	dpkg -L "$@" | while read -r f; do
		[ -f "$f" ] && [ ! -L "$f" ] && readelf -h "$f" 2>/dev/null | grep -qE 'Type: +(DYN|EXEC)' && realpath "$f"
	done
}

# A program that another compiler made, in a folder that stays; what it says goes beside it.
built() {		# NAME COMMAND...
	local at=$SOURCES/foreign/$1
	[ -e "$at/.built" ] && return
	mkdir -p "$at" && (cd "$at" && shift && "$@" && touch .built) >"$at.log" 2>&1 && return
	echo "it is not built: $(grep -m 1 . "$at.log")" >"$W/unbuilt"
	return 1
}

# How a command ends, where what it says is different every time.
ending() {		# COMMAND...
	"$@" >"$HOME/.ending" 2>&1 </dev/null
	echo "$1: $?"
}

# Each line that is said is a unit by its place.
units() {
	awk '{ print "unit " NR " " $0 }'
}
