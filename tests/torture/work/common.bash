# common.bash - sourced by the workloads

# The real path of a program.
program() {		# NAME...
	local p
	for p in "$@"; do
		p=$(command -v "$p") && realpath "$p"
	done
}

# The libraries that programs load at their start, but not the loader itself.
libraries_of() {	# FILE...
	local f
	for f in "$@"; do
		ldd "$f" 2>/dev/null
	done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | xargs -r realpath | sort -u
}

# Programs and all their libraries.
with_libraries() {	# FILE...
	printf '%s\n' "$@"
	libraries_of "$@"
}

# Of files on standard input those that are ELF files, not scripts or tables.
elf_only() {
	local f
	while read -r f; do
		[ -f "$f" ] && [ -x "$f" ] && readelf -h "$f" >/dev/null 2>&1 && echo "$f"
	done
}

# Runs a part of a workload and tells how it ended in one line: its exit code and the digest of its
# output, from which times taken are left out, and addresses: without randomization the heap begins
# behind the file's last segment, which is not the same in a generation.
unit() {		# NAME COMMAND...
	local name=$1 rc sum
	shift
	timeout --kill-after=5 "${UNIT_S:-300}" "$@" >"$HOME/.unit" 2>&1 </dev/null
	rc=$?
	sum=$(sed -E -e 's/[0-9]+\.[0-9]+ ?(s|sec|seconds|ms|[a-z]+\/s)\b/TIME/g' \
		-e 's/\b(0x[0-9a-f]{6,16}|5{5}[0-9a-f]{7})\b/ADDRESS/g' \
		"$HOME/.unit" | sha256sum | cut -c 1-16)
	echo "unit $name $rc $sum"
}
