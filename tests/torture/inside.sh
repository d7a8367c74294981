# inside.sh WORKLOAD MAP FOLDER - in a mount namespace of its own: covers the files, runs the workload
set -u
while IFS=$'\t' read -r cover file; do
	mount --bind "$cover" "$file" || exit 125
done <"$2"
cd "$3" || exit 125
. "$TORTURE_HERE/common.bash"
. "$1"
run
