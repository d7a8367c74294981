#!/bin/bash
# report.sh CHOSEN LINES WORK-LINES - prints the report; exit code 1 if something in it is a defect
. tests/torture/common.bash
n=$(wc -l <"$1")

# Workloads with a result, and the orders it is of; those without.
ran=$(awk -F '\t' '{ sub(/^work=/, "", $1); sub(/^order=/, "", $3)
	orders[$1] = orders[$1] (orders[$1] ? ", " : "") $3; if (!($1 in at)) { at[$1] = ++n; name[n] = $1 } }
	END { for (i = 1; i <= n; i++) printf "%s%s (%s)", (i > 1 ? ", " : ""), name[i], orders[name[i]] }' "$3")
left=
for script in tests/torture/work/*.sh; do
	name=$(basename "$script" .sh)
	grep -q "^work=$name	" "$3" || left="$left${left:+, }$name"
done
echo "# The torture run"
echo
echo "* date: $(date -u +%Y-%m-%d)"
echo "* machine: $(sed -n 's/^model name[ \t]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
	"Linux $(uname -r), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
echo "* command: \`make torture\`, version ${TORTURE_VERSION:-$(git describe --always --dirty 2>/dev/null)}, Editor $EDITOR"
echo "* files: ${TORTURE_FILES:-all} of ${TORTURE_DIRS:-/usr/bin /usr/sbin /usr/lib /usr/libexec};" \
	"orders: layout ${ORDERS} (N: shuffled by that seed, pN: by a profile that chance made)${TORTURE_SAMPLE:+; only SHA-256 $TORTURE_SAMPLE...}"
echo "* workloads with a result: ${ran:-none}${left:+; not in this run: $left}"
echo "* limits of one command: ${TORTURE_CPU} s of CPU time, ${TORTURE_MEM} MiB of address space"
echo
awk -v chosen="$n" -f tests/torture/report.awk "$2" "$3"
