# inside.sh WORKLOAD MAP FOLDER - in a mount namespace of its own: covers the files, runs the workload,
# whose temporary files are in its folder, too
set -u
while IFS=$'\t' read -r cover file; do
	mount --bind "$cover" "$file" || exit 125
done <"$2"
cd "$3" || exit 125
export TMPDIR=$3
. "$TORTURE_HERE/common.bash"
[ ! -e "${1%/*}/common.bash" ] || . "${1%/*}/common.bash"
. "$1"
if declare -F units >/dev/null; then
	run | units
else
	run
fi
