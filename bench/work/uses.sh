# uses.sh - sourced by the workloads that have several uses, with their arguments: SIZE SEED [USE...]
#
# prepare_uses LINES SIZE SEED [USE...]: a log of LINES lines, and what to run with.
prepare_uses() {
	lines=$1 n=$2 seed=$3
	shift 3
	awk -v n="$lines" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers objects}" >size
}
